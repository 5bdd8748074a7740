# Two outputs in one file would end each other; devices may be named twice.
mkdir sub
resource-tracker -o a -s a true; echo "$?"
resource-tracker -o a -s sub/../a true; echo "$?"
resource-tracker -s a --processes "$PWD/a" true; echo "$?"
resource-tracker --export time:a -s a true; echo "$?"
ls
touch b && ln b c
resource-tracker --force -o b -s c true; echo "$?"
resource-tracker -q -o /dev/null -s /dev/null --processes /dev/null true; echo "$?"

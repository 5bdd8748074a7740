resource-tracker -i
echo "$?"
resource-tracker --output
echo "$?"
resource-tracker -q
echo "$?"
resource-tracker -q --
echo "$?"

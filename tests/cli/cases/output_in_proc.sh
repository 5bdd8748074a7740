resource-tracker -o /proc/x.csv true; echo "$?"
resource-tracker -o nowhere/x.csv true; echo "$?"

resource-tracker --timeout 5 attach 1
echo "$?"
resource-tracker system --no-children
echo "$?"
resource-tracker system now

for name in report recommend runs mark convert catalog; do
    resource-tracker $name
    echo "$?"
done

for name in report recommend info runs mark convert catalog; do
    resource-tracker $name
    echo "$?"
done

for name in report runs mark convert catalog; do
    resource-tracker $name
    echo "$?"
done

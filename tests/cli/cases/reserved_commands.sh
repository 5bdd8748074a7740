for name in catalog; do
    resource-tracker $name
    echo "$?"
done

for name in report recommend catalog; do
    resource-tracker $name
    echo "$?"
done

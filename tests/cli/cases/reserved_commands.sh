for name in report catalog; do
    resource-tracker $name
    echo "$?"
done

for operands in '' x 0 -1 12x 99999999999 '1 2' '1 -q' '-- -5'; do
    resource-tracker attach $operands
    echo "$?"
done

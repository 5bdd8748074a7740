for option in '-i 0' '-i 3601' '-i fast' '--interval=' '-f xml' '-f json' '--schema v4' '--rows none' \
    '--memory uss' '--memory-budget 2' '--timeout -1' '--timeout 5x' '--quiet=maybe' '--output='; do
    resource-tracker $option true
    echo "$?"
done

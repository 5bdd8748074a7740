for option in --intervall --sumary=x --nonsense -x -qx -interval --rot; do
    resource-tracker $option true
    echo "$?"
done

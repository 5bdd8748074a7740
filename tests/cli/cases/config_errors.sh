mkdir -p ../home/.config/resource-tracker
file=../home/.config/resource-tracker/config.toml
for text in 'interval = 0' 'intervall = 1' '[reports]' 'quiet = "yes"' 'output = "x' 'date = 1979-05-27'; do
    printf '# one\n\n%s\n' "$text" >$file
    resource-tracker true
    echo "$?"
done

export XDG_STATE_HOME=$PWD/state
for words in "" "no-such-run" "--paste pbs" "--level brave" "--slowdown 2"; do
    resource-tracker recommend $words
    echo "$?"
done
echo "not a snapshot" > text
resource-tracker recommend text
echo "$?"

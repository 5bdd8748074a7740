# A run that goes on, then one whose tracker was killed: both are shown with their rows, and reading them needs no space.
export XDG_STATE_HOME=$PWD/state
runs=state/resource-tracker/runs
resource-tracker -q -i 0.01 sleep 60 &
while ! resource-tracker show --json 2>/dev/null "$(basename $runs/*.run .run)" | grep -q '"samples":[1-9][0-9]'; do
    sleep 0.05
done
id=$(basename $runs/*.run .run)
resource-tracker runs | tail -n 1 | cut -c 87-
resource-tracker show "$id" | grep -E '^(outcome|command)'
resource-tracker recommend "$id" > /dev/null; echo "exit $?"
resource-tracker export "$id" --format time | head -1; echo "exit $?"
resource-tracker runs remove "$id"; echo "exit $?"
resource-tracker runs prune --keep 0; echo "exit $?"
child=$(cat /proc/$!/task/$!/children)
kill -9 $! $child
wait $! 2>/dev/null
before=$(ls -la --time-style=full-iso $runs)
full_disk() { (ulimit -f 0; trap '' XFSZ; "$@") | cat; }
full_disk resource-tracker runs | tail -n 1 | cut -c 87-
full_disk resource-tracker show "$id" | grep outcome
[ "$before" = "$(ls -la --time-style=full-iso $runs)" ] && echo "no reader has changed it"
full_disk resource-tracker runs remove "$id"
resource-tracker runs

# A run without a record: while it goes on that is said, and one that was killed where nothing can be written is not
# said to go on.
export XDG_STATE_HOME=$PWD/state
wait_for_rows() {
    while ! [ -s "$(ls state/resource-tracker/runs/*.rows 2>/dev/null)" ]; do sleep 0.01; done
}
resource-tracker -q -i 0.01 sleep 60 &
wait_for_rows
id=$(basename state/resource-tracker/runs/*.rows .rows)
resource-tracker runs | tail -n 1 | cut -c 87-
resource-tracker recommend "$id"; echo "exit $?"
resource-tracker runs export time "$id"; echo "exit $?"
resource-tracker runs rm "$id"; echo "exit $?"
child=$(cat /proc/$!/task/$!/children)
kill -9 $! $child
wait $! 2>/dev/null
full_disk() { (ulimit -f 0; trap '' XFSZ; "$@") | cat; }
full_disk resource-tracker runs | tail -n 1 | cut -c 87-
full_disk resource-tracker runs show "$id"
full_disk resource-tracker runs rm "$id"
resource-tracker runs

# A run that goes on has a page of its rows so far.
resource-tracker -q --no-save --report probe.html true 2>&1 | grep -q 'this build has no report page' &&
    { echo "built without the report's page"; exit 77; }
export XDG_STATE_HOME=$PWD/state
resource-tracker -q -i 0.01 sleep 60 &
while ! [ -s "$(ls state/resource-tracker/runs/*.run 2>/dev/null)" ]; do sleep 0.01; done
resource-tracker report -o page.html "$(basename state/resource-tracker/runs/*.run .run)"
echo "exit $?"
ls page.html 2>/dev/null
kill $!
wait

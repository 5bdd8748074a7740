# What a word names: the baseline before a folder of its name, last, keys of runs that failed, folders with other things in them.
mkdir sides && cd sides || exit 1
export XDG_STATE_HOME="$PWD/state"
baseline() {
    printf '{"baseline_version":1,"runs":[{"run":"a","cpu_seconds":%s},null]}\n' "$1"
}
mkdir main .resource-tracker
baseline 1 >.resource-tracker/main.json
baseline 2 >main/other.json
resource-tracker baseline show main
resource-tracker compare main ./main
resource-tracker baseline show other
echo "exit $?"
resource-tracker -q --key failing sh -c 'exit 3'
resource-tracker compare main failing
echo "exit $?"
resource-tracker compare main last >table
echo "exit $?"
grep -c 'CPU time .*one run on each side' table
resource-tracker baseline save wrong last 2>note
echo "exit $?"
sed 's/run [^ ]* /run ID /' note
ln -s nowhere main/dangling.json
mkfifo main/pipe.json
timeout 20 resource-tracker compare main ./main >table
echo "exit $?"
echo '{"name": "package"}' >main/package.json
resource-tracker compare main ./main
echo "exit $?"
for name in '' 'empty/'; do
    resource-tracker baseline save "$name" main/other.json
    echo "exit $?"
done
resource-tracker baseline save none ,
echo "exit $?"
ls .resource-tracker

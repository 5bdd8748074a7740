# A run that is too short to size: a wrong filter is told nonetheless, and a right one changes nothing.
export XDG_STATE_HOME=$PWD/state XDG_DATA_HOME=$PWD/data
resource-tracker -q true
for filter in colour=blue countries vendor_id=ibm vendor_id=aws; do
    resource-tracker recommend --filter "$filter" | sed -n 1p | cut -d' ' -f1-3
done
resource-tracker recommend --filter colour=blue
echo "exit $?"
# With --online only Keeper can say, and it is not asked for a run that has no size.
TRACKER_KEEPER_URL=http://127.0.0.1:9 resource-tracker recommend --online --filter colour=blue >/dev/null
echo "exit $?"
resource-tracker recommend --online --filter colour
echo "exit $?"

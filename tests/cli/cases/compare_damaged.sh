# Baselines that are wrong are refused: a figure that is silently missing would let a gate pass.
show_baseline() {
    printf '%s\n' "$1" >wrong.json
    resource-tracker baseline show wrong.json
    echo "exit $?"
}
for figure in '"cpu_seconds":1e999' '"cpu_seconds":null' '"cpu_seconds":"1"' '"cpu_seconds":-1' '"cpu_second":1' '"cpu_seconds":1e300' \
    '"cpu_seconds":[]' '"cpu_seconds":[1,2,3]' '"cpu_seconds":[2,1,3,4]'; do
    show_baseline "{\"baseline_version\":1,\"runs\":[{\"run\":\"a\",$figure},null]}"
done
show_baseline '{"baseline_version":0,"runs":[{"run":"a","cpu_seconds":1},null]}'
show_baseline '{"baseline_version":1,"runs":[{"run":"a","cpu_seconds":1},null]} more'
show_baseline '{"baseline_version":1,"runs":[null]}'

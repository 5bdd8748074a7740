# Two baselines as they are committed: table, Markdown, gates, and what is wrong with others.
cat >old.json <<END
{
"baseline_version": 1,
"runs": [
{"run":"a1","wall_seconds":10.0,"cpu_seconds":5.00,"peak_memory":1000000000,"read_bytes":0,"cost":0.5,"phases":{"load":{"wall_seconds":2}}},
{"run":"a2","wall_seconds":10.1,"cpu_seconds":5.01,"peak_memory":1010000000,"read_bytes":0,"cost":0.5,"phases":{"load":{"wall_seconds":2.1}}},
{"run":"a3","wall_seconds":9.9,"cpu_seconds":5.02,"peak_memory":990000000,"read_bytes":0,"cost":0.5},
{"run":"a4","wall_seconds":10.2,"cpu_seconds":5.03,"peak_memory":1005000000,"read_bytes":0,"cost":0.5},
{"run":"a5","wall_seconds":40.0,"cpu_seconds":5.04,"peak_memory":995000000,"read_bytes":0,"cost":0.5},
null
]
}
END
cat >new.json <<END
{"runs": [
{"peak_memory":[2000000000,1900000000,2100000000],"run":"b1","wall_seconds":10.05,"cpu_seconds":5.10,"read_bytes":4096,"cost":0.5},
{"peak_memory":[2010000000,1900000000,2100000000],"run":"b2","wall_seconds":10.0,"cpu_seconds":5.11,"read_bytes":4096,"cost":0.5},
{"peak_memory":[1990000000,1900000000,null],"run":"b3","wall_seconds":9.95,"cpu_seconds":5.12,"read_bytes":4096,"cost":0.5},
{"peak_memory":[2020000000,1900000000,2100000000],"run":"b4","wall_seconds":10.1,"cpu_seconds":5.13,"read_bytes":4096,"cost":0.5}
], "baseline_version": 1, "later": {"releases": ["may add"]}}
END
resource-tracker compare old.json new.json
echo "exit $?"
resource-tracker compare old.json new.json --markdown --fail-if 'peak_memory > base + 20%' --fail-if 'wall_seconds > base + 5%' \
    --fail-if 'peak_memory > 2GB'
echo "exit $?"
resource-tracker compare old.json new.json --fail-if 'peak_memory > 2GB' --strict >table
echo "exit $?"
resource-tracker compare old.json new.json --fail-if 'wall_seconds in load > 1s'
echo "exit $?"
resource-tracker baseline show old.json
resource-tracker baseline save copy old.json new.json
resource-tracker baseline save again copy >saved
cmp .resource-tracker/copy.json .resource-tracker/again.json && grep -c '"run"' .resource-tracker/copy.json
resource-tracker compare old.json
echo "exit $?"
resource-tracker compare old.json new.json --fail-if 'peak_memory > 2'
echo "exit $?"
resource-tracker compare old.json missing
echo "exit $?"
echo '{"baseline_version": 2, "runs": []}' >later.json
resource-tracker compare old.json later.json
echo "exit $?"
echo '{"baseline_version": 1, "runs": [{"wall_seconds": 1}, null]}' >nameless.json
resource-tracker compare old.json nameless.json
echo "exit $?"
echo '{"baseline_version": 1, "runs": [null]}' >empty.json
resource-tracker compare old.json empty.json
echo "exit $?"
mkdir folder
resource-tracker compare old.json folder
echo "exit $?"
resource-tracker baseline keep
echo "exit $?"

# The longest name that a folder takes is fine; a longer one is refused before the job runs, not after it.
longest=$(printf '%0255d' 0)
for option in "--summary " "--processes " "--export time:"; do
    resource-tracker -q ${option}"$longest" echo "with ${option%% *}" && ls | wc -l && rm ./0*
    resource-tracker -q ${option}"x$longest" echo "never seen"
    echo "exit $?"
done
echo '{"metadata": {}, "process_metrics": [{"timestamp": 1, "pid": 1}], "system_metrics": []}' >in.json
resource-tracker convert in.json "${longest%?????}.json" && ls 0*.json | wc -c

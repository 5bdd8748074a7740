# Without rows there is nothing to convert: that is said, and nothing is written.
: >empty.csv
resource-tracker -q -i 0.05 -o rows.csv sleep 0.1
head -1 rows.csv >head.csv
for to in out.json out.csv out.jsonl out.sqlite; do
    resource-tracker convert empty.csv $to; echo "exit $?"
done
resource-tracker convert head.csv out.json.gz; echo "exit $?"
echo kept >out.csv
resource-tracker convert --force head.csv out.csv; echo "exit $?"
ls; cat out.csv

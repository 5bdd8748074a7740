# Each name holds what it promises, whatever the configuration says of recording; what goes in is seen from its content.
export XDG_STATE_HOME=$PWD/state
resource-tracker -q -i 0.05 sleep 0.3
mkdir -p home/.config/resource-tracker
cat > config.toml <<'TOML'
schema = "v3"
format = "jsonl"
TOML
resource-tracker export -o a.json && python3 -c 'import json; print(sorted(json.load(open("a.json"))) [:3])'
resource-tracker export -o a.json.gz && python3 -c 'import gzip, json; print(len(json.load(gzip.open("a.json.gz"))["metadata"]["command"]))'
resource-tracker export -o a.csv.gz && gzip -dc a.csv.gz | head -c 11; echo
resource-tracker --config config.toml convert a.json a.csv && head -c 11 a.csv; echo
python3 -c 'import json; json.dump(json.load(open("a.json")), open("sorted.json", "w"), sort_keys=True)'
for name in sorted.json a.json.gz a.csv.gz a.csv; do
    resource-tracker convert $name again.csv --force 2>/dev/null && cmp again.csv a.csv && echo "$name is the same"
done
resource-tracker export --schema full -o full.csv 2>/dev/null
python3 - <<'PYTHON'
import csv
rows = list(csv.DictReader(open("full.csv")))
for name in ("system_pressure_io_some_ratio", "system_pressure_memory_some_ratio", "process_memory_estimated_bytes"):
    known = [column for column in rows[0] if column.startswith(name.rsplit("_", 1)[0])]
    print(name.split("_")[1], bool(known) and any(row[known[0]] for row in rows))
PYTHON
for name in x.json x.parquet x.csv.gz; do
    resource-tracker -q -o $name sh -c 'echo started'; echo "exit $?"; ls $name 2>/dev/null
done
before=$(ls state/resource-tracker/runs)
resource-tracker -q --no-save --report page.html true 2>/dev/null
[ "$before" = "$(ls state/resource-tracker/runs)" ] && echo "nothing was saved"

# Everything comes over between formats of schema full, devices included; what does not is named.
resource-tracker -q --schema full -i 0.05 -o a.csv sleep 0.2
resource-tracker convert a.csv b.jsonl
resource-tracker convert b.jsonl c.sqlite
resource-tracker convert c.sqlite d.json.gz
resource-tracker convert d.json.gz e.csv
cmp a.csv e.csv && echo same
head -1 a.csv | grep -c cpu0_
resource-tracker -q -i 0.05 -o v2.csv sleep 0.2
resource-tracker convert v2.csv v3.csv --schema v3; echo "$?"
python3 - <<'PYTHON'
import csv
rows = {name: list(csv.DictReader(open(name))) for name in ("v2.csv", "v3.csv")}
for two, three in zip(rows["v2.csv"], rows["v3.csv"]):
    assert three["system_memory_used_mib"] == ""
    assert abs(float(two["system_memory_free"]) / 1024 - float(three["system_memory_free_mib"])) < 1e-3
PYTHON

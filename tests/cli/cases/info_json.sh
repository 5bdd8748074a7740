resource-tracker info --cloud=off --json > info.json
python3 - <<'PYTHON'
import json
info = json.load(open("info.json"))
assert info["server_info"]["vcpus"] >= 1 and info["cloud_info"]["vendor"] == "unknown"
assert all(available in (True, False) for available in info["sources"].values())
print(type(info["version"]).__name__, list(info["sources"])[:3])
PYTHON

export XDG_DATA_HOME=$PWD/data
resource-tracker catalog
resource-tracker catalog --json | python3 -c 'import json, sys
facts = json.load(sys.stdin)
print(facts["date"], facts["servers"], facts["path"], len(facts["sources"]), facts["packed_bytes"] < 300000)'
resource-tracker catalog fetch
echo "exit $?"
# A table that is damaged is not used, and that is said.
mkdir -p data/resource-tracker
echo nonsense > data/resource-tracker/catalog.gz
resource-tracker catalog | head -1
printf '\037\213damaged' > data/resource-tracker/catalog.gz
resource-tracker catalog --json | grep -c '"warning":"'
: > data/resource-tracker/catalog.gz
resource-tracker catalog | head -1
# None at all is nothing to warn of.
rm data/resource-tracker/catalog.gz
resource-tracker catalog --json | grep -c '"warning":null'

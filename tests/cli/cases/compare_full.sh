# What cannot be written is an error, and a page that could not be written replaces none.
cat >a.json <<JSON
{"baseline_version":1,"runs":[{"run":"a","cpu_seconds":1},null]}
JSON
resource-tracker compare a.json a.json >/dev/full
echo "exit $?"
resource-tracker compare a.json a.json --json >/dev/full
echo "exit $?"
resource-tracker compare a.json a.json --markdown >/dev/full
echo "exit $?"
resource-tracker baseline show a.json >/dev/full
echo "exit $?"
resource-tracker baseline show a.json --json >/dev/full
echo "exit $?"
resource-tracker run -q --repeat 2 --summary /dev/full --force true
echo "exit $?"
echo 'a good page' >page.html
(
    ulimit -f 1 # the page is larger
    trap '' XFSZ
    resource-tracker compare a.json a.json -o page.html --force
    echo "exit $?"
) 2>error
cat page.html

# The page of a run: to a file, to a pipe, with the run before or behind the options; and what is refused.
resource-tracker -q --no-save --report probe.html true 2>&1 | grep -q 'this build has no report page' &&
    { echo "built without the report's page"; exit 77; }
resource-tracker -q --report with.html sh -c 'exit 3'
echo "the job's status stays: $?"
head -c 15 with.html && echo
id=$(resource-tracker runs --json | sed -n '2s/.*"id":"\([^"]*\)".*/\1/p')
resource-tracker report -o first.html "$id" && resource-tracker report "$id" -o second.html
resource-tracker report >third.html
for file in first second third; do
    grep -c 'id="run-data">{' $file.html
done
echo old >first.html
resource-tracker report -o first.html
echo "$?, $(cat first.html)"
resource-tracker report --force -o first.html
echo "$?, $(head -c 15 first.html)"
resource-tracker -q --report first.html touch ran
echo "$?"
echo old >first.html
resource-tracker -q --force --report first.html true
echo "$?, $(head -c 15 first.html)"
resource-tracker report one two
echo "$?"
resource-tracker report nothing-of-the-kind
echo "$?"
resource-tracker report -o - --open
echo "$?"
resource-tracker -q --report no/such/folder.html touch ran
echo "$?"
ls ran 2>/dev/null
# --no-save keeps no record of it, and the page is made all the same.
before=$(resource-tracker runs | wc -l)
resource-tracker -q --no-save --report unsaved.html true
[ "$(resource-tracker runs | wc -l)" = "$before" ] && ls unsaved.html
# A browser that is none: where the page is stands in the message. Rows go where the variable says, a page does not.
BROWSER=true TMPDIR=$PWD resource-tracker report --open && ls resource-tracker-*.html | wc -l
BROWSER=false resource-tracker report --open -o opened.html
echo "$?"
TRACKER_OUTPUT=rows.csv resource-tracker report | head -c 15 && echo
ls rows.csv 2>/dev/null

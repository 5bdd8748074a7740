resource-tracker --export xml:out -- echo never
echo "$?"
resource-tracker --export time -- echo never
echo "$?"
resource-tracker --export time:no/such/folder -- echo never
echo "$?"
echo old > there
resource-tracker --export time:there -- echo never
echo "$?"
cat there
resource-tracker -q --no-save --force --export snakemake:there -- true
head -1 there
# Two forms of one run: the first is not left out in silence.
resource-tracker --export time:run.time --export hyperfine:run.json true
echo "exit $?"
ls run.time run.json 2>/dev/null

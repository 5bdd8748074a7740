# A symbolic link to what is not there: the link, its target and what to do are named, and the job does not run.
export XDG_STATE_HOME=$PWD/state
ln -s gone.csv link.csv
ln -s gone/rows.csv deep.csv
ln -s loop.csv loop.csv
ln -s gone.html page.html
for options in "-o link.csv" "-o deep.csv" "-o deep.csv --force" "-o loop.csv" "--summary page.html"; do
    echo "== $options"
    resource-tracker -q $options echo ran; echo "exit $?"
done
resource-tracker -q true
echo "== convert"
resource-tracker -q -i 0.05 -o rows.csv sleep 0.1
ln -s gone.json record.json
resource-tracker convert rows.csv record.json; echo "exit $?"
# With --force what the link names is made; a summary takes the link's place.
resource-tracker -q -o link.csv --force true && test -L link.csv && test -s gone.csv && echo made
resource-tracker -q --summary page.html --force true && test -f page.html && echo made

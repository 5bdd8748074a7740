# A file that exists stays as it is and the job does not run; with --force it is replaced.
export XDG_STATE_HOME=$PWD/state
for option in "-o out.csv" "-o out.jsonl" "-o out.sqlite" "-s out.json" "--processes out.csv" "--export time:out.time"; do
    file=${option##*[ :]}
    echo old >"$file"
    resource-tracker -q $option touch ran; echo "$option: exit $?, $(cat "$file")"
    ls ran 2>/dev/null
    resource-tracker -q --force $option true; echo "--force: exit $?"
    [ "$(head -c 3 "$file")" != old ] && [ -s "$file" ] || echo "$file is not replaced"
    rm "$file"
done
resource-tracker -q -i 0.05 -o rows.csv sleep 0.1
for file in out.csv out.jsonl out.sqlite out.json out.json.gz; do
    echo old >$file
    resource-tracker convert rows.csv $file; echo "convert $file: exit $?, $(cat $file)"
    resource-tracker convert --force rows.csv $file; echo "--force: exit $?"
    [ "$(head -c 3 $file | tr -d '\0')" != old ] || echo "$file is not replaced"
done
ls -A

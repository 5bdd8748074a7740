# Figures vary; which lines there are does not.
for format in snakemake time openmetrics hyperfine nextflow; do
    resource-tracker -q --no-save --export $format:out.$format -- true
    echo "exit $?"
    ls out.$format*
done
head -1 out.snakemake
grep -c wall_seconds out.openmetrics
tail -1 out.openmetrics
grep -E "Command|Exit" out.time
head -1 out.nextflow
python3 -c "import json; print(json.load(open('out.hyperfine'))['results'][0]['exit_codes'])"
(resource-tracker -q --no-save --export time:- -- sh -c "kill -9 \$\$"; true) 2>/dev/null | head -1

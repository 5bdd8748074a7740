# Whether the machine has GPUs or none: it has none of that name, and the job is not started.
resource-tracker -o rows.csv --gpus 77 sh -c 'echo it runs'
echo "exit $?"
resource-tracker -o rows.csv --gpus , sh -c 'echo it runs'
echo "exit $?"
test ! -e rows.csv

# A run in the forms of other tools; what it does not keep is a dash or left out.
cat > run.json <<'END'
{"metadata": {"version": 1, "interval": 1, "start_time": 1000.0, "stop_time": 1090.5, "wall_seconds": 90.5, "duration": 91.5,
  "command": ["sort", "-n", "a b"], "job_name": null, "exit_code": 3, "signal": null},
 "server_info": {"memory_mb": 1024.0}, "cloud_info": null,
 "totals": {"cpu_seconds": {"value": 45.25, "user": 40.0, "system": 5.25}, "peak_memory_bytes": {"value": 104857600},
  "read_bytes": {"value": 2097152}, "write_bytes": {"value": 1048576}, "processes": {"value": 2}},
 "process_metrics": [], "system_metrics": []}
END
for format in snakemake nextflow time hyperfine; do
    resource-tracker export run.json --format $format
    echo "exit $?"
done
resource-tracker export --format time - < run.json | tail -1
resource-tracker -q sh -c 'exit 4'
resource-tracker export --format time | tail -1
resource-tracker export --format xml; echo "exit $?"
resource-tracker export nosuch --format time; echo "exit $?"
resource-tracker export one two; echo "exit $?"
resource-tracker export --format time >/dev/full; echo "exit $?"
resource-tracker export --format time -o run.txt; echo "exit $?"
resource-tracker export --format time -o run.txt; echo "exit $?"
resource-tracker runs export time; echo "exit $?"

# A record in the forms of other tools; what it does not keep is a dash or left out.
cat > run.json <<'END'
{"metadata": {"version": 1, "interval": 1, "start_time": 1000.0, "stop_time": 1090.5, "wall_seconds": 90.5, "duration": 91.5,
  "command": ["sort", "-n", "a b"], "job_name": null, "exit_code": 3, "signal": null},
 "server_info": {"memory_mb": 1024.0}, "cloud_info": null,
 "totals": {"cpu_seconds": {"value": 45.25, "user": 40.0, "system": 5.25}, "peak_memory_bytes": {"value": 104857600},
  "read_bytes": {"value": 2097152}, "write_bytes": {"value": 1048576}, "processes": {"value": 2}},
 "process_metrics": [], "system_metrics": []}
END
for format in snakemake nextflow time hyperfine; do
    resource-tracker runs export $format run.json
    echo "exit $?"
done
resource-tracker -q sh -c 'exit 4'
resource-tracker runs export time | tail -1
resource-tracker runs export csv; echo "exit $?"
resource-tracker runs export; echo "exit $?"
resource-tracker runs export time nosuch; echo "exit $?"
resource-tracker runs export time >/dev/full; echo "exit $?"

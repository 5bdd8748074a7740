# A record as the Python package writes it: a minute, two cores for the first half, 1000 MiB.
python3 - <<'END'
import json
rows = [{"timestamp": 1000.0 + i, "pid": 1, "children": 0, "utime": 2.0 if i < 30 else 0.5, "stime": 0.0,
         "cpu_usage": 2.0 if i < 30 else 0.5, "memory": 1024000.0 if i > 5 else 500000.0, "read_bytes": 0,
         "write_bytes": 0, "gpu_usage": 0.0, "gpu_vram": 0.0, "gpu_utilized": 0} for i in range(60)]
json.dump({"metadata": {"version": 1, "interval": 1, "start_time": 1000.0, "stop_time": 1060.0, "duration": 61.0},
           "server_info": None, "cloud_info": None, "process_metrics": rows, "system_metrics": []}, open("run.json", "w"))
json.dump({"metadata": {"version": 1, "interval": 1, "duration": 5.0}, "process_metrics": rows[:5],
           "system_metrics": []}, open("short.json", "w"))
END
export XDG_STATE_HOME=$PWD/state
resource-tracker recommend run.json
echo "exit $?"
# What to rent is the business of recommend_servers.
resource-tracker recommend --json run.json | python3 -c 'import json, sys
answer = json.load(sys.stdin)
del answer["rent"]
answer["servers"] = len(answer["servers"])
print(json.dumps(answer))'
resource-tracker recommend --level safe --paste all run.json
echo "exit $?"
resource-tracker recommend --slowdown 0 --level lean --paste docker run.json run.json run.json
resource-tracker recommend short.json
echo "exit $?"
resource-tracker recommend --paste slurm short.json
echo "exit $?"

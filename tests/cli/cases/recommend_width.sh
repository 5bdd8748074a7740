# The table of servers is as wide as the terminal, 80 columns without one: whole columns go, no figure is cut.
python3 - <<'END'
import json
rows = [{"timestamp": 1000.0 + i, "pid": 1, "children": 0, "utime": 2.0, "stime": 0.0, "cpu_usage": 2.0,
         "memory": 1024000.0, "read_bytes": 0, "write_bytes": 0, "gpu_usage": 0.0, "gpu_vram": 0.0,
         "gpu_utilized": 0} for i in range(60)]
json.dump({"metadata": {"version": 1, "interval": 1, "start_time": 1000.0, "stop_time": 1060.0, "duration": 61.0},
           "server_info": None, "cloud_info": {"vendor": "aws", "instance_type": "m5.xlarge", "region": "us-east-1"},
           "process_metrics": rows, "system_metrics": []}, open("aws.json", "w"))
END
export XDG_STATE_HOME=$PWD/state XDG_DATA_HOME=$PWD/data
recommend="resource-tracker recommend --servers 2 --vendor gcp --region europe-west4 aws.json"
$recommend | sed -n '/^Cheapest servers/,/^$/p'
$recommend --spot | sed -n '/^Cheapest servers/,/^$/p'
resource-tracker recommend --servers 100 aws.json | awk 'length > 80 { print "too wide: " $0 }'
at() {
    python3 - "$@" <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios
outer, inner = pty.openpty()
fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
job = subprocess.Popen(sys.argv[2:], stdout=inner, stderr=subprocess.DEVNULL)
os.close(inner)
text = b""
try:
    while data := os.read(outer, 4096):
        text += data
except OSError:
    pass  # the other end is closed
job.wait()
lines = text.decode().replace("\r", "").split("\n")
start = next(i for i, line in enumerate(lines) if line.startswith("Cheapest servers"))
print("\n".join(lines[start + 1:start + 3]))
END
}
at 100 $recommend
at 70 $recommend

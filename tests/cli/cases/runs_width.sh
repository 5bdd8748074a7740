# The table of runs is as wide as the terminal: names get short, then whole columns go. Other programs get all of it.
export XDG_STATE_HOME=$PWD/state TZ=UTC
python3 - <<'END'
import gzip, json, os
folder = "state/resource-tracker/runs"
os.makedirs(folder)
def keep(run, start, seconds, code, command):
    metadata = {"version": 1, "start_time": start, "wall_seconds": seconds, "exit_code": code, "command": command}
    totals = {"cpu_seconds": {"value": seconds * 2}, "peak_memory_bytes": {"value": 3 << 30}}
    with gzip.open(f"{folder}/{run}.json.gz", "wt") as file:
        json.dump({"metadata": metadata, "totals": totals, "process_metrics": [], "system_metrics": []}, file)
keep("20200131-101500-1f2e3d4c", 1580465700, 93784, 0, ["./simulate", "--grid", "größer", "--steps", "100000"])
keep("20200301-235959-00c0ffee", 1583107199, 0.25, 137, ["true\u009b31m\u202e"])
END
cat >at.py <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios
outer, inner = pty.openpty()
fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
job = subprocess.Popen(["resource-tracker", "runs"], stdout=inner)
os.close(inner)
text = b""
try:
    while data := os.read(outer, 4096):
        text += data
except OSError:
    pass  # the other end is closed
job.wait()
lines = text.decode().replace("\r", "").splitlines()
print(*lines, sep="\n")
print("too wide" if max(map(len, lines)) > int(sys.argv[1]) else "fits", sys.argv[1])
END
export PYTHONIOENCODING=utf-8
resource-tracker runs
for columns in 160 100 80 60 40; do
    python3 at.py $columns
done
resource-tracker show 1f2e3d4c | head -2
resource-tracker show 20200301 | sed -n 2p
resource-tracker show 2e3d4c
resource-tracker runs remove 00c0ffee && resource-tracker runs | tail -n +2 | cut -c 1-24

# Phases of a job: one whose command can't be run is over at once, and names stand below each other in columns.
export XDG_STATE_HOME=$PWD/state
resource-tracker -q sh -c '
    resource-tracker mark größe -- sleep 0.05
    resource-tracker mark missing -- ./missing; echo "exit $?"
    resource-tracker mark fails -- sh -c "exit 5"; echo "exit $?"
    sleep 0.2'
resource-tracker show --json | tr '{' '\n' | sed -n 's/"name":"\([^"]*\)".*"ended":\([a-z]*\).*/\1 \2/p'
resource-tracker show | LC_ALL=C.UTF-8 python3 -c '
import re, sys
lines = sys.stdin.read().split("phases    ")[1].splitlines()
print({re.search("[0-9]", line[10 if line.startswith(" ") else 0:]).start() for line in lines})'

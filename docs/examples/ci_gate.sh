#!/bin/sh
# Measures a command and fails where it uses more than its baseline allows: ci_gate.sh NAME COMMAND [ARGUMENT...]
#
# The baseline is .resource-tracker/NAME.json, which belongs into the repository. Where it does not exist, or with
# UPDATE=1, it is made from this run of the script. Other variables:
#   RUNS     how often the command is run (5)
#   GATES    what fails, one gate on each line (peak_memory > base + 20%)
#   SUMMARY  a file that the table is appended to as Markdown (GITHUB_STEP_SUMMARY, else none)
set -eu

name=$1
shift
gates=${GATES:-peak_memory > base + 20%}
summary=${SUMMARY:-${GITHUB_STEP_SUMMARY:-/dev/null}}

# A store of its own: the runs of this script, and no other ones.
XDG_STATE_HOME=$(mktemp -d)
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
runs=$XDG_STATE_HOME/resource-tracker/runs

resource-tracker run --repeat "${RUNS:-5}" -- "$@"
if [ "${UPDATE:-0}" = 1 ] || [ ! -f ".resource-tracker/$name.json" ]; then
    resource-tracker baseline save "$name" "$runs"
    exit
fi

# The gates as words: each behind an option of its own.
set --
while IFS= read -r gate; do
    [ -z "$gate" ] || set -- "$@" --fail-if "$gate"
done <<END
$gates
END
resource-tracker compare "$name" "$runs" --markdown "$@" >>"$summary"

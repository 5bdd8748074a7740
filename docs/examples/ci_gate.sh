#!/bin/sh
# Measures a command and fails where it uses more than its baseline allows: ci_gate.sh NAME COMMAND [ARGUMENT...]
#
# The baseline is .resource-tracker/NAME.json, which belongs into the repository. Where it does not exist, or with
# UPDATE=1, it is made from this run of the script. Other variables:
#   RUNS     how often the command is run (5)
#   GATES    what fails, one gate on each line (peak_memory > base + 20%)
#   SUMMARY  a file that the table is appended to as Markdown (GITHUB_STEP_SUMMARY, else none)
set -eu

if [ $# -lt 2 ]; then
    echo "usage: ci_gate.sh NAME COMMAND [ARGUMENT...]" >&2
    exit 2
fi
baseline=.resource-tracker/$1.json
shift
summary=${SUMMARY:-${GITHUB_STEP_SUMMARY:-/dev/null}}

# A store of its own: the runs of this script, and no other ones.
XDG_STATE_HOME=$(mktemp -d)
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
runs=$XDG_STATE_HOME/resource-tracker/runs

# All gates against a run: $1 and $2 are the sides. 2: a gate cannot be read.
compare() {
    set -- compare "$1" "$2" --markdown
    while read -r gate; do
        [ -z "$gate" ] || set -- "$@" --fail-if "$gate"
    done <<END
${GATES:-peak_memory > base + 20%}
END
    resource-tracker "$@"
}

# A mistake in a gate stops before the job.
empty=$XDG_STATE_HOME/empty.json
echo '{"baseline_version": 1, "runs": [{"run": "empty"}, null]}' >"$empty"
status=0
message=$(compare "$empty" "$empty" 2>&1) || status=$?
if [ "$status" = 2 ]; then
    echo "$message" >&2
    exit 2
fi

resource-tracker run --repeat "${RUNS:-5}" -- "$@"
if [ "${UPDATE:-0}" = 1 ] || [ ! -f "$baseline" ]; then
    resource-tracker baseline save "$baseline" "$runs"
    exit
fi
compare "$baseline" "$runs" >>"$summary"

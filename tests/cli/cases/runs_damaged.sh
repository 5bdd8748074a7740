# Files of the store that cannot be read are listed, with why, and can be removed; nothing else takes them for runs.
export XDG_STATE_HOME=$PWD/state
resource-tracker -q --job-name good true
resource-tracker runs >/dev/null
runs=$PWD/state/resource-tracker/runs
resource-tracker export -o good.json.gz
good=$PWD/good.json.gz
: >"$runs/20260101-000001-aaaaaaaa.json.gz"
head -c 60 "$good" >"$runs/20260101-000002-bbbbbbbb.json.gz"
echo '{"metrics": []}' >"$runs/20260101-000003-cccccccc.json.gz"
echo 'not rows' >"$runs/20260101-000004-dddddddd.rows"
echo 'half a head' >"$runs/20260101-000005-eeeeeeee.rows"
head -c -4 "$good" >"$runs/20260101-000006-ffffffff.json.gz"
touch -d '2026-01-01 01:00' "$runs"/20260101-00000[1-46]*
resource-tracker runs | cut -c 1-24,26-46,87- | sort
resource-tracker runs --json | sed -n 's/.*"id":"\([^"]*\)".*"damage":/\1 /p' | sort
resource-tracker show 20260101-000001
resource-tracker show 20260101-000004
resource-tracker show | grep name
resource-tracker export 20260101-000002 --format time || echo "exit $?"
resource-tracker runs remove 20260101-000001 20260101-000004 && ls "$runs" | grep -c 20260101
resource-tracker runs prune --older-than 30d
resource-tracker runs | tail -n +2 | cut -c 87-

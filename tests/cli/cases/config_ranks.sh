# Typed words outrank variables, variables the file, the command's table what stands above it.
interval() {
    "$@" -q -s use.json --force true && sed 's/.*"interval_seconds": *\([0-9.]*\).*/\1/;q' use.json
}
mkdir -p config/resource-tracker
export XDG_CONFIG_HOME=$PWD/config
interval resource-tracker
echo 'interval = 2' >config/resource-tracker/config.toml
interval resource-tracker
printf '[run]\ninterval = 3\n[attach]\ninterval = 9\n' >>config/resource-tracker/config.toml
interval resource-tracker
export TRACKER_INTERVAL=4
interval resource-tracker
interval resource-tracker -i 5

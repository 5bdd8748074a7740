command -v bash >/dev/null || { echo "bash is not here"; exit 77; }
cat >complete.bash <<'END'
. "$BUILD/cli/resource-tracker"
try() {
    COMP_WORDS=(resource-tracker "$@") COMP_CWORD=$# COMPREPLY=()
    _resource_tracker
    printf '%s:' "$*"
    printf ' <%s>' "${COMPREPLY[@]}"
    echo
}
touch 'a file' other
PATH=${PATH%%:*} # the programs that are offered are those here
try --in
try -q --s
try --no
try -f ''
try --format = s
try --format =
try -o 'a '
try -i 1 --memory p
try attach --timeo
try system --ro
try att
try -i 1 syst
try -- --in
try job --in
try attach --memory-b
# What stands behind a command: actions, files; and options behind those.
try runs ''
try runs r
try runs remove ''
try export --format sn
try runs --match runs p
try runs prune --o
try catalog ''
try report o
try convert other --sch
try convert other --schema v
try recommend other --paste sl
try recommend other a
try mark load --in
END
bash complete.bash

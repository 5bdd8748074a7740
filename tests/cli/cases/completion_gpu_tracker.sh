# What bash offers: options, values that are known, the commands of sub-track.
command -v bash >/dev/null || { echo "bash is not here"; exit 77; }
cat >complete.bash <<'END'
. "$BUILD/cli/gpu-tracker"
try() {
    COMP_WORDS=(gpu-tracker "$@") COMP_CWORD=$# COMPREPLY=()
    _gpu_tracker 2>/dev/null
    echo "$*: ${COMPREPLY[*]}"
}
try --gr
try --ru = me
try --tu se
try sub-track c
try -f ""
END
bash complete.bash

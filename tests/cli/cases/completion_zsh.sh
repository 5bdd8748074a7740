command -v zsh >/dev/null || { echo "zsh is not installed"; exit 77; }
touch 'a file' other
zsh -f "$SOURCE/tests/cli/shells/complete.zsh" <<'END'
resource-tracker --in
resource-tracker -q --s
resource-tracker --no
resource-tracker -f 
resource-tracker --format s
resource-tracker --format=s
resource-tracker --export 
resource-tracker -o a
resource-tracker -i 1 --memory p
resource-tracker attach --timeo
resource-tracker system --ro
resource-tracker att
resource-tracker -i 1 syst
resource-tracker -i 1 attach --timeo
resource-tracker -q system --gp
resource-tracker -- --in
resource-tracker job --in
resource-tracker attach --memory-b
resource-tracker resource-t
resource-tracker -q resource-tracker runs p
resource-tracker runs 
resource-tracker runs s
resource-tracker runs rm 
resource-tracker runs export sn
resource-tracker runs --match runs p
resource-tracker runs prune --o
resource-tracker catalog 
resource-tracker report o
resource-tracker convert other --sch
resource-tracker convert other --schema v
resource-tracker recommend other --paste sl
resource-tracker recommend other a
resource-tracker mark load --in
gpu-tracker --gr
gpu-tracker --ru=me
gpu-tracker --tu se
gpu-tracker sub-track c
gpu-tracker -f 
END

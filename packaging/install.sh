#!/bin/sh
# Installs the static programs of a release: sh install.sh [--prefix FOLDER] [--version VERSION] [--from FOLDER|ADDRESS]
#
# The archive is compared with the release's SHA256SUMS before anything is unpacked. The default prefix is /usr/local for root
# and ~/.local for other users. --from names a folder or an address that has the archive and SHA256SUMS, in place of the
# project's releases.
set -eu

releases=https://github.com/resource-tracker/resource-tracker/releases
version=
from=
prefix=
fail() {
    echo "install.sh: $1" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --version | --from) [ $# -gt 1 ] || fail "$1 needs a value" ;;
    esac
    case $1 in
    --prefix) prefix=$2 ;;
    --version) version=$2 ;;
    --from) from=$2 ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option: $1; there are --prefix, --version and --from" ;;
    esac
    shift 2
done

[ "$(uname -s)" = Linux ] || fail "the programs run on Linux; this is $(uname -s). The Python package imports here: pip install resource-tracker-native"
case $(uname -m) in
x86_64 | amd64) cpu=x86_64 ;;
aarch64 | arm64) cpu=aarch64 ;;
*) fail "there are no programs for $(uname -m); build from source: make" ;;
esac
if [ -z "$prefix" ]; then
    if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi
if [ -z "$from" ]; then
    from=$releases/latest/download
    [ -z "$version" ] || from=$releases/download/v$version
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch() { # NAME
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl -fsSL --proto '=https,http' -o "$folder/$1" "$from/$1"
        elif command -v wget >/dev/null; then
            wget -q -O "$folder/$1" "$from/$1"
        else
            fail "curl or wget is needed to fetch $from/$1"
        fi
        ;;
    *) cp "$from/$1" "$folder/$1" ;;
    esac || fail "cannot fetch $from/$1"
}

fetch SHA256SUMS
name=$(sed -n "s/^[0-9a-f]\{64\}  \(resource-tracker-[0-9.]*-$cpu-linux-musl\.tar\.gz\)$/\1/p" "$folder/SHA256SUMS" | head -n 1)
[ -n "$name" ] || fail "$from/SHA256SUMS names no archive for $cpu"
fetch "$name"
grep "  $name\$" "$folder/SHA256SUMS" >"$folder/expected"
(cd "$folder" && sha256sum -c expected >/dev/null 2>&1) ||
    fail "$name does not have the checksum of SHA256SUMS: nothing was installed"

mkdir -p "$folder/unpacked" "$prefix" || fail "cannot write to $prefix; use --prefix, or become root"
tar -xzf "$folder/$name" -C "$folder/unpacked"
tree=$folder/unpacked/${name%.tar.gz}
"$tree/bin/resource-tracker" --version >/dev/null || fail "the program does not run on this machine"
cp -R "$tree/." "$prefix/" || fail "cannot write to $prefix; use --prefix, or become root"
echo "installed: $("$prefix/bin/resource-tracker" --version) in $prefix/bin"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add it to PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac

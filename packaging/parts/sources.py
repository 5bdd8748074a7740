"""Third-party sources and compilers, by package name and version. Nothing of them is part of the repository."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import common

ZIG = "0.17.0"  # ziglang of PyPI: a C compiler with musl and the symbols of every glibc


@dataclass(frozen=True)
class Source:
    """A C library, and the crate that has its sources."""

    name: str
    version: str
    licence: str  # SPDX
    crate: str
    crate_version: str
    crate_sha256: str
    folder: str  # of the library's sources inside the crate
    licence_file: str  # inside that folder; empty: in the public domain, without one


SQLITE = Source("SQLite", "3.54.1", "blessing", "libsqlite3-sys", "0.39.1",
                "14a5f01b87b92705d07b433c06f96cbc764637d81a0bffb5734ce17cf0f9a2b3", "sqlite3", "")
ZLIB = Source("zlib", "1.3.2", "Zlib", "libz-sys", "1.1.31",
              "ff20308ecabd635a2dc1dd5834a86c462cca20efba1d5d3ddab1f8aea3455cb2", "src/zlib", "LICENSE")
CURL = Source("curl", "8.22.0", "curl", "curl-sys", "0.4.91+curl-8.22.0",
              "cd39579123e45bf762716bb893d43886ed1cabe6289455be29a4f1d4e37afb06", "curl", "COPYING")
OPENSSL = Source("OpenSSL", "4.0.3", "Apache-2.0", "openssl-src", "400.0.2+4.0.3",
                 "d2093956673b8dbda85c87fa4fb78e70698ce6c5978a2837d1613f661d3bef76", "openssl", "LICENSE.txt")
SOURCES = (SQLITE, ZLIB, CURL, OPENSSL)
LINKED = (SQLITE, ZLIB)  # into each program and extension

MANIFEST = """[package]
name = "sources"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
{dependencies}
"""


def fetch():
    """{source: folder of its files}. cargo compares what it fetches with the registry's checksum, and this function compares
    that with ours."""
    folder = common.WORK / "sources"
    crates = folder / "crates"
    if not all((crates / f"{source.crate}-{source.crate_version}").is_dir() for source in SOURCES):
        common.fresh_folder(folder)
        lines = [f'{source.crate} = {{ version = "={source.crate_version.partition("+")[0]}", default-features = false }}'
                 for source in SOURCES]
        (folder / "Cargo.toml").write_text(MANIFEST.format(dependencies="\n".join(lines)), encoding="ascii")
        (folder / "lib.rs").touch()
        common.run(common.need("cargo", "cargo"), "vendor", "--versioned-dirs", "crates", cwd=folder)
    found = {}
    for source in SOURCES:
        crate = crates / f"{source.crate}-{source.crate_version}"
        checksum = json.loads((crate / ".cargo-checksum.json").read_text(encoding="utf-8"))["package"]
        if checksum != source.crate_sha256:
            raise common.Failure(f"the crate {source.crate} {source.crate_version} has the checksum {checksum}, "
                                 f"expected {source.crate_sha256}: do not use it")
        found[source] = crate / source.folder
    return found


def zig():
    """The words that run zig."""
    python = common.WORK / "zig" / "bin" / "python"
    stamp = common.WORK / "zig" / ZIG
    if not stamp.exists():
        shutil.rmtree(common.WORK / "zig", ignore_errors=True)
        common.run("python3", "-m", "venv", common.WORK / "zig")
        common.run(python, "-m", "pip", "install", "-q", f"ziglang=={ZIG}")
        stamp.touch()
    found = list((common.WORK / "zig" / "lib").glob("python3*/site-packages/ziglang/zig"))
    if len(found) != 1:
        raise common.Failure(f"ziglang {ZIG} has no program zig in {common.WORK / 'zig'}")
    return Path(found[0])

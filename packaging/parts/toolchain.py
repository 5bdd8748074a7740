"""Compiling for a target: the C libraries that are linked in, and Meson's cross file."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import common, sources


@dataclass(frozen=True)
class Target:
    """What a program is compiled for."""

    name: str
    cpu: str
    zig: str  # the triple, with the oldest glibc
    wheel: str  # the platform tag of its wheel


TARGETS = {target.name: target for target in (
    Target("x86_64-linux-musl", "x86_64", "x86_64-linux-musl", "musllinux_1_2_x86_64"),
    Target("aarch64-linux-musl", "aarch64", "aarch64-linux-musl", "musllinux_1_2_aarch64"),
    Target("x86_64-linux-glibc", "x86_64", "x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64"),
    Target("aarch64-linux-glibc", "aarch64", "aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64"),
)}

SQLITE_FLAGS = ["-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_DQS=0", "-DSQLITE_DEFAULT_MEMSTATUS=0", "-DSQLITE_THREADSAFE=1"]
PKG_CONFIG = """prefix={prefix}
libdir=${{prefix}}/lib
Name: {name}
Description: {name}
Version: {version}
Libs: -L${{libdir}} -l{library} {libs}
Cflags: -I${{prefix}}/include {flags}
"""
CROSS_FILE = """[binaries]
c = [{compiler}]
ar = ['{zig}', 'ar']
ranlib = ['{zig}', 'ranlib']
strip = 'true'
pkg-config = 'pkg-config'
[built-in options]
c_args = [{flags}]
c_link_args = ['-s']
[properties]
pkg_config_libdir = '{prefix}/lib/pkgconfig'
needs_exe_wrapper = {needs_wrapper}
[host_machine]
system = 'linux'
cpu_family = '{cpu}'
cpu = '{cpu}'
endian = 'little'
"""


def compiler(target):
    return [str(sources.zig()), "cc", "-target", target.zig]


def flags():
    """No path of this machine, and no checks that zig adds by itself."""
    return ["-fno-sanitize=undefined", f"-ffile-prefix-map={common.ROOT}=.", "-g0"]


def zig_environment():
    """zig's caches are below the work folder, so that a build leaves nothing elsewhere."""
    return {"ZIG_GLOBAL_CACHE_DIR": str(common.WORK / "zig-cache"), "ZIG_LOCAL_CACHE_DIR": str(common.WORK / "zig-cache")}


def compile_archive(target, folder, library, files, extra):
    """lib/lib{library}.a below `folder`."""
    objects = common.fresh_folder(folder / f"{library}.objects")
    jobs = []
    for file in files:
        jobs.append([*compiler(target), "-O2", "-fPIC", *flags(), *extra, "-c", str(file), "-o", str(objects / f"{file.stem}.o")])
    common.run_all(jobs, env=zig_environment())
    archive = folder / "lib" / f"lib{library}.a"
    archive.unlink(missing_ok=True)
    common.run(sources.zig(), "ar", "rcsD", archive, *sorted(objects.glob("*.o")), env=zig_environment())


def write_pkg_config(prefix, library, source, libs="", flags=""):
    folder = prefix / "lib" / "pkgconfig"
    folder.mkdir(parents=True, exist_ok=True)
    name = {"sqlite3": "sqlite3", "z": "zlib", "curl": "libcurl"}[library]
    (folder / f"{name}.pc").write_text(PKG_CONFIG.format(
        prefix=prefix, name=name, version=source.version, library=library, libs=libs, flags=flags), encoding="ascii")


def put_python_headers(folder):
    """Those of the limited API are the same for every 64-bit Linux. Debian's pyconfig.h includes another file for each
    architecture, and only that of this machine is installed."""
    where = "import sysconfig as s; print(s.get_path('include'), s.get_config_var('MULTIARCH'), sep='\\n')"
    include, multiarch = common.run(common.tools_python(), "-c", where).split()
    include = Path(include)
    config = include.parent / multiarch / include.name / "pyconfig.h"
    if not (include / "Python.h").exists():
        raise common.Failure(f"{include}/Python.h is missing: install python3-dev")
    shutil.copytree(include, folder, dirs_exist_ok=True)
    if config.exists():
        shutil.copy(config, folder / "pyconfig.h")


def libraries(target):
    """The prefix that has SQLite, zlib and Python's headers for a target."""
    prefix = common.WORK / "libraries" / target.name
    if (prefix / "complete").exists():
        return prefix
    common.fresh_folder(prefix)
    (prefix / "lib").mkdir()
    (prefix / "include").mkdir()
    found = sources.fetch()
    zlib, sqlite = found[sources.ZLIB], found[sources.SQLITE]
    compile_archive(target, prefix, "z", sorted(zlib.glob("*.c")), ["-DHAVE_UNISTD_H", "-DHAVE_STDARG_H", "-D_GNU_SOURCE"])
    compile_archive(target, prefix, "sqlite3", [sqlite / "sqlite3.c"], SQLITE_FLAGS)
    for header in (zlib / "zlib.h", zlib / "zconf.h", sqlite / "sqlite3.h"):
        (prefix / "include" / header.name).write_bytes(header.read_bytes())
    put_python_headers(prefix / "include")
    write_pkg_config(prefix, "z", sources.ZLIB)
    write_pkg_config(prefix, "sqlite3", sources.SQLITE)
    (prefix / "complete").touch()
    return prefix


def cross_file(target):
    """zig links programs for musl statically, and the extension module dynamically, without being asked."""
    prefix = libraries(target)
    path = common.WORK / "cross" / f"{target.name}.ini"
    path.parent.mkdir(exist_ok=True)
    path.write_text(CROSS_FILE.format(
        compiler=", ".join(f"'{word}'" for word in compiler(target)), zig=sources.zig(),
        flags=", ".join(f"'{word}'" for word in flags()), prefix=prefix, cpu=target.cpu,
        needs_wrapper=str(target.cpu != os.uname().machine).lower()), encoding="ascii")
    return path

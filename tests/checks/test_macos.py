"""Everything outside src/platform/linux compiles for macOS: what is Linux's own stands behind the headers of
src/platform. Clang comes from the package ziglang, which has Apple's headers of libc; `zig clang` is the compiler behind
`zig cc`, which keeps a cache, takes a file at a time and cannot check the syntax alone."""

import importlib.util
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tree import ROOT, paths, skip_or_fail

TARGETS = ("x86_64-apple-macos13", "aarch64-apple-macos13")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wvla",
            "-Wpointer-arith", "-Wwrite-strings", "-Wimplicit-fallthrough", "-Wundef", "-Werror",
            "-Wno-deprecated-declarations",  # vfork
            "-Wno-gnu")                      # statement expressions and the like, as in every build
# Plain C for any target, so the headers of this system do; each is linked into a folder that has nothing else.
PORTABLE_HEADERS = ("sqlite3.h", "zlib.h", "zconf.h")
# The helper program for HTTPS has the headers of libcurl.
OTHER_BUILDS = {"src/net/net_helper.c"}


def zig():
    """The compiler and the folder of its headers."""
    package = importlib.util.find_spec("ziglang")
    if not package or not package.origin:
        skip_or_fail("ziglang is not installed: tools/bootstrap checks")
    folder = Path(package.origin).parent
    return folder / "zig", folder / "lib"


def system_header(name):
    """Where cc finds it: some systems keep it in a folder for the machine."""
    done = subprocess.run(["cc", "-E", "-x", "c", "-"], input=f"#include <{name}>\n", capture_output=True, text=True,
                          check=False, timeout=60)
    for line in done.stdout.splitlines():
        if line.startswith("# ") and line.split('"')[1].endswith("/" + name):
            return line.split('"')[1]
    return skip_or_fail(f"{name} is not installed: tools/bootstrap build")


@pytest.fixture(name="headers")
def fixture_headers(tmp_path):
    folder = tmp_path / "headers"
    folder.mkdir()
    for name in PORTABLE_HEADERS:
        (folder / name).symlink_to(system_header(name))
    return folder


def faults(target, headers, sources):
    """What the compiler says of the files; empty: nothing."""
    program, library = zig()
    command = [program, "clang", "-target", target, "-fsyntax-only", "-nostdinc",
               "-isystem", library / "include", "-isystem", library / "libc/include/any-darwin-any",
               "-isystem", headers, "-Iinclude", "-Isrc", "-std=gnu17", "-D_GNU_SOURCE", '-DTRK_VERSION="0"',
               *WARNINGS, *sources]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=600)
    return "" if done.returncode == 0 else done.stdout


def portable_sources():
    return [path for path in paths("src/*.c", "cli/*.c")
            if not path.startswith("src/platform/linux/") and path not in OTHER_BUILDS]


@pytest.mark.parametrize("target", TARGETS)
def test_compiles_for_macos(target, headers):
    sources = portable_sources()
    assert len(sources) > 150
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda part: faults(target, headers, sources[part::workers]), range(workers))
    text = "".join(found)
    assert not text, text[-8000:]


@pytest.mark.parametrize("text", ["#include <sys/epoll.h>\n", "#include <time.h>\nint clock = CLOCK_BOOTTIME;\n"])
def test_linux_calls_are_found(text, headers, tmp_path):
    source = tmp_path / "a.c"
    source.write_text(text)
    assert faults(TARGETS[0], headers, [source])

"""The files of the source tree, and how a check runs a tool over them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / "build-python" / "tools" / "bin"
C_FOLDERS = ("include/", "src/", "cli/", "tests/", "bench/", "tools/", "bindings/python/")


def skip_or_fail(reason):
    if os.environ.get("TRK_MUST_WORK"):
        pytest.fail(reason)
    pytest.skip(reason)


def git(*words):
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        skip_or_fail("the tree is not a git checkout, or git is not installed")
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def paths(*patterns):
    """Tracked files and new ones that are not ignored."""
    listing = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
    return sorted(path for path in set(listing.stdout.split("\0")) if path and (ROOT / path).is_file())


def c_paths():
    return [path for path in paths("*.c", "*.h") if path.startswith(C_FOLDERS)]


def passes(*command, cwd=ROOT):
    """Runs a checker; what it prints is the failure."""
    if not Path(command[0]).exists():
        skip_or_fail(f"{command[0]} is not installed: tools/bootstrap checks")
    done = subprocess.run(list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=200)
    assert done.returncode == 0, done.stdout[-8000:]

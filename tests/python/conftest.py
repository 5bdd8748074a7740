"""The packages as they are installed in build-python/venv; tools/python_env makes it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = os.path.join(ROOT, "build-python")


def skip_or_fail(reason):
    if os.environ.get("TRK_MUST_WORK"):
        pytest.fail(reason)
    pytest.skip(reason)


def python_of(environment):
    path = os.path.join(BASE, environment, "bin", "python")
    if not os.path.exists(path):
        skip_or_fail(f"tools/python_env has not made {environment}")
    return path


def run_python(code, *arguments, python=sys.executable, timeout=60, check=True, **options):
    """Runs code in an interpreter of its own and returns what subprocess.run does."""
    done = subprocess.run([python, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, check=False, **options)
    if check and done.returncode:
        raise AssertionError(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


@pytest.fixture
def in_original():
    """Runs code under a package that this one stands in for: what it prints last is JSON."""

    def run(code, *arguments, package="resource-tracker-0.4.2", **options):
        done = run_python(code, *arguments, python=python_of("original-" + package), **options)
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(autouse=True)
def own_world(monkeypatch, tmp_path):
    """No run of a test is kept in the user's home, no cloud is asked, and what is left behind shows."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TRACKER_CLOUD", "off")
    monkeypatch.delenv("TRACKER_BIN", raising=False)


@pytest.fixture
def temporary(monkeypatch):
    """A folder for temporary files of its own; the test sees what is left there. Its name is short: sockets are there."""
    with tempfile.TemporaryDirectory(prefix="trk-", dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield pathlib.Path(folder)


def wait_until(condition, seconds=30):
    """Whether it became true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def lines_of(path):
    """How many lines a file has; 0 where there is none yet."""
    try:
        with open(path, "rb") as file:
            return file.read().count(b"\n")
    except FileNotFoundError:
        return 0


def nothing_left(folder, pid):
    return wait_until(lambda: not trackers_of(pid) and not os.listdir(folder))


def trackers_of(pid):
    """Tracker processes that belong to a process: its children, and those that outlived it."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if len(words) > 4 and words[1] in (b"__track", b"__gpu_track") and str(pid).encode() in words:
            found.append(int(entry))
    return found

"""Virtual environments with the Python releases that snapshots are exchanged with. tools/python_env makes them once."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest
from gpu_world import BUILD, ROOT
from native import Library

RELEASES = ("0.4.2", "0.5.0")


def environment_of(release, package="resource-tracker"):
    """The interpreter of a release's environment, which tests/python uses too; None where it can't be fetched."""
    base = Path(ROOT) / "build-python"
    base.mkdir(exist_ok=True)
    with open(base / "originals.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers of pytest may come at once
        made = subprocess.run(["tools/python_env", "originals"], cwd=ROOT, capture_output=True, check=False, timeout=400)
    return base / f"original-{package}-{release}" / "bin" / "python" if made.returncode == 0 else None


@pytest.fixture(scope="session", params=RELEASES)
def peer(request):
    python = environment_of(request.param)
    if python is None:
        message = f"resource-tracker=={request.param} can't be fetched"
        pytest.fail(message) if os.environ.get("TRK_MUST_WORK") else pytest.skip(message)

    def run(script, *arguments):
        """Runs a script of ours under the release; what it prints."""
        done = subprocess.run([python, "-c", script, *map(str, arguments)], capture_output=True, text=True,
                              timeout=60, cwd="/")
        assert done.returncode == 0, done.stderr
        return done.stdout
    run.release = request.param
    return run


@pytest.fixture(scope="session")
def library():
    """The C library with the few calls that these tests need."""
    build = Path(os.environ.get("TRK_BIN", Path(BUILD) / "resource-tracker")).parent
    return Library(build / "include" / "libresource-tracker.so.0", build / "resource-tracker")

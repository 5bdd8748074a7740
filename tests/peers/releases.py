"""Virtual environments with the Python releases that snapshots are exchanged with. They stay in the build folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_world import BUILD
from native import Library

RELEASES = ("0.4.2", "0.5.0")


def environment_of(release, package="resource-tracker"):
    """The interpreter of a release's environment, made on first use; None where it can't be fetched."""
    folder = Path(BUILD) / (f"peer-{release}" if package == "resource-tracker" else f"peer-{package}-{release}")
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        fetched = subprocess.run([folder / "bin" / "pip", "install", "-q", f"{package}=={release}"],
                                 capture_output=True, text=True)
        if fetched.returncode != 0:
            return None
        (folder / "complete").touch()
    return python


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

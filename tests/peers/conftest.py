"""Packages of others are installed by name below the build folder, once."""

import importlib
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from gpu_world import BUILD

PACKAGES = os.path.join(BUILD, "peers")


def skip_or_fail(reason):
    if os.environ.get("TRK_MUST_WORK"):
        pytest.fail(reason)
    pytest.skip(reason)


def pip_commands():
    """The system's Python may have no pip: then that of another one installs as well, the package is pure."""
    yield [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if shutil.which(name):
            yield [name]


def install(package):
    for pip in pip_commands():
        done = subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", PACKAGES, package],
                              capture_output=True, check=False, timeout=120)
        if done.returncode == 0:
            return True
    return False


@pytest.fixture(scope="session")
def nvidia_ml():
    """NVIDIA's own Python package over NVML."""
    if not os.path.exists(os.path.join(PACKAGES, "pynvml.py")) and not install("nvidia-ml-py"):
        skip_or_fail("nvidia-ml-py can't be installed")
    sys.path.insert(0, PACKAGES)
    return importlib.import_module("pynvml")


@pytest.fixture(autouse=True)
def own_store(monkeypatch, tmp_path):
    """No run of a test is kept in the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

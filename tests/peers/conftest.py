"""Packages of others are those of tools/requirements.txt and tools/python_env."""

import importlib
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))



def skip_or_fail(reason):
    if os.environ.get("TRK_MUST_WORK"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def nvidia_ml():
    """NVIDIA's own Python package over NVML, pinned in tools/requirements.txt."""
    try:
        return importlib.import_module("pynvml")
    except ImportError as missing:
        skip_or_fail(f"{missing}: tools/bootstrap checks")


@pytest.fixture(autouse=True)
def own_store(monkeypatch, tmp_path):
    """No run of a test is kept in the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

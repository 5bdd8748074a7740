"""Tests with servers and other systems. Each starts what it needs in a sandbox; nothing is left when they have ended."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "real"))

import helpers
import leftovers
import sandbox
import slurm as slurm_cluster


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left():
    """The first fixture of the session, so the last that ends."""
    before = leftovers.Before(sandbox.mark_of_session())
    yield before
    shutil.rmtree(helpers.shared_folder(), ignore_errors=True)
    left = before.left()
    assert not left, "the session left behind: " + "; ".join(left)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("TRACKER_", "XDG_", "SLURM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LC_ALL", "C")


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """The cluster, one for all tests of a session."""
    sandbox.need_sandbox()
    slurm_cluster.need_slurm()
    folder = tmp_path_factory.mktemp("slurm")
    programs = folder / "bin"
    programs.mkdir()
    for path in (helpers.binary(), sandbox.known_use()):
        shutil.copy(path, programs)
    cluster = slurm_cluster.Slurm(folder)
    yield cluster
    cluster.close()


@pytest.fixture
def user(slurm, request):
    """The ordinary user of the cluster, with an empty home that all nodes share."""
    name = "".join(letter if letter.isalnum() else "_" for letter in request.node.name)
    return slurm_cluster.User(slurm, name)

"""The truth suite: jobs that know what they used, against what the tracker says of them.

Every test runs in both halves where it can: as an ordinary user, and as root where the suite is started as root.
TRK_MUST_WORK=1 makes a source that should be there and is not a failure."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "real"))

import helpers


@pytest.fixture(autouse=True)
def own_world(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith(("TRACKER_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # no test writes into the user's home
    monkeypatch.setenv("LC_ALL", "C")


@pytest.fixture(autouse=True)
def no_process_left():
    """Ends what a failed test left running."""
    yield
    helpers.end_all()


@pytest.fixture(params=["user", "root"])
def half(request):
    if request.param == "root":
        helpers.need_root()
    return request.param


@pytest.fixture
def folder():
    """A folder that every user may write to, and where the job works."""
    path = helpers.new_open_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


def pytest_sessionfinish():
    shutil.rmtree(helpers.shared_folder(), ignore_errors=True)

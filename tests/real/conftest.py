"""Each test has an empty folder to work in and another as HOME, and must end its processes."""

import os
import shutil

import pytest

import helpers


@pytest.fixture(autouse=True)
def own_world(tmp_path, monkeypatch):
    """No configuration of the user reaches the tests, and no test the user's home."""
    for folder in ("home", "work"):
        (tmp_path / folder).mkdir()
    for name in list(os.environ):
        if name.startswith(("TRACKER_", "XDG_")) or name == "NO_COLOR":
            monkeypatch.delenv(name)
    if os.environ.get("TRK_TRACE_EXITS") == "1":  # the same tests with every job traced
        monkeypatch.setenv("TRACKER_TRACE_EXITS", "1")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture(autouse=True)
def no_process_left():
    """Ends what a failed test left running."""
    yield
    helpers.end_all()


@pytest.fixture
def open_folder():
    """A folder that every user may write to."""
    return helpers.new_open_folder()


@pytest.fixture
def started():
    """Starts trackers in the background."""
    return helpers.start


def pytest_sessionfinish():
    shutil.rmtree(helpers.shared_folder(), ignore_errors=True)

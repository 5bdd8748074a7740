"""Each test has an empty folder to work in and another as HOME, and must end its processes."""

import os
import shutil

import helpers
import pytest

# What a sanitized program does otherwise than a plain one, and tests would see: no core file, and exit code 1 for a report.
SANITIZER_OPTIONS = "log_path={}/report:disable_coredump=0:detect_leaks=1:print_stacktrace=1:halt_on_error=1"


def pytest_configure(config):
    config.addinivalue_line("markers", "cost: measures the program's own size or speed; not for sanitized programs")
    config.addinivalue_line("markers", "alone: looks at the whole machine; runs without another test beside it")


@pytest.fixture(autouse=True)
def no_sanitizer_report(monkeypatch):
    """A program that was built with sanitizers (TRK_BIN) fails the test that it made a report in."""
    if not helpers.is_sanitized():
        yield
        return
    folder = helpers.new_open_folder()
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        monkeypatch.setenv(name, SANITIZER_OPTIONS.format(folder))
    yield
    helpers.end_all()
    reports = [path.read_text(errors="replace") for path in sorted(folder.iterdir())]
    assert not reports, "\n".join(reports)


@pytest.fixture(autouse=True)
def own_world(tmp_path, monkeypatch):
    """No configuration of the user reaches the tests, and no test the user's home."""
    for folder in ("home", "work"):
        (tmp_path / folder).mkdir()
    for name in list(os.environ):
        if name.startswith(("TRACKER_", "XDG_")) or name == "NO_COLOR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("TRACKER_CLOUD", "off")  # a run that takes long enough would ask and keep the answer in HOME
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

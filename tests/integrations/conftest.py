"""What both integrations need: a world of the test's own, and how a missing tool is told."""

import os
import shutil

import pytest
import r_check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def skip_or_fail(reason):
    if os.environ.get("TRK_MUST_WORK"):
        pytest.fail(reason)
    pytest.skip(reason)


def need_program(name):
    if not shutil.which(name):
        skip_or_fail(f"{name} is not installed")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory):
    """No configuration of the user reaches the tests, and no test the user's home."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("TRACKER_", "XDG_", "METAFLOW_", "R_LIBS")):
                patch.delenv(name)
        if "CCACHE_DIR" not in os.environ:  # ccache's store is in the home folder
            patch.setenv("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))
        patch.setenv("HOME", str(home))
        yield home


def pytest_collection_finish(session):
    """A worker of pytest-xdist collects all tests and runs some of them: it begins with the first that needs it."""
    if hasattr(session.config, "workerinput") or not shutil.which("R"):
        return
    if any(item.path.name == "test_r.py" for item in session.items):
        r_check.begin()

"""A network of the tests' own: the whole run is moved into a network and a mount namespace with the addresses of
metadata services on its loopback device, so that the real program asks real sockets and no packet leaves."""

import ctypes
import os
import subprocess

import pytest

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
ADDRESSES = ("169.254.169.254", "169.254.42.42", "100.100.100.200")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def enter_namespaces():
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNET | CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def pytest_sessionstart(session):
    try:
        enter_namespaces()
        def run(*words):
            return subprocess.run(["ip", *words], check=True, capture_output=True)
        run("link", "set", "lo", "up")
        for address in ADDRESSES:
            run("addr", "add", f"{address}/32", "dev", "lo")
        session.config.no_network = None
    except (OSError, subprocess.CalledProcessError) as failure:
        session.config.no_network = f"no network namespace here: {failure}"


@pytest.fixture(autouse=True)
def own_network(request):
    reason = getattr(request.config, "no_network", "not asked for")
    if reason and os.environ.get("TRK_MUST_WORK"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def tracker():
    return os.environ.get("TRK_BIN", os.path.join(ROOT, "build", "resource-tracker"))


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("TRACKER_CLOUD", "TRACKER_ONLINE", "TRACKER_KEEPER_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path

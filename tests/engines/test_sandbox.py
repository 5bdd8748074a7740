"""The sandbox itself: what is inside is not outside, and nothing is left of it, also when a test is killed."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import helpers
import leftovers
import pytest
from sandbox import Sandbox, mark_of_session, need_sandbox

OWNER = """
import signal, sys
sys.path[:0] = sys.argv[2:]
import sandbox
box = sandbox.Sandbox(sys.argv[1], ["alone"])
box.start("sh", "-c", "setsid sleep 300 & exec sleep 300", log="daemon.log")
print(sandbox.mark_of_session(), flush=True)
signal.pause()
"""


@pytest.fixture
def box(tmp_path):
    need_sandbox()
    with Sandbox(tmp_path, ["first", "second"]) as sandbox:
        yield sandbox


def test_inside_is_not_outside(box, tmp_path):
    box.run("sh", "-c", "echo x > /etc/hosts && touch /run/new /tmp/new /var/log/new /var/lib/new /dev/shm/new /home/new")
    assert (tmp_path / "new").exists()
    for path in ("/run/new", "/tmp/new", "/var/log/new", "/var/lib/new", "/dev/shm/new", "/home/new"):
        assert not Path(path).exists(), path
    assert Path("/etc/hosts").read_text() != "x\n"
    assert box.run("hostname").stdout == "first\n" != os.uname().nodename
    assert box.run("cat", "/proc/1/comm").stdout == Path(f"/proc/{box.init}/comm").read_text()
    assert box.run("ls", "/sys/class/net").stdout == "lo\n"
    assert box.run("id", "-un", user=True).stdout == "tester\n"


def test_two_at_once(box, tmp_path_factory):
    with Sandbox(tmp_path_factory.mktemp("other"), ["other"]) as other:
        assert other.run("hostname").stdout == "other\n"
        assert box.run("hostname").stdout == "first\n"


def test_signals_have_their_defaults(box):
    """A job must not begin with signals ignored because the tests do."""
    ignored = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        status = box.run("cat", "/proc/self/status").stdout
    finally:
        for number, handler in ignored.items():
            signal.signal(number, handler)
    # 32 and 33 are libc's own, which make ignores and no program can restore.
    [mask] = re.findall(r"(?m)^SigIgn:\t(\w+)$", status)
    assert int(mask, 16) & ~(0b11 << 31) == 0, mask


def test_processes_belong_to_cgroups_of_the_sandbox(box):
    paths = [line.split(":", 2)[2] for line in box.run("cat", "/proc/self/cgroup").stdout.splitlines()]
    assert set(paths) == {"/"}, paths
    found = leftovers.marked_cgroups(mark_of_session())
    assert {f"cgroup: {group}" for group in box.cgroups} <= set(found), found


def two_sleep(left):
    return sum(line.endswith(" sleep") for line in left) == 2


def test_a_killed_test_leaves_nothing(tmp_path):
    need_sandbox()
    here = Path(__file__).resolve().parent
    owner = subprocess.Popen([sys.executable, "-c", OWNER, tmp_path, str(here), str(here.parent / "real")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        mark = owner.stdout.readline().strip()
        assert mark == f"tracker-engines-{owner.pid}"
        before = leftovers.Before(mark)
        left = helpers.wait_until(lambda: (found := before.left()) and two_sleep(found) and found, "two processes")
        assert any(line.startswith("cgroup: ") for line in left), left
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
    helpers.wait_until(lambda: not before.left(), "the end of all that it started")


# ---- the check of every session ------------------------------------------------------------------


def test_leftovers_are_found(tmp_path, monkeypatch):
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setattr(leftovers, "FOLDERS", (str(folder),))
    monkeypatch.setattr(leftovers, "PARENTS", (str(tmp_path),))
    before = leftovers.Before("tracker-engines-none")
    assert before.left() == []
    (folder / "slurm.conf").write_text("x")
    (tmp_path / "munge").write_text("x")
    process = subprocess.Popen(["sleep", "300"], env={**os.environ, "TRK_ENGINES": "tracker-engines-none"})
    try:
        left = helpers.wait_until(lambda: len(found := before.left()) >= 4 and found, "four things")
    finally:
        process.kill()
        process.wait()
    assert left == [f"process: {process.pid} sleep", f"file: {tmp_path}/munge", f"file: {folder}/",
                    f"file: {folder}/slurm.conf"]


def test_mounts_are_found_by_their_mark():
    line = "99 27 0:99 / /run rw - tmpfs tracker-engines-7 rw"
    assert leftovers.marked_mounts(f"{line}\n27 1 254:0 / / rw - ext4 /dev/vda rw", "tracker-engines-7") == [
        f"mount: {line}"]

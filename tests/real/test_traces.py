"""Nothing is left behind: no processes, no files, no changed settings."""

import os
import uuid
from pathlib import Path

import pytest
from helpers import (
    binary,
    kill_quietly,
    need_namespace,
    run,
    tracker,
    wait_until,
    workload,
)


def marked_processes(mark):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in Path(f"/proc/{entry}/environ").read_bytes():
                found.append(int(entry))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            pass
    return found


def files_under(folder):
    paths = (path for path in Path(folder).rglob("*") if not path.is_dir())
    return sorted(str(path.relative_to(folder)) for path in paths)


COMMANDS = {
    "success": ["true"],
    "failure": ["false"],
    "not found": ["/no/such"],
    "kill": ["sh", "-c", "kill -9 $$"],
    "quit": ["sh", "-c", "kill -QUIT $$"],
    "children": ["sh", "-c", "sleep 0.1 & sleep 0.05 & wait"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_no_processes_and_no_files(command, tmp_path):
    mark = str(uuid.uuid4())
    environment = {**os.environ, "MARK": mark, "TMPDIR": str(tmp_path / "tmp")}
    os.mkdir(tmp_path / "tmp")
    tracker("--no-save", "-i", "0.02", *command, env=environment)
    assert marked_processes(mark) == []
    assert files_under(tmp_path) == []


def test_a_saved_run_lies_in_the_state_folder_alone(tmp_path):
    tracker("true")
    for path in files_under(tmp_path):
        assert path.startswith("home/.local/state/resource-tracker/")


def test_no_save_leaves_no_run(tmp_path):
    tracker("--no-save", "-o", "rows.csv", "-s", "summary.json", "true")
    assert files_under(tmp_path) == ["work/rows.csv", "work/summary.json"]


def test_timeout_leaves_no_processes():
    mark = str(uuid.uuid4())
    job = "trap '' TERM; sleep 60 & wait; sleep 60"
    tracker("-q", "--timeout", "0.2", "--kill-after", "0.2", "sh", "-c", job,
            env={**os.environ, "MARK": mark})
    try:
        wait_until(lambda: not marked_processes(mark), "the end of all", 10)
    finally:
        for pid in marked_processes(mark):
            kill_quietly(pid)


def test_the_job_stays_in_its_cgroup(started, tmp_path):
    """From its first instruction to its last, as root too: limits are where a program looks for them."""
    own = Path("/proc/self/cgroup").read_text()
    script = "import sys, time; seen = set()\n" \
             "end = time.monotonic() + 0.7\n" \
             "while time.monotonic() < end: seen.add(open('/proc/self/cgroup').read())\n" \
             "open(sys.argv[1], 'w').write(''.join(seen))"
    seen = tmp_path / "seen"
    process = started("-q", "/usr/bin/python3", "-c", script, str(seen))
    assert process.wait(100) == 0
    assert seen.read_text() == own


def test_no_shared_memory_is_left():
    """In a folder of its own in that place: other programs use it too."""
    need_namespace("-m")
    script = 'mount -t tmpfs none /dev/shm && "$@" && ls -A /dev/shm'
    done = run(["unshare", "-m", "sh", "-c", script, "sh", binary(), "-q", workload("burn"), "0.05"],
               capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if not line.startswith(("cpu_", "wall_"))] == []

"""Nothing is left behind: no processes, no files, no changed settings."""

import os
import re
import subprocess
import uuid
from pathlib import Path

import pytest
from helpers import (
    binary,
    finish,
    kill_quietly,
    need,
    need_namespace,
    need_root,
    only_child,
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


def cgroups_of(pid):
    """Those that the tracker of this number has made."""
    return [path for path in Path("/sys/fs/cgroup").rglob("resource-tracker-*") if path.name.endswith(f"-{pid}")]


def need_cgroups():
    need_root()
    need(re.search(r"(?m)^ *cgroup +yes", tracker("info", "--no-cloud").stdout), "no cgroup can be made")


def test_no_cgroup_is_left(started):
    need_cgroups()
    process = started("-q", "sh", "-c", "read line", stdin=subprocess.PIPE)
    wait_until(lambda: cgroups_of(process.pid), "the cgroup")
    finish(process)
    assert process.returncode == 0
    assert cgroups_of(process.pid) == []


def test_no_shared_memory_is_left():
    """In a folder of its own in that place: other programs use it too."""
    need_namespace("-m")
    script = 'mount -t tmpfs none /dev/shm && "$@" && ls -A /dev/shm'
    done = run(["unshare", "-m", "sh", "-c", script, "sh", binary(), "-q", workload("burn"), "0.05"],
               capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if not line.startswith(("cpu_", "wall_"))] == []


def test_the_cgroup_of_a_tracker_in_another_pid_namespace_is_not_a_leftover(started):
    """Its PID means nothing there, and the cgroup is empty until the job is moved into it."""
    need_cgroups()
    need_namespace("-p", "-f", "--mount-proc")
    process = started("-q", "sleep", "60")
    group, = wait_until(lambda: cgroups_of(process.pid), "the cgroup")
    job = only_child(process.pid)

    def emptied():
        for pid in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(pid)
        return not (group / "cgroup.procs").read_text()
    wait_until(lambda: str(job) in (group / "cgroup.procs").read_text().split(), "the job in its cgroup")
    wait_until(emptied, "an empty cgroup")
    other = ["unshare", "-p", "-f", "--mount-proc", binary(), "-q", "-s", "-", "sleep", "1"]
    run(other, check=True, stdout=subprocess.DEVNULL)
    assert group.exists()

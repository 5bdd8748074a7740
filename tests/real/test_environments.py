"""Hard places: few rights, half a /proc, few descriptors, full disks, odd names, many threads."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from helpers import (
    CORES,
    Track,
    as_nobody,
    binary,
    finish,
    is_sanitized,
    need,
    need_command,
    need_namespace,
    need_root,
    parse_csv,
    popen,
    row_count,
    run,
    tracker,
    wait_until,
    without_leak_check,
    workload,
)


def in_mounts(script, *words):
    """A prefix that prepares a mount namespace of its own and goes on with the words behind it."""
    return ["unshare", *words, "sh", "-ec", f'{script}; exec "$@"', "sh"]


def cpu_matches(track, **tolerance):
    tolerance = tolerance or {"rel": 0.05, "abs": 0.02}
    truth = track.said["cpu_seconds"]
    assert track.summary["totals"]["cpu_seconds"]["value"] == pytest.approx(truth, **tolerance)


def rows_match(track):
    """Rows may miss what can't be placed in time, under load above all; they never have more."""
    truth = track.said["cpu_seconds"]
    assert 0.7 * truth - 0.02 <= track.row_cpu_seconds() <= 1.03 * truth + 0.02


# ---- rights ------------------------------------------------------------------------------------


def test_run_as_nobody(open_folder):
    need_command("setpriv")
    track = Track(open_folder, workload("crowd"), "5", "0.1", "0.5", prefix=as_nobody()).check()
    cpu_matches(track)
    rows_match(track)
    assert max(track.column("process_children")) == 5
    assert max(track.column("process_memory")) > 0


def attach_rows(started, pid, seen=3):
    """The first rows of `attach` as another user."""
    process = started("attach", "-i", "0.05", pid, prefix=as_nobody())
    lines = [process.stdout.readline() for _ in range(seen + 1)]
    process.terminate()
    finish(process)
    return parse_csv("".join(lines))


def test_attach_as_nobody_to_an_own_process(started):
    target = popen(as_nobody("sleep", "60"))
    try:
        words = Path(f"/proc/{target.pid}/cmdline")
        wait_until(lambda: words.read_bytes().startswith(b"sleep"), "the exec")
        rows = attach_rows(started, target.pid)
        assert all(row["pid"] == target.pid and row["memory"] > 0 for row in rows)
        assert rows[-1]["read_bytes"] == 0
    finally:
        target.kill()
        target.wait()


def test_what_may_not_be_read_is_empty_not_zero(started):
    """io and PSS of root's process are refused to others; its CPU is not."""
    need_root()
    rows = attach_rows(started, os.getpid())
    assert all(row["read_bytes"] is None and row["write_bytes"] is None for row in rows)
    assert all(row["utime"] is not None for row in rows)


@pytest.mark.parametrize("hide", ["hidepid=1", "hidepid=2", "subset=pid"])
def test_proc_that_hides(open_folder, hide):
    need_namespace("-m")
    mount = f"mount -t proc -o {hide} proc /proc"
    prefix = [*in_mounts(mount, "-m"), *as_nobody()]
    track = Track(open_folder, workload("crowd"), "3", "0.2", "0.4", prefix=prefix).check()
    cpu_matches(track)
    rows_match(track)
    assert max(track.column("process_children")) == 3
    if hide == "subset=pid":
        assert all(row["system_memory_free"] is None for row in track.rows)


# ---- namespaces --------------------------------------------------------------------------------


def test_pid_namespace_with_its_own_proc(open_folder):
    need_namespace("-p", "-f", "--mount-proc")
    prefix = ["unshare", "-p", "-f", "--mount-proc"]
    track = Track(open_folder, workload("crowd"), "3", "0.2", "0.4", prefix=prefix).check()
    cpu_matches(track)
    rows_match(track)
    assert max(track.column("process_children")) == 3
    assert max(track.column("process_pid")) < 100


def test_pid_namespace_with_the_proc_of_another(open_folder):
    """Our children's numbers mean other processes there, of which nothing may be reported."""
    need_namespace("-p", "-f")
    prefix = ["unshare", "-p", "-f"]
    track = Track(open_folder, workload("crowd"), "3", "0.2", "0.4", prefix=prefix).check()
    cpu_matches(track)
    truth = track.said["cpu_seconds"]
    rows = track.row_cpu_seconds()
    assert rows == 0 or rows == pytest.approx(truth, rel=0.1, abs=0.03)
    for row in track.rows:
        assert row["process_cpu_usage"] is None or row["process_cpu_usage"] <= CORES * 1.2
        assert row["process_children"] is None or row["process_children"] <= 3
        assert row["process_memory"] is None or 0 < row["process_memory"] < 64 * 1024
        assert row["system_memory_free"] > 0


def test_tracker_as_init_reaps_strangers(open_folder):
    """As pid 1 it inherits orphans of the whole namespace, and still ends with the job."""
    need_namespace("-p", "-f", "--mount-proc")
    job = "for i in 1 2 3 4 5; do (setsid sleep 0.05 &); done; sleep 0.3; exit 11"
    done = tracker("-q", "sh", "-c", job, prefix=["unshare", "-p", "-f", "--mount-proc"])
    assert done.returncode == 11


def own_pid_max():
    """Since Linux 6.14 a PID namespace has its own; before that it is the machine's."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(release[1]), int(release[2])) >= (6, 14)


@pytest.mark.parametrize("before_the_end", [3, 4, 5])
def test_pids_that_start_over(open_folder, before_the_end):
    """The root has one of the last numbers and its descendants have the first ones."""
    need_namespace("-p", "-f", "--mount-proc")
    limit = Path("/proc/sys/kernel/pid_max")
    narrow = f"echo 32768 > {limit}; " if own_pid_max() else ""
    script = f"{narrow}echo $(($(cat {limit}) - {before_the_end})) > /proc/sys/kernel/ns_last_pid"
    track = Track(open_folder, workload("daemon"), "0.3", options=["--wait"],
                  prefix=in_mounts(script, "-p", "-f", "--mount-proc")).check()
    cpu_matches(track)
    rows_match(track)


def masked(*paths):
    return "; ".join(f"mount --bind /dev/null {path}" for path in paths)


def test_masked_and_read_only_proc(open_folder):
    """As container runtimes leave it: masked files read as empty, which is absent."""
    need_namespace("-m")
    script = f"mount -t proc proc /proc; {masked('/proc/meminfo', '/proc/diskstats', '/proc/stat')}"
    script += "; mount -o remount,ro,bind /proc"
    track = Track(open_folder, workload("burn"), "0.3", prefix=in_mounts(script, "-m")).check()
    cpu_matches(track)
    for row in track.rows:
        for name in ("memory_free", "disk_read_bytes", "utime", "cpu_usage"):
            assert row[f"system_{name}"] is None, name
        assert row["system_net_recv_bytes"] is not None
    rows_match(track)


def test_no_proc_at_all(open_folder):
    """Nothing can be sampled; the job runs, and wait4 still knows its CPU."""
    if is_sanitized():
        pytest.skip("a sanitizer reads its options and its memory map from /proc")
    need_namespace("-m")
    prefix = in_mounts("mount -t tmpfs none /proc", "-m")
    done = tracker("-q", "-s", open_folder / "summary.json", workload("burn"), "0.2", prefix=prefix)
    assert done.returncode in (0, 125)
    if done.returncode == 0:
        summary = json.loads((open_folder / "summary.json").read_text())
        assert summary["totals"]["cpu_seconds"]["value"] == pytest.approx(0.2, rel=0.1)


def test_no_sys_at_all(open_folder):
    need_namespace("-m")
    prefix = in_mounts("mount -t tmpfs none /sys", "-m")
    track = Track(open_folder, workload("burn"), "0.2", prefix=prefix).check()
    cpu_matches(track)


# ---- limits ------------------------------------------------------------------------------------


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def test_64_descriptors_for_100_processes(tmp_path):
    track = Track(tmp_path, workload("crowd"), "100", "0.01", "3.0", rows="both",
                  preexec_fn=few_descriptors).check()
    assert max(track.column("process_children")) == 100
    assert max(track.column("process_memory")) > 0
    cpu_matches(track)
    rows_match(track)


def test_almost_no_descriptors(tmp_path):
    """Either it says that it can't, before the job, or it works."""
    def nearly_none():
        resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
    job = ["sh", "-c", "touch started; sleep 0.3; exit 4"]
    done = tracker("-q", "-i", "0.05", "-o", "rows.csv", *job, preexec_fn=nearly_none)
    if done.returncode == 125:
        assert not os.path.exists("started") and done.stderr
    else:
        assert done.returncode == 4


def test_no_process_may_be_made():
    need_command("setpriv")
    limit = f"ulimit -u 0; exec {shlex.quote(binary())} -q true"
    done = run(as_nobody("bash", "-c", limit), capture_output=True, text=True, env=without_leak_check())
    if done.returncode != 0:  # root's own processes have no such limit
        assert done.returncode == 125
        assert done.stderr.startswith("resource-tracker: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["a) b (c", ") R 1 1 1", "(", "))", "x\ny", "\xff\xfe"])
def test_odd_process_names(tmp_path, name):
    track = Track(tmp_path, workload("renamed"), name, "0.2", interval=0.05).check()
    cpu_matches(track)
    rows_match(track)
    assert max(track.column("process_children")) == 1


def test_5000_threads(tmp_path):
    track = Track(tmp_path, workload("threads"), "5000", "1.0", interval=0.2, schema="full")
    need(track.returncode != 77, "no 5000 threads within the limits")
    track.check()
    assert max(track.column("process_threads_count")) == 5001
    assert max(track.column("process_processes_count")) == 1
    cpu_matches(track, rel=0.3, abs=0.05)  # the workload can't see its own teardown


@pytest.mark.parametrize("interval", [1, 0.01])
def test_forks_as_fast_as_they_go(tmp_path, interval):
    track = Track(tmp_path, workload("storm"), "2", interval=interval, rows="both").check()
    assert track.said["forks"] > 100
    cpu_matches(track, rel=0.03, abs=0.02)
    assert 1.99 < track.summary["wall_seconds"] < 6
    limit = track.summary["wall_seconds"] * CORES
    assert track.row_cpu_seconds() <= limit
    assert track.row_cpu_seconds() <= track.said["cpu_seconds"] * 1.03 + 0.02


# ---- disks -------------------------------------------------------------------------------------


FILLING = ["-i", "0.005", "--rows", "both", "-f", "csv"]


def rows_until_full(text):
    """Rows of a file whose disk filled up: all that are complete, and no garbage between them."""
    complete = text[:text.rfind("\n") + 1]
    return parse_csv(complete)


def test_full_disk_keeps_the_job(open_folder):
    need_namespace("-m")
    prefix = in_mounts(f"mount -t tmpfs -o size=16k none {open_folder}", "-m")
    rows = f"{open_folder}/rows.csv"
    until_told = "while [ ! -s messages ]; do sleep 0.05; done"
    with open("messages", "w") as messages:
        done = tracker("-q", *FILLING, "-o", rows, "sh", "-c", f"{until_told}; cat {rows}; exit 7", prefix=prefix,
                       stdout=subprocess.PIPE, stderr=messages)
    said = Path("messages").read_text()
    assert done.returncode == 7
    assert said.count("\n") == 1, said
    assert "rows.csv" in said and "No space left" in said
    assert len(rows_until_full(done.stdout)) > 20


def test_file_size_limit_keeps_the_job():
    """SIGXFSZ would end us and leave the job alone; the job itself keeps the default action."""
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    done = tracker("-q", *FILLING, "-o", "rows.csv", "sh", "-c", "sleep 1; exit 7",
                   preexec_fn=small_files)
    assert done.returncode == 7
    assert re.fullmatch(r".*rows\.csv: File too large\n.*this run is not kept: .*: File too large.*\n", done.stderr)
    assert len(rows_until_full(Path("rows.csv").read_text())) > 10
    done = tracker("-q", "sh", "-c", "head -c 100000 /dev/zero > big", preexec_fn=small_files)
    assert done.returncode in (128 + signal.SIGXFSZ, -signal.SIGXFSZ)


def test_device_that_is_always_full():
    need(os.path.exists("/dev/full"), "no /dev/full")
    done = tracker("-q", "-i", "0.05", "-o", "/dev/full", "sh", "-c", "sleep 0.3; exit 7")
    assert done.returncode in (7, 125)
    assert done.stderr.count("\n") == 1, done.stderr
    with open("/dev/full", "w") as full:
        done = tracker("-q", "-s", "-", "sh", "-c", "exit 7", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 7
    assert done.stderr.count("\n") == 1


def test_no_inode_for_the_journal_of_sqlite(open_folder):
    """SQLite's second try, for reading, finds no file; the reason is that of the first."""
    need_namespace("-m")
    prefix = in_mounts(f"mount -t tmpfs -o nr_inodes=2 none {open_folder}", "-m")
    done = tracker("-q", "--no-save", "-o", f"{open_folder}/rows.sqlite", "true", prefix=prefix)
    assert done.returncode == 125
    assert "rows.sqlite: " in done.stderr and "No space left on device" in done.stderr


def test_full_disk_for_sqlite(open_folder):
    """What was written stays a sound database."""
    need_namespace("-m")
    prefix = in_mounts(f"mount -t tmpfs -o size=40k none {open_folder}", "-m")
    check = ("import sqlite3, sys;"
             "b = sqlite3.connect(f'file:{sys.argv[1]}?immutable=1', uri=True);"
             "print(b.execute('pragma integrity_check').fetchone()[0],"
             " b.execute('select count(*) from samples').fetchone()[0])")
    job = f"sleep 1.5; python3 -c {shlex.quote(check)} {open_folder}/rows.sqlite; exit 7"
    done = tracker("-q", "-i", "0.005", "-o", f"{open_folder}/rows.sqlite", "sh", "-c", job,
                   prefix=prefix)
    assert done.returncode == 7, done.stderr
    state, count = done.stdout.split()
    assert state == "ok" and int(count) > 5


# ---- places ------------------------------------------------------------------------------------


def test_rename_or_removal_of_the_output_does_not_matter(started):
    process = started("-q", "-i", "0.02", "-o", "rows.csv", "sh", "-c", "read line; exit 2",
                      stdin=subprocess.PIPE)
    wait_until(lambda: row_count("rows.csv") > 2, "rows")
    os.rename("rows.csv", "moved.csv")
    before = row_count("moved.csv")
    wait_until(lambda: row_count("moved.csv") > before + 2, "rows in the renamed file")
    finish(process)
    assert process.returncode == 2 and not os.path.exists("rows.csv")


def test_working_folder_that_is_gone():
    os.mkdir("gone")
    line = f"cd gone && rmdir ../gone && exec {binary()} -q sh -c 'exit 5'"
    assert run(["sh", "-c", line], capture_output=True).returncode == 5


def test_empty_environment():
    done = run([binary(), "-q", "/bin/sh", "-c", "exit 5"], env={}, capture_output=True)
    assert (done.returncode, done.stderr) == (5, b"")

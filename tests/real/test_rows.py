"""When rows are written: on the grid of the interval, once each, all on disk at once."""

import json
import os
import re
import signal
import statistics
import subprocess
import time
from pathlib import Path

import pytest
from helpers import (
    Track,
    binary,
    csv_header,
    finish,
    finish_input,
    is_running,
    kill_quietly,
    only_child,
    parse_csv,
    popen,
    read_csv,
    row_count,
    run,
    tracker,
    wait_until,
    without_leak_check,
    workload,
)


@pytest.mark.parametrize("command", [["sleep", "0.005"], ["true"]], ids=["5 ms", "true"])
@pytest.mark.parametrize("interval", [1, 3600])
def test_short_job_has_exactly_one_row(tmp_path, command, interval):
    track = Track(tmp_path, *command, interval=interval, rows="both").check()
    assert len(track.rows) == track.summary["samples"]
    assert 1 <= len(track.rows) <= 1 + track.summary["wall_seconds"] / interval


@pytest.mark.cost
def test_the_end_is_noticed_at_once(tmp_path):
    """Against the same job without us, not against a clock."""
    def seconds(command):
        begin = time.monotonic()
        run(command, check=True)
        return time.monotonic() - begin
    alone = min(seconds(["sleep", "0.2"]) for _ in range(3))
    with_us = min(seconds([binary(), "-q", "-i", "3600", "sleep", "0.2"]) for _ in range(5))
    assert with_us < alone + 0.2


def slots(track):
    """For each row how many intervals after the start it fell."""
    begin = track.summary["start_time"]
    return [(row["timestamp"] - begin) / track.interval for row in track.rows]


def test_rows_fall_on_the_grid_without_drift(tmp_path):
    track = Track(tmp_path, "sleep", "3.05", interval=0.1).check()
    *full, closing = slots(track)
    late = [slot - int(slot + 0.02) for slot in full]
    assert min(late) > -0.02
    assert statistics.median(late) < 0.25
    half = len(late) // 2
    assert statistics.median(late[half:]) - statistics.median(late[:half]) < 0.1
    assert len({int(slot + 0.02) for slot in full}) == len(full), "two rows for one tick"
    assert 30 < closing < 3600


def test_rows_cover_the_whole_run(tmp_path):
    """The closing row ends when the job did, and no tick has two rows."""
    track = Track(tmp_path, "sleep", "1.23", interval=0.25).check()
    times = track.column("timestamp")
    assert times == sorted(times)
    end = track.summary["start_time"] + track.summary["wall_seconds"]
    assert abs(times[-1] - end) < 0.1 * track.summary["wall_seconds"]
    assert len(track.rows) <= track.summary["wall_seconds"] / 0.25 + 1
    assert len(track.rows) == track.summary["samples"]


@pytest.mark.parametrize("interval", [0.001, 0.01, 0.37, 10])
def test_intervals(tmp_path, interval):
    track = Track(tmp_path, workload("burn"), "0.3", interval=interval, rows="both").check()
    expected = track.summary["wall_seconds"] / interval
    assert 1 <= len(track.rows) <= expected + 1
    assert track.summary["interval_seconds"] == interval
    assert abs(track.row_cpu_seconds() - track.summary["totals"]["cpu_seconds"]["sampled"]) < 0.001
    if interval >= 0.01:
        assert len(track.rows) > expected / 4
    elif interval == 0.001:
        assert len(track.rows) > 20


def test_rows_sum_up_to_the_totals(tmp_path):
    track = Track(tmp_path, workload("burn"), "1.0", "1.5", interval=0.1).check()
    cpu = track.summary["totals"]["cpu_seconds"]
    assert track.row_cpu_seconds() == pytest.approx(cpu["sampled"], abs=1e-3)
    assert track.row_cpu_seconds() == pytest.approx(cpu["value"], rel=0.02, abs=0.02)
    assert cpu["value"] == pytest.approx(cpu["user"] + cpu["system"], abs=1e-3)


def test_differences_are_never_negative(tmp_path):
    track = Track(tmp_path, workload("reaped"), "60", "10", interval=0.02, rows="both").check()
    for row in track.rows:
        for name, value in row.items():
            assert value is None or value >= 0, (name, value)


def test_killed_tracker_leaves_the_job_and_the_rows(started):
    process = started("-q", "-i", "0.02", "-o", "rows.csv", "sleep", "60")
    job = only_child(process.pid)
    try:
        wait_until(lambda: row_count("rows.csv") >= 10, "rows")
        process.kill()
        process.wait()
        assert len(read_csv("rows.csv")) >= 10
        assert is_running(job)
    finally:
        kill_quietly(job)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.sqlite"])
def test_killed_tracker_leaves_whole_rows_in_every_format(started, name):
    process = started("-q", "-i", "0.02", "-o", name, "sleep", "60")
    job = only_child(process.pid)
    try:
        wait_until(lambda: os.path.exists(name) and os.path.getsize(name) > 16384, "rows")
        process.kill()
        process.wait()
    finally:
        kill_quietly(job)
    if name.endswith(".jsonl"):
        text = Path(name).read_text()
        assert text.endswith("\n")
        assert len([json.loads(line) for line in text.splitlines()]) > 2
    else:
        import sqlite3
        with sqlite3.connect(name) as base:
            assert base.execute("pragma integrity_check").fetchone() == ("ok",)
            assert base.execute("select count(*) from samples").fetchone()[0] > 2


def test_stopped_tracker_skips_and_counts_what_it_missed(started):
    process = started("-i", "0.1", "-o", "rows.csv", "-s", "summary.json", "sh", "-c", "read line",
                      stdin=subprocess.PIPE)
    wait_until(lambda: row_count("rows.csv") >= 3, "rows")
    process.send_signal(signal.SIGSTOP)
    before = row_count("rows.csv")
    begin = time.monotonic()
    wait_until(lambda: time.monotonic() - begin > 1.05, "ten ticks to pass")
    assert row_count("rows.csv") <= before + 1
    process.send_signal(signal.SIGCONT)
    after = row_count("rows.csv")
    wait_until(lambda: row_count("rows.csv") >= after + 3, "rows again")
    finish(process)
    said = process.stderr.read()
    summary = json.loads(Path("summary.json").read_text())
    times = [row["timestamp"] for row in read_csv("rows.csv")]
    ticks = [int((at - summary["start_time"]) / 0.1 + 0.02) for at in times[:-1]]
    assert len(set(ticks)) == len(ticks), "rows were bunched"
    assert max(b - a for a, b in zip(times, times[1:])) > 0.9
    missed = re.search(r"(\d+)[^.\n]*missed|missed[^.\n\d]*(\d+)", said)
    assert missed, f"no word of missed ticks: {said}"
    assert int(missed[1] or missed[2]) >= 9


def test_tracker_that_is_late_for_its_first_row(started):
    """Held up from the start to beyond the first tick, it must find back to the grid."""
    process = started("-q", "-i", "0.3", "-o", "rows.csv", "sh", "-c", "read line",
                      stdin=subprocess.PIPE)
    only_child(process.pid)
    process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    wait_until(lambda: time.monotonic() - begin > 0.5, "the first tick to pass")
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: row_count("rows.csv") >= 3, "rows")
    finish(process)


def test_no_row_spans_are_lost_when_a_tick_is_missed(started):
    """What was used while the tracker slept is in the row after it."""
    process = started("-q", "-i", "0.1", "-o", "rows.csv", workload("burn"), "1.5")
    wait_until(lambda: row_count("rows.csv") >= 2, "rows")
    process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    wait_until(lambda: time.monotonic() - begin > 0.5, "some ticks to pass")
    process.send_signal(signal.SIGCONT)
    said = finish(process)
    truth = float(re.search(r"cpu_seconds ([\d.]+)", said)[1])
    rows = read_csv("rows.csv")
    used = sum(row["process_utime"] + row["process_stime"] for row in rows)
    assert used == pytest.approx(truth, rel=0.02, abs=0.02)


@pytest.mark.parametrize("command", [["attach", "-i", "0.05", str(os.getpid())],
                                     ["system", "-i", "0.05"]], ids=["attach", "system"])
def test_reader_that_leaves_ends_attach_and_system(started, command):
    process = started(*command)
    header = process.stdout.readline()
    assert header == csv_header("v2", "process" if command[0] == "attach" else "system") + "\n"
    assert len(process.stdout.readline().split(",")) == len(header.split(","))
    process.stdout.close()
    status = process.wait()
    assert status in (0, -signal.SIGPIPE)
    assert process.stderr.read() == ""


def test_head_ends_the_pipeline():
    done = run(["sh", "-c", f"{binary()} system -i 0.02 | head -2"], capture_output=True,
                          text=True)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


def test_reader_that_leaves_does_not_end_a_job():
    """Rows are gone, the job matters more."""
    line = f"({binary()} -q -i 0.02 -o - sh -c 'sleep 0.5; exit 9'; echo $? >&2) | head -1"
    done = run(["sh", "-c", line], capture_output=True, text=True)
    assert done.stdout.startswith('"timestamp"')
    assert done.stderr.splitlines()[-1] == "9"


def test_attach_ends_with_the_process_and_exit_0(started):
    target = popen(["sleep", "60"])
    process = started("attach", "-i", "0.05", target.pid)
    lines = [process.stdout.readline() for _ in range(3)]
    target.terminate()
    target.wait()
    text = "".join(lines) + finish(process)
    assert process.returncode == 0
    rows = parse_csv(text)
    assert {row["pid"] for row in rows} == {target.pid}


@pytest.mark.parametrize("first_call", range(1, 5))
def test_attach_to_a_process_that_ends_meanwhile(first_call):
    """At whichever step of the start it ends: every fourth step each."""
    for call in range(first_call, 1000, 4):
        target = popen(["sleep", "60"])
        attach = popen([workload("held_at"), call, binary(), "attach", "-q", "--no-save", "-i", "0.05", target.pid],
                       stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                       env=without_leak_check())
        assert attach.stderr.readline() == "held\n"
        target.kill()
        target.wait()
        finish_input(attach)
        assert attach.wait(30) in (0, 1), call
        attach.stderr.close()
        if call > 80:
            return


def test_attach_follows_the_tree_and_sees_new_children(started):
    target = popen(["sh", "-c", "read line; sleep 60 & wait"], stdin=subprocess.PIPE)
    process = started("attach", "-i", "0.02", "-o", "rows.csv", target.pid)
    try:
        wait_until(lambda: row_count("rows.csv") > 2, "rows")
        target.stdin.write(b"\n")
        target.stdin.flush()
        child = only_child(target.pid)
        seen = row_count("rows.csv")
        wait_until(lambda: row_count("rows.csv") > seen + 3, "rows with the child")
        kill_quietly(child)
        target.wait()
        finish(process)
    finally:
        kill_quietly(target.pid)
    children = [row["children"] for row in read_csv("rows.csv")]
    assert children[0] == 0 and max(children) == 1


def test_memory_of_the_job_is_seen(tmp_path):
    options = ["--memory", "pss"]
    track = Track(tmp_path, workload("thread_fork"), "0.4", "64", options=options).check()
    assert max(track.column("process_memory")) >= 64 * 1024
    assert max(track.column("process_memory")) < 90 * 1024


def test_system_rows_know_the_machine():
    done = tracker("-q", "--rows", "system", "-i", "0.2", "-o", "rows.csv", "sleep", "0.5")
    assert done.returncode == 0
    rows = read_csv("rows.csv")
    total = int(re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())[1])
    for row in rows:
        parts = ["free", "used", "buffers", "cached"]
        assert sum(row[f"memory_{part}"] for part in parts) == pytest.approx(total, rel=1e-6)
        assert 0 < row["processes"] < 100000
        assert row["cpu_usage"] <= os.cpu_count() * 1.15

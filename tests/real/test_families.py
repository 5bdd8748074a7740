"""Who belongs to the job, and that each second of CPU counts once, whoever comes and goes."""

import re
import signal
import sys
from pathlib import Path

import pytest
from helpers import (
    CLOCK_TICK,
    CORES,
    Track,
    binary,
    children_of,
    is_running,
    kill_quietly,
    numbers_of,
    row_count,
    tracker,
    wait_until,
    workload,
)


def spans(track):
    """The length of each row's interval."""
    times = [track.summary["start_time"], *track.column("timestamp")]
    return [after - before for before, after in zip(times, times[1:])]


@pytest.mark.parametrize("interval, most_ms", [(0.1, 60), (0.02, 20)])
def test_usage_never_exceeds_the_cores(tmp_path, interval, most_ms):
    """300 children reaped at random times; a clock tick a core and the stamps' ms may be more."""
    track = Track(tmp_path, workload("reaped"), "300", most_ms, interval=interval).check()
    for row, span in list(zip(track.rows, spans(track)))[:-1]:
        most = CORES * (span + CLOCK_TICK + 0.002)
        assert row["process_cpu_usage"] * span <= most, (row, span)
    total = track.summary["totals"]["cpu_seconds"]["value"]
    assert total == pytest.approx(track.said["cpu_seconds"], rel=0.02)
    assert track.row_cpu_seconds() <= total * 1.01 + CLOCK_TICK


def test_children_of_other_threads_are_seen(tmp_path):
    track = Track(tmp_path, workload("thread_fork"), "0.8", "64", interval=0.1).check()
    assert max(track.column("process_children")) == 1
    assert max(track.column("process_memory")) > 60 * 1024
    rows = track.row_cpu_seconds()
    assert rows == pytest.approx(track.said["cpu_seconds"], rel=0.05, abs=0.02)
    busy = max(track.column("process_cpu_usage"))
    assert busy <= CORES * 1.1


def test_two_levels_of_reaping_count_once(tmp_path):
    track = Track(tmp_path, workload("two_level"), "3", "4", "0.05", interval=0.05).check()
    cpu = track.summary["totals"]["cpu_seconds"]
    assert cpu["value"] == pytest.approx(track.said["cpu_seconds"], rel=0.02, abs=0.005)
    assert track.row_cpu_seconds() <= cpu["value"] + CLOCK_TICK
    assert track.row_cpu_seconds() >= 0.8 * cpu["value"]
    assert track.summary["totals"]["processes"]["value"] >= 10


def test_daemon_stays_in_the_job(tmp_path):
    track = Track(tmp_path, workload("daemon"), "1.0", "wait", interval=0.1).check()
    said = track.said["cpu_seconds"]
    assert track.row_cpu_seconds() == pytest.approx(said, rel=0.05, abs=0.02)
    cpu = track.summary["totals"]["cpu_seconds"]
    assert cpu["value"] == pytest.approx(said, rel=0.03, abs=0.01)
    assert max(track.column("process_children")) >= 1


def test_wait_follows_a_child_whose_parent_died(tmp_path):
    track = Track(tmp_path, workload("daemon"), "1.0", interval=0.1, options=["--wait"]).check()
    said = track.said["cpu_seconds"]
    assert track.row_cpu_seconds() == pytest.approx(said, rel=0.05, abs=0.02)
    cpu = track.summary["totals"]["cpu_seconds"]
    assert cpu["value"] == pytest.approx(said, rel=0.03, abs=0.01)
    assert track.summary["wall_seconds"] >= said * 0.99


def test_wait_keeps_the_status_of_the_root():
    jobs = {"(sleep 0.3 &) ; exit 7": 7, "sleep 0.3 & kill -KILL $$": -signal.SIGKILL}
    for job, status in jobs.items():
        assert tracker("-q", "--wait", "sh", "-c", job).returncode == status


def test_run_ends_with_the_root_and_names_who_is_left():
    with open("out", "w") as out, open("err", "w") as err:
        done = tracker("sh", "-c", "sleep 60 & echo left $!", stdout=out, stderr=err)
    orphan = int(Path("out").read_text().split()[1])
    try:
        assert done.returncode == 0
        assert is_running(orphan)
        said = Path("err").read_text()
        assert "sleep" in said and str(orphan) in said
    finally:
        kill_quietly(orphan)


def test_orphan_counts_up_to_the_end_of_the_root(tmp_path):
    """What it uses later is not the run's, and what it used before is not lost."""
    job = f"{workload('burn')} 60 > /dev/null & echo left $!; {workload('burn')} 0.5"
    with open("out", "w") as out, open("err", "w") as err:
        track = Track(tmp_path, "sh", "-c", job, interval=0.1, stdout=out, stderr=err).check()
    said = numbers_of(Path("out").read_text())
    try:
        cpu = track.summary["totals"]["cpu_seconds"]["value"]
        wall = track.summary["wall_seconds"]
        assert said["cpu_seconds"] * 1.02 < cpu <= CORES * wall * 1.02 + CLOCK_TICK
    finally:
        kill_quietly(int(said["left"]))


def test_wait_with_a_signal_ends_all(started):
    """TERM goes to the root; with the root gone, to those who are still followed."""
    process = started("-q", "--wait", "sh", "-c", "sleep 60 & echo left $!")
    orphan = int(process.stdout.readline().split()[1])
    wait_until(lambda: children_of(process.pid) == [orphan], "the end of the root")
    process.terminate()
    try:
        assert process.wait() == 0
        assert not is_running(orphan)
    finally:
        kill_quietly(orphan)


def test_own_cost_is_not_in_the_job(tmp_path):
    """At 1 ms the tracker works hard beside a job that does nothing."""
    track = Track(tmp_path, "sleep", "1", interval=0.001).check()
    assert track.row_cpu_seconds() < 0.02
    assert track.summary["totals"]["cpu_seconds"]["value"] < 0.02
    assert track.summary["overhead"]["cpu_seconds"] > 0


def test_a_tracker_inside_a_job_is_part_of_it(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    job = [binary(), "-q", "-o", inner / "rows.csv", workload("burn"), "0.3"]
    track = Track(tmp_path, *job).check()
    assert row_count(inner / "rows.csv") >= 1
    assert max(track.column("process_children")) >= 1
    assert track.row_cpu_seconds() >= 0.29


# Ends when its children are zombies, however long they take, and waits for none of them.
NEVER_REAPS = """
import os, time
def running():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        pids = file.read().split()
    return [p for p in pids if open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"]
while running():
    time.sleep(0.02)
print("cpu_seconds", sum(os.times()[:2]))
"""


def test_zombies_that_nobody_waits_for(tmp_path):
    """A parent that never reaps: its children's CPU counts once, as zombies and after."""
    parent = tmp_path / "parent.py"
    parent.write_text(NEVER_REAPS)
    code = f"for i in 1 2 3; do {workload('burn')} 0.2 & done; exec {sys.executable} {parent}"
    track = Track(tmp_path, "sh", "-c", code, interval=0.05).check()
    said = sum(float(value) for value in re.findall(r"cpu_seconds ([\d.]+)", track.done.stdout))
    assert said > 0.55
    total = track.summary["totals"]["cpu_seconds"]["value"]
    assert total == pytest.approx(said, rel=0.05, abs=0.01)
    assert track.row_cpu_seconds() == pytest.approx(said, rel=0.05, abs=0.02)

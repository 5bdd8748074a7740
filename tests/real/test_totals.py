"""The summary file: its structure, its sources, and its totals against the job's own truth."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from helpers import Track, as_nobody, need_command, need_namespace, row_count, tracker, workload

TOP = {"schema_version", "command", "exit_code", "signal", "start_time", "wall_seconds",
       "interval_seconds", "samples", "totals", "averages", "maxima", "overhead"}
TOTALS = {
    "cpu_seconds": {"value", "high", "user", "system", "source", "sampled", "coverage"},
    "peak_memory_bytes": {"value", "low", "high", "source", "sampled"},
    "read_bytes": {"value", "source"},
    "write_bytes": {"value", "source"},
    "processes": {"value", "source"},
    "oom_kills": {"value", "source"},
}
SOURCES = {"wait4", "events", "taskstats", "cgroup", "perf", "hwm", "ptrace", "sampled"}


def summary_of(*command):
    tracker("-q", "--force", "-s", "summary.json", "--", *command)
    return json.loads(Path("summary.json").read_text())


def test_structure():
    begin = time.time()
    summary = summary_of("sh", "-c", "exit 3", "a b", 'quote " and \\ and \t')
    assert set(summary) >= TOP
    assert summary["schema_version"] == 1
    assert summary["command"] == ["sh", "-c", "exit 3", "a b", 'quote " and \\ and \t']
    assert (summary["exit_code"], summary["signal"]) == (3, None)
    assert begin - 1 < summary["start_time"] < time.time() + 1
    assert set(summary["totals"]) == set(TOTALS)
    for name, keys in TOTALS.items():
        assert keys <= set(summary["totals"][name]), name
    assert {"cpu_seconds", "peak_rss_bytes"} <= set(summary["overhead"])


def test_sources_are_named():
    for name, total in summary_of(workload("burn"), "0.1")["totals"].items():
        if total["value"] is None:
            assert total["source"] is None, name
        else:
            assert set(total["source"].split("+")) <= SOURCES, name


@pytest.mark.parametrize("attempt", range(10))
def test_bytes_of_a_job_that_ends_at_once_are_whole(attempt):
    """A user can't look at a program while it is loaded, nor open a zombie's file: the wait tells its blocks."""
    done = tracker("-q", "--no-save", "-s", "-", "true", prefix=as_nobody())
    totals = json.loads(done.stdout)["totals"]
    assert (totals["read_bytes"]["source"], totals["write_bytes"]["source"]) == ("wait4", "wait4"), totals


def test_signal_death():
    summary = summary_of("sh", "-c", "kill -USR1 $$")
    assert (summary["exit_code"], summary["signal"]) == (None, 10)


def test_averages_and_maxima_have_the_names_of_schema_full():
    files = ["-o", "rows.csv", "-s", "summary.json"]
    tracker("-q", "-i", "0.1", "--schema", "full", *files, "sleep", "0.3")
    summary = json.loads(Path("summary.json").read_text())
    names = {name.strip('"') for name in Path("rows.csv").read_text().splitlines()[0].split(",")}
    assert summary["averages"] and set(summary["averages"]) <= names
    assert summary["maxima"] and set(summary["maxima"]) <= names


def test_command_that_is_not_utf8():
    tracker("-q", "-s", "summary.json", "true", os.fsdecode(b"\xff\xfe"))
    summary = json.loads(Path("summary.json").read_bytes().decode("utf-8", errors="strict"))
    assert len(summary["command"]) == 2


@pytest.mark.parametrize("command", [
    ["burn", "0.6"], ["reaped", "60", "20"], ["two_level", "2", "3", "0.08"],
    ["thread_fork", "0.5", "16"], ["crowd", "30", "0.02", "0.3"]], ids=lambda command: command[0])
@pytest.mark.parametrize("interval", [0.05, 30])
def test_cpu_against_the_job_s_own_clock(tmp_path, command, interval):
    """Also when no tick falls into the run at all."""
    track = Track(tmp_path, workload(command[0]), *command[1:], interval=interval).check()
    cpu = track.summary["totals"]["cpu_seconds"]
    assert cpu["value"] == pytest.approx(track.said["cpu_seconds"], rel=0.02, abs=0.003)
    assert "wait4" in cpu["source"].split("+")
    if cpu["coverage"] is not None:
        assert cpu["coverage"] == pytest.approx(cpu["sampled"] / cpu["value"], abs=0.001)
        assert cpu["coverage"] <= 1.02


def test_peak_memory_is_a_bracket(tmp_path):
    track = Track(tmp_path, workload("thread_fork"), "0.5", "100", interval=0.05).check()
    peak = track.summary["totals"]["peak_memory_bytes"]
    assert 100 << 20 <= peak["value"] < 130 << 20
    assert peak["low"] is None or peak["low"] <= peak["value"]
    assert peak["high"] is None or peak["high"] >= peak["value"]


def test_peak_between_two_ticks_is_not_lost(tmp_path):
    """100 MB for a moment in a run without a tick: a high-water mark remembers it."""
    code = ["python3", "-I", "-S", "-c", "x = bytearray(100 << 20); del x"]
    track = Track(tmp_path, *code, interval=30).check()
    peak = track.summary["totals"]["peak_memory_bytes"]
    assert (peak["high"] or peak["value"]) >= 100 << 20


CALLS_OF_A_SAMPLE = 30  # 24 were measured; each local mount takes one more
CALLS_OF_A_RUN = 420  # start and end, of the job too; 330 were measured
TRACKER_BYTES = 4 << 20  # 2.5 MB were measured


def traced_run(name, seconds):
    """System calls and rows. A PID namespace has none of the machine's other processes: how many of them fork meanwhile
    would change the number of calls."""
    prefix = ["unshare", "-p", "-f", "--mount-proc", "strace", "-f", "-qq", "-c", "-S", "calls", "-o", f"{name}.calls"]
    tracker("-q", "--no-save", "-i", "0.1", "-o", f"{name}.csv", "-s", f"{name}.json", "sleep", seconds, prefix=prefix,
            check=True)
    calls = sum(int(line.split()[3]) for line in Path(f"{name}.calls").read_text().splitlines()
                if re.match(r" *[\d.]+ +[\d.]+ +\d+ +\d+ .*(?<!total)$", line))
    return calls, row_count(f"{name}.csv"), json.loads(Path(f"{name}.json").read_text())["overhead"]


@pytest.mark.cost
def test_overhead_is_small():
    """Counted, since time depends on the machine and its load. The difference of two runs is that of their samples."""
    need_namespace("-p", "-f", "--mount-proc")
    need_command("strace")
    few, few_rows, _ = traced_run("few", 0.5)
    many, many_rows, overhead = traced_run("many", 3)
    assert many_rows > few_rows + 3
    mounts = len(Path("/proc/self/mountinfo").read_text().splitlines())
    assert (many - few) / (many_rows - few_rows) < CALLS_OF_A_SAMPLE + mounts
    assert few - few_rows * CALLS_OF_A_SAMPLE < CALLS_OF_A_RUN + mounts
    assert 0 < overhead["peak_rss_bytes"] < TRACKER_BYTES
    assert overhead["cpu_seconds"] > 0


def test_summary_replaces_only_with_force():
    Path("summary.json").write_text("precious")
    done = tracker("-s", "summary.json", "touch", "started")
    assert done.returncode == 125 and "--force" in done.stderr
    assert Path("summary.json").read_text() == "precious" and not os.path.exists("started")
    done = tracker("--force", "-s", "summary.json", "touch", "started")
    assert done.returncode == 0 and os.path.exists("started")
    assert json.loads(Path("summary.json").read_text())["exit_code"] == 0


def test_quick_succession_of_processes(tmp_path):
    """Many short processes that no tick sees; wait4 does."""
    job = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done; times"
    track = Track(tmp_path, "sh", "-c", job, interval=30).check()
    cpu = track.summary["totals"]["cpu_seconds"]
    minutes = [float(m) * 60 + float(s) for m, s in
               (part.rstrip("s").split("m") for part in track.done.stdout.split())]
    assert cpu["value"] == pytest.approx(sum(minutes), rel=0.05, abs=0.05)  # in ticks

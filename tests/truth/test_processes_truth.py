"""Who ran in the job: one line each, of the whole life."""

import csv
import json
import time

import helpers
import pytest
from known import MIB, Run, available, need_source, rights

COLUMNS = ["pid", "start_time", "ppid", "command", "exit_code", "cpu_seconds", "peak_rss_bytes", "read_bytes",
           "write_bytes", "source"]
TRACED = ["--trace-exits"]


def rows_of(path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert not rows or list(rows[0]) == COLUMNS
    return rows


def used(rows):
    return sum(float(row["cpu_seconds"] or 0) for row in rows)


def run_script(half, folder, script, *options):
    """Rows of a shell script's processes, and the summary."""
    path, summary = folder / "processes.csv", folder / "summary.json"
    helpers.run(rights(half, helpers.binary(), "-q", "--no-save", "--force", "--processes", str(path), "-s",
                          str(summary), *options, "sh", "-c", script),
                   check=True, cwd=folder)
    return rows_of(path), json.loads(summary.read_text())


def test_processes_file(half, folder):
    need_source(half, "events")
    path = folder / "processes.csv"
    run = Run(half, folder, "brief", 20, 10, "reap", options=["--processes", str(path)])
    rows = rows_of(path)
    assert len({row["pid"] for row in rows}) == len(rows) == 21
    assert {row["exit_code"] for row in rows} == {"0"}
    if "taskstats" in available(half):
        # An exit record lacks the process's teardown.
        assert 0.9 * run.cpu["value"] <= used(rows) <= run.cpu["value"] * 1.01


@pytest.mark.parametrize("sources", [None, "wait4"])
def test_traced_processes_are_exact(half, folder, sources):
    """The lines add up to the total, whatever else tells of them."""
    need_source(half, "ptrace")
    path = folder / "processes.csv"
    chosen = ("wait4",) if sources else None
    run = Run(half, folder, "levels", 4, 5, 5, sources=chosen, options=[*TRACED, "--processes", str(path)])
    rows = rows_of(path)
    assert len({row["pid"] for row in rows}) == len(rows) == 1 + 4 + 4 * 5
    assert {row["source"] for row in rows} == {"ptrace"}
    assert {row["command"] for row in rows} == {"known_truth"}
    assert used(rows) == pytest.approx(run.cpu["value"], rel=0.001)
    assert [float(row["cpu_seconds"]) for row in rows] == sorted((float(row["cpu_seconds"]) for row in rows),
                                                                 reverse=True)
    assert all(float(row["cpu_seconds"]) >= 0.0049 for row in rows[:-1])


def test_traced_bytes_and_marks_are_each_ones_own(half, folder):
    need_source(half, "ptrace")
    path = folder / "processes.csv"
    Run(half, folder, "writers", 3, 4, "reap", options=[*TRACED, "--processes", str(path)])
    rows = rows_of(path)
    written = sorted(int(row["write_bytes"]) for row in rows)
    assert written[0] < MIB / 10
    assert all(4 * MIB <= bytes_ <= 4.1 * MIB for bytes_ in written[1:])
    assert all(int(row["peak_rss_bytes"]) > 0 for row in rows)


@pytest.mark.parametrize("options", [[], TRACED], ids=["", "traced"])
def test_nobody_carries_the_name_of_whom_he_left(half, folder, options):
    """A child has its parent's name until it becomes another program; who was too short to be asked has none."""
    need_source(half, "events", *(["ptrace"] if options else []))
    rows, _ = run_script(half, folder, "for i in 1 2 3 4 5 6; do /bin/true; done; sleep 0.4; (exit 3); true", *options)
    commands = [row["command"] for row in rows]
    assert commands.count("sleep") == 1
    assert len(rows) == 1 + 6 + 1 + 1
    assert [row["command"] for row in rows if row["exit_code"] == "3"] == ["sh"]
    assert commands.count("sh") == 2
    assert {*commands} <= {"sh", "sleep", "true", ""}
    if options or "taskstats" in available(half):
        assert "" not in commands


def test_a_start_is_told_as_it_was(half, folder):
    need_source(half, "events")
    began = time.time()
    rows, summary = run_script(half, folder, "sleep 0.05; sleep 0.05; sleep 0.05; sleep 0.05; sleep 0.05; true")
    starts = sorted(float(row["start_time"]) for row in rows if row["command"] != "sh")
    assert len(starts) == 5
    assert began - 0.02 <= summary["start_time"] - 0.02 <= starts[0]
    assert all(after - before > 0.045 for before, after in zip(starts, starts[1:]))


def test_a_process_that_ended_unseen_has_no_cpu_time_of_zero(folder):
    """Absent is never zero: nobody has told what the last moments of a child have used."""
    rows, _ = run_script("user", folder, "sleep 0.03; true", "--sources", "wait4")
    for row in rows:
        assert row["cpu_seconds"] != "0.000000" or "sampled" not in row["source"]


def test_beyond_ten_thousand_processes_the_smallest_are_merged(folder):
    """Without another source of the total a storm does not make the tracker give up events."""
    need_source("user", "events")
    path = folder / "processes.csv"
    run = Run("user", folder, "brief", 10500, 0, "reap", sources=("wait4", "events"),
              options=["--processes", str(path)])
    rows = rows_of(path)
    merged = [row for row in rows if not row["pid"]]
    if run.summary["notes"]:
        assert any("the kernel could not keep them all" in note for note in run.summary["notes"]), run.summary["notes"]
        assert len(rows) - len(merged) <= 10000 and run.totals["processes"]["source"] != "events"
    else:
        assert len(rows) - len(merged) == 10000
        assert [row["command"] for row in merged] == ["known_truth (501 processes)"]

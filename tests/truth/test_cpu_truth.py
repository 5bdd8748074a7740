"""CPU time of everything that ever ran in the job."""

import json
import re
import subprocess
from pathlib import Path

import helpers
import pytest
from known import EXPECTED, Run, available, job, need_source, rights

# Which sources a run may use beside wait4.
SETS = {
    "all": None,
    "wait4": ("wait4",),
    "perf": ("wait4", "perf", "hwm"),
    "events": ("wait4", "events", "hwm"),
    "taskstats": ("wait4", "events", "taskstats"),
}

BLIND = None  # nothing in this set can see it: a lower bound, and said to be one

# workload: (words of the job, which of its figures are the truth, {set: relative tolerance}).
# "user" and "root" are the halves of the set "all".
JOBS = {
    "reaped 3 ms": (("brief", 300, 3, "reap"), ("children_seconds", "self_seconds"),
                    {"user": 0.01, "root": 0.005, "wait4": 0.01, "perf": 0.01, "events": 0.01, "taskstats": 0.005}),
    "ignored 3 ms": (("brief", 300, 3, "ignore"), ("clock_seconds", "self_seconds", "teardown_seconds"),
                     {"user": 0.05, "root": 0.02, "wait4": BLIND, "perf": 0.05, "events": BLIND, "taskstats": BLIND}),
    "storm 0.1 ms": (("storm", 0.8, 0.1), ("children_seconds", "self_seconds"),
                     {"user": 0.05, "root": 0.005, "wait4": 0.01, "perf": 0.05, "taskstats": 0.005}),
    "daemon": (("daemon", 0.6), ("clock_seconds",),
               {"user": 0.01, "root": 0.005, "wait4": 0.01, "perf": 0.01, "taskstats": 0.005}),
    "orphan": (("orphan", 0.4), ("self_seconds", "child_seconds"),
               {"user": 0.01, "root": 0.005, "wait4": 0.01, "perf": 0.01, "taskstats": 0.005}),
    "threads' children": (("thread_children", 30, 10), ("children_seconds", "self_seconds"),
                          {"user": 0.01, "root": 0.005, "wait4": 0.01}),
    "random reaps": (("random_reaps", 300, 3), ("children_seconds", "self_seconds"),
                     {"user": 0.01, "root": 0.005, "wait4": 0.01, "taskstats": 0.005}),
    "two levels": (("levels", 5, 8, 8), ("children_seconds", "self_seconds"),
                   {"user": 0.01, "root": 0.005, "wait4": 0.01, "taskstats": 0.005}),
    "execs": (("execs", 50, 10), ("self_seconds",),
              {"user": 0.01, "root": 0.005, "wait4": 0.01, "perf": 0.01}),
}
# Reading a clock and printing it is still used after the clock was read.
ALSO_SECONDS = 0.004
ROUNDED = 0.5e-4  # a share has four decimals

CASES = [(name, choice) for name, (_, _, tolerances) in JOBS.items()
         for choice in ["all", *(c for c in tolerances if c not in ("user", "root"))]]


def teardown_seconds(half, folder, words, options):
    """What a child of a twin that waits for its children has used beyond its own clock."""
    twin = Run(half, folder, *words[:-1], "reap", options=options)
    return (twin.said["children_seconds"] - twin.said["clock_seconds"]) / twin.said["processes_ended"]


def run_and_truth(half, folder, name, **how):
    """A run and what it truly used. Nobody in the job knows the end of processes that nobody waits for: a cgroup around
    all of it does, and where none can be made a twin that waits has to stand for it."""
    words, figures, _ = JOBS[name]
    is_ignored = "teardown_seconds" in figures
    run = Run(half, folder, *words, counted=is_ignored, **how)
    if "outside_seconds" in run.said:
        return run, run.said["outside_seconds"]
    said = dict(run.said)
    if is_ignored:
        said["teardown_seconds"] = said["processes_ended"] * teardown_seconds(half, folder, words,
                                                                              how.get("options", ()))
    return run, sum(said[figure] for figure in figures)


@pytest.mark.parametrize("name,choice", CASES, ids=lambda value: value.replace(" ", "-"))
def test_cpu(half, folder, name, choice):
    tolerances = JOBS[name][2]
    sources = SETS[choice]
    if sources:
        if choice == "taskstats" and half == "user":
            pytest.skip(f"{choice} is for root")
        need_source(half, *sources)
    run, truth = run_and_truth(half, folder, name, sources=sources)
    tolerance = tolerances[half if choice == "all" else choice]
    if tolerance is BLIND:
        assert run.cpu["value"] <= truth * 1.02 + ALSO_SECONDS
        assert run.cpu["coverage"] is None, run.cpu
        return
    check_total(run, truth, tolerance)


def estimated_seconds(run):
    """The part of the CPU time that the notes say is estimated."""
    found = [re.match(r"([\d.e-]+) s of the CPU time are estimated", note) for note in run.summary["notes"]]
    return sum(float(match[1]) for match in found if match)


def check_total(run, truth, tolerance):
    """Within the tolerance, or within the part that is said to be estimated: what a process uses while it exits is measured on
    other processes, and a busy machine makes it longer for some. A counter that was opened late because the machine was busy
    can lack what exited before: then the total is a lower bound with an upper end, and the truth lies between them."""
    cpu = run.cpu
    if cpu["source"] == "perf" and cpu["coverage"] is None:
        assert cpu["value"] <= truth * (1 + tolerance) + ALSO_SECONDS, cpu
        assert cpu["high"] >= truth * (1 - tolerance) - ALSO_SECONDS, cpu
        return
    assert cpu["value"] == pytest.approx(truth, rel=tolerance, abs=max(ALSO_SECONDS, estimated_seconds(run))), cpu
    assert cpu["coverage"] == pytest.approx(cpu["sampled"] / cpu["value"], abs=0.001)


def test_who_has_just_waited_is_not_passed_over(half, folder):
    """A busy parent has the CPU clock of the last scheduler tick: by that it has not run since its child was seen."""
    run = Run(half, folder, "wait_and_burn", 60, 6, sources=("wait4",), interval=0.002)
    assert run.cpu["source"] == "wait4", run.cpu
    assert run.cpu["coverage"] is not None, run.cpu


def test_both_truths_agree(half, folder):
    """What the job knows of itself, and what a cgroup around it has counted."""
    helpers.need_root()
    for words, figures, _ in (JOBS["reaped 3 ms"], JOBS["daemon"], JOBS["execs"]):
        run = Run(half, folder, *words, counted=True)
        known = sum(run.said[figure] for figure in figures)
        assert run.said["outside_seconds"] == pytest.approx(known, rel=0.002, abs=ALSO_SECONDS / 2)


def test_all_cores_without_margins(half, folder):
    """The first and the last interval count, and no row has more than the machine."""
    path = folder / "rows.csv"
    run = Run(half, folder, "cores", 5, interval=0.1, options=["-o", str(path), "--rows", "process"])
    assert run.cpu["value"] == pytest.approx(run.said["self_seconds"], rel=0.005)
    assert run.cpu["coverage"] > 0.99
    rows = helpers.read_csv(path)
    assert len(rows) == run.summary["samples"] > 10
    for row in rows:
        assert 0 <= row["cpu_usage"] <= helpers.CORES + ROUNDED, row
    used = sum(row["utime"] + row["stime"] for row in rows)
    begins = [run.summary["start_time"], *(row["timestamp"] for row in rows)]
    shares = sum(row["cpu_usage"] * (row["timestamp"] - begin) for begin, row in zip(begins, rows))
    assert shares == pytest.approx(used, rel=0.02)
    assert used == pytest.approx(run.cpu["sampled"], abs=0.001)
    assert used <= helpers.CORES * run.summary["wall_seconds"]


def test_expected_sources_are_there(half):
    need_source(half, *EXPECTED[half])
    assert EXPECTED[half] <= available(half)


def test_source_of_the_total_is_named(half, folder):
    run = Run(half, folder, "brief", 300, 3, "ignore")
    assert run.cpu["source"] == "perf"
    assert Run(half, folder, "execs", 3, 5).cpu["source"] == "wait4"


@pytest.mark.parametrize("who_waits", ["reap", "ignore"])
def test_every_process_is_counted(half, folder, who_waits):
    """From the first on, which may end before the tracker has looked for the first time."""
    need_source(half, "events")
    for _ in range(10):
        run = Run(half, folder, "brief", 40, 1, who_waits)
        assert run.totals["processes"] == {"value": 41, "source": "events"}


def test_user_and_system_are_told_apart_or_not_at_all(half, folder):
    """Perf has one figure for both: what it alone has seen is not split by what others did."""
    need_source(half, "perf")
    run = Run(half, folder, "brief", 100, 3, "ignore", sources=("wait4", "perf"))
    assert run.cpu["source"] == "perf"
    assert run.cpu["user"] is None and run.cpu["system"] is None
    whole = Run(half, folder, "brief", 100, 3, "reap").cpu
    assert whole["user"] + whole["system"] == pytest.approx(whole["value"], abs=2e-6)


def test_attached_to_a_tree_whose_processes_nobody_waits_for(half, folder):
    """The one who forks them is there already: it has not inherited what counts the root."""
    need_source(half, "perf")
    script = 'sh -c \'read line; exec "$@"\' sh "$@"; read line'
    tree = helpers.popen(rights(half, "sh", "-c", script, "sh", job(), "brief", "100", "3", "ignore"),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    summary = folder / "summary.json"
    children = Path(f"/proc/{tree.pid}/task/{tree.pid}/children")
    helpers.wait_until(lambda: children.read_text().split(), "the child of the tree")
    with helpers.popen(rights(half, helpers.binary(), "attach", "-q", "--no-save", "-o", "rows.csv", "-s", summary,
                                 str(tree.pid)), cwd=folder) as tracker:
        # The first row is there when all that is to be counted has its counter.
        helpers.wait_until(lambda: helpers.row_count(folder / "rows.csv") > 0, "the first row")
        said = helpers.numbers_of(tree.communicate("go\nend\n")[0])
        assert tracker.wait() == 0
    cpu = json.loads(summary.read_text())["totals"]["cpu_seconds"]
    least = said["clock_seconds"] + said["self_seconds"]
    assert 0.98 * least - ALSO_SECONDS < cpu["value"] < 1.1 * least + 2 * ALSO_SECONDS, (cpu, said)


STORMS = 6
GIVEN_UP_RATE = 2000  # processes a second that end on the machine


def test_a_storm_gives_up_events_and_says_so(half, folder):
    """Or has counted every process, where the machine is too slow for a storm."""
    need_source(half, "events", "perf")
    summary = folder / "summary.json"
    script = f"for i in $(seq {STORMS}); do {job()} storm 2 0 & done; wait"
    done = helpers.run(rights(half, helpers.binary(), "-q", "--no-save", "-s", summary, "sh", "-c", script),
                       capture_output=True, text=True, cwd=folder, check=True)
    told = json.loads(summary.read_text())
    ended = sum(float(number) for number in re.findall(r"(?m)^processes_ended ([\d.]+)$", done.stdout))
    gave_up = [note for note in told["notes"] if "process events were given up" in note]
    if ended / told["wall_seconds"] > 1.5 * GIVEN_UP_RATE:
        assert gave_up, (ended, told["notes"])
    if gave_up:
        assert "2000 processes a second" in gave_up[0] or "could not keep them all" in gave_up[0], gave_up
        assert told["totals"]["processes"]["source"] != "events", told["totals"]
    else:
        # The shell, the storms, and seq with the copy of the shell that runs it.
        assert told["totals"]["processes"] == {"value": ended + STORMS + 2, "source": "events"}

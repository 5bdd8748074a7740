"""Totals where the kernel tells little: what can't be seen is a lower bound and said to be one, never a wrong number."""

import json
import subprocess

import helpers
import pytest
from known import Run, available, info, job, program, rights
from test_cpu_truth import ALSO_SECONDS, JOBS, check_total, run_and_truth

HIDDEN_PROC = ("unshare", "-m", "sh", "-ec", 'mount -t proc -o hidepid=2 proc /proc; exec "$@"', "sh")
PID_NAMESPACE = ("unshare", "-p", "-f", "--mount-proc")


@pytest.fixture
def refused():
    """Words that run a command where a seccomp filter refuses every source but wait4 and /proc."""
    return (program("refuse"),)


def check_cpu(half, folder, name, around):
    """As good as without the obstacle where a counter is left; a lower bound without one."""
    _, figures, tolerances = JOBS[name]
    counters = {"perf"} & available(half, around)
    run, truth = run_and_truth(half, folder, name, around=around)
    if "teardown_seconds" in figures and not counters:
        assert 0 < run.cpu["value"] <= truth * 1.02 + ALSO_SECONDS
        assert run.cpu["coverage"] is None, run.cpu
        return
    tolerance = tolerances[half] if counters else 0.01
    check_total(run, truth, tolerance)


@pytest.mark.parametrize("name", ["reaped 3 ms", "ignored 3 ms", "storm 0.1 ms", "daemon", "two levels"],
                         ids=lambda name: name.replace(" ", "-"))
def test_cpu_where_all_is_refused(half, folder, refused, name):
    assert not {"perf", "events", "taskstats"} & available(half, refused)
    check_cpu(half, folder, name, refused)


@pytest.mark.parametrize("name", ["reaped 3 ms", "ignored 3 ms"], ids=lambda name: name.replace(" ", "-"))
def test_cpu_where_others_processes_are_hidden(folder, name):
    helpers.need_namespace("-m")
    check_cpu("user", folder, name, HIDDEN_PROC)


@pytest.mark.parametrize("name", ["reaped 3 ms", "ignored 3 ms"], ids=lambda name: name.replace(" ", "-"))
def test_cpu_in_a_pid_namespace(half, folder, name):
    helpers.need_namespace(*PID_NAMESPACE[1:])
    check_cpu(half, folder, name, PID_NAMESPACE)


def test_every_refusal_is_explained(half, refused):
    told = info(half, refused)
    for name in ("perf", "events", "taskstats"):
        is_there, why = told[name]
        assert not is_there
        assert len(why) > 20
    assert told["wait4"][0] and told["hwm"][0]


def test_a_pid_namespace_has_no_events(half):
    helpers.need_namespace(*PID_NAMESPACE[1:])
    for name in ("events", "taskstats"):
        assert "namespace" in info(half, PID_NAMESPACE)[name][1]


def test_memory_where_all_is_refused(half, folder, refused):
    """The bracket holds, however wide it is."""
    peak = Run(half, folder, "spike", 300, 240, 1, around=refused).peak
    assert peak["low"] <= 304 << 20
    assert peak["low"] <= peak["value"]
    assert peak["high"] is None or peak["high"] >= max(peak["value"], (300 << 20) * 0.999)


@pytest.mark.parametrize("reaping", ["reap", "ignore"])
def test_bytes_where_all_is_refused(half, folder, refused, reaping):
    run = Run(half, folder, "writers", 6, 4, reaping, around=refused)
    written = run.totals["write_bytes"]
    assert written["value"] <= run.said["written_bytes"] * 1.01
    if reaping == "reap":
        assert written["value"] == pytest.approx(run.said["written_bytes"], rel=0.01), written
    else:
        assert written["source"] == "sampled"


@pytest.mark.parametrize("call", ["+1", "+4", "+12", "+20"])
@pytest.mark.parametrize("reaping", ["reap", "ignore"])
def test_bytes_of_a_job_that_ends_before_the_first_sample(folder, reaping, call):
    """The tracker is held at a step of its start until the job has exited."""
    command = [helpers.binary(), "-q", "--no-save", "--sources", "wait4", "-s", "summary.json", "--",
               job(), "writers", "6", "4", reaping]
    held = helpers.popen([helpers.workload("held_at"), call, *command], cwd=folder, text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         env=helpers.without_leak_check())
    assert held.stderr.readline() == "held\n"
    root = helpers.only_child(helpers.only_child(held.pid))
    helpers.wait_until(lambda: helpers.state_of(root) == "Z", "the end of the job")
    helpers.finish_input(held)
    assert held.wait(60) == 0, held.stderr.read()
    held.stderr.close()
    totals = json.loads((folder / "summary.json").read_text())["totals"]
    expected = "sampled" if reaping == "ignore" else "wait4"
    assert totals["write_bytes"]["source"] == expected, totals["write_bytes"]
    assert (totals["cpu_seconds"]["coverage"] is None) == (reaping == "ignore"), totals["cpu_seconds"]


@pytest.mark.parametrize("reaping", ["reap", "ignore"])
def test_the_terminal_says_what_is_a_lower_bound(half, folder, refused, reaping):
    command = rights(half, helpers.binary(), "--no-save", "--", job(), "writers", "6", "4", reaping)
    told = helpers.run([*refused, *command], capture_output=True, text=True, cwd=folder, check=True).stderr
    for label in ("CPU  ", "disk  "):
        line = next(line for line in told.splitlines() if line.lstrip().startswith(label))
        assert (" at least " in line) == (reaping == "ignore"), told

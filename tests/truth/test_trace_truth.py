"""--trace-exits: every end is told with its exact usage, to any user and whoever waits for whom."""

import json
import os
import signal
import subprocess

import helpers
import pytest
from known import MIB, Run, info, job, need_source, program, rights
from test_cpu_truth import ALSO_SECONDS, run_and_truth

TRACED = ["--trace-exits"]
CPU_TOLERANCE = 0.01
# The words of a job that is its root and so many more: all of those end in it.
COUNTED = {"reaped 3 ms": 300, "ignored 3 ms": 300, "storm 0.1 ms": None, "two levels": 5 + 5 * 8,
           "threads' children": 30, "random reaps": 300, "daemon": 2, "orphan": 1, "execs": 0}


@pytest.mark.parametrize("name", COUNTED, ids=lambda name: name.replace(" ", "-"))
def test_cpu_and_count_are_exact(half, folder, name):
    need_source(half, "ptrace")
    run, truth = run_and_truth(half, folder, name, sources=("wait4",), options=TRACED)
    assert run.cpu["value"] == pytest.approx(truth, rel=CPU_TOLERANCE, abs=ALSO_SECONDS), run.cpu
    assert run.cpu["source"] == "ptrace"
    assert run.cpu["coverage"] is not None
    children = run.said["processes_ended"] if COUNTED[name] is None else COUNTED[name]
    assert run.totals["processes"] == {"value": children + 1, "source": "ptrace"}


def test_several_who_fork_at_once(half, folder):
    """A birth may be told after the end of who was born; and rows come in between."""
    need_source(half, "ptrace")
    summary = folder / "summary.json"
    script = f'for i in 1 2 3 4; do {job()} storm 0.6 0 & done; wait'
    done = helpers.run(rights(half, helpers.binary(), "-q", "--no-save", "-i", "0.1", "-s", str(summary), "--sources",
                                 "wait4", *TRACED, "sh", "-c", script),
                          capture_output=True, text=True, cwd=folder)
    told = json.loads(summary.read_text())
    words = [line.split() for line in done.stdout.splitlines()]
    ended = sum(float(number) for name, number in words if name == "processes_ended")
    used = sum(float(number) for name, number in words if name in ("children_seconds", "self_seconds"))
    assert told["totals"]["processes"] == {"value": ended + 5, "source": "ptrace"}
    assert told["totals"]["cpu_seconds"]["value"] == pytest.approx(used, rel=CPU_TOLERANCE, abs=5 * ALSO_SECONDS)
    assert told["samples"] >= 5


@pytest.mark.parametrize("reaping", ["reap", "ignore"])
def test_bytes_are_exact(half, folder, reaping):
    need_source(half, "ptrace")
    run = Run(half, folder, "writers", 6, 4, reaping, sources=("wait4",), options=TRACED)
    written = run.totals["write_bytes"]
    assert written == {"value": pytest.approx(run.said["written_bytes"], rel=0.01), "source": "ptrace"}


def test_a_spike_between_samples_is_found(half, folder):
    need_source(half, "ptrace")
    peak = Run(half, folder, "child_spike", 300, 50, sources=("wait4",), options=TRACED, interval=30).peak
    assert peak["value"] == pytest.approx(300 * MIB, rel=0.02), peak
    assert peak["low"] <= 304 * MIB <= peak["high"] * 1.02


def test_refusal_is_a_note_and_the_job_runs(half, folder):
    refused = (program("refuse"),)
    assert not info(half, refused)["ptrace"][0]
    run = Run(half, folder, "execs", 3, 5, around=refused, options=TRACED)
    assert any("not traced" in note and "refused" in note for note in run.summary["notes"])
    assert run.cpu["source"] == "wait4"


def test_the_job_outlives_a_tracker_that_is_killed(half, folder):
    need_source(half, "ptrace")
    done = folder / "done"
    script = f'echo up; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; echo x > {done}'
    tracker = helpers.popen(rights(half, helpers.binary(), "-q", "--no-save", *TRACED, "sh", "-c", script),
                               stdout=subprocess.PIPE, cwd=folder)
    tracker.stdout.readline()
    os.kill(tracker.pid, signal.SIGKILL)
    tracker.wait()
    helpers.wait_until(lambda: done.exists() and done.read_text() == "x\n", "the job's end")


def test_a_tracker_that_can_not_go_on_lets_the_job_go(half, folder):
    """The loop fails for good: nobody of the job may be left in a stop."""
    need_source(half, "ptrace")
    script = 'for i in 1 2 3 4 5; do sleep 0.02; (exit 3); done; sh -c "kill -9 \\$\\$"; echo done; exit 5'
    done = helpers.run([program("refuse"), "--loop",
                           *rights(half, helpers.binary(), "--no-save", *TRACED, "sh", "-c", script)],
                          capture_output=True, text=True, cwd=folder)
    assert done.stdout == "done\n"
    assert done.returncode == 5
    assert "cannot wait for events" in done.stderr


def test_a_stopped_child_is_seen_by_its_own_shell(half, folder):
    """Job control inside the job: a stop is a stop, and is told to whom it concerns."""
    need_source(half, "ptrace")
    script = ('import os, signal, sys\n'
              'pid = os.fork()\n'
              'if pid == 0:\n'
              '    os.kill(os.getpid(), signal.SIGSTOP)\n'
              '    os._exit(7)\n'
              '_, status = os.waitpid(pid, os.WUNTRACED)\n'
              'assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGSTOP\n'
              'assert os.waitpid(pid, os.WNOHANG) == (0, 0)\n'
              'os.kill(pid, signal.SIGCONT)\n'
              '_, status = os.waitpid(pid, 0)\n'
              'sys.exit(os.WEXITSTATUS(status))\n')
    done = helpers.run(rights(half, helpers.binary(), "-q", "--no-save", *TRACED, "/usr/bin/python3", "-c", script),
                          cwd=folder)
    assert done.returncode == 7


def test_a_signal_keeps_its_sender(half, folder):
    need_source(half, "ptrace")
    script = ('import os, signal\n'
              'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n'
              'os.kill(os.getpid(), signal.SIGUSR1)\n'
              'got = signal.sigwaitinfo([signal.SIGUSR1])\n'
              'assert got.si_pid == os.getpid()\n'
              'signal.signal(signal.SIGUSR2, lambda *_: os._exit(5))\n'
              'os.kill(os.getpid(), signal.SIGUSR2)\n'
              'signal.pause()\n')
    done = helpers.run(rights(half, helpers.binary(), "-q", "--no-save", *TRACED, "/usr/bin/python3", "-c", script),
                          cwd=folder)
    assert done.returncode == 5

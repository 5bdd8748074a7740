"""The job runs as if we were not there: its streams, descriptors, environment, signals, limits."""

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from helpers import binary, children_of, finish, only_child, run, state_of, tracker, wait_until, workload

EVERY_BYTE = bytes(range(256)) * 4096


def test_bytes_pass_through_exactly():
    done = run([binary(), "-q", "tee", "/dev/stderr"], input=EVERY_BYTE,
                          capture_output=True)
    assert done.stdout == EVERY_BYTE
    assert done.stderr == EVERY_BYTE


def test_only_the_summary_is_added_to_stderr():
    done = run([binary(), "sh", "-c", "echo out; echo err >&2"], capture_output=True)
    assert done.stdout == b"out\n"
    assert done.stderr.startswith(b"err\n") and len(done.stderr) > 10


@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_closed_stream_stays_closed(descriptor):
    """Our own descriptors must not land on the number that the job finds closed."""
    job = "for d in 0 1 2; do [ -e /proc/$$/fd/$d ] || exit 4$d; done"
    for options in (["-q"], [], ["-q", "-o", "rows.csv", "-s", "summary.json"]):
        done = run([binary(), *options, "sh", "-c", job],
                              preexec_fn=lambda: os.close(descriptor))
        assert done.returncode == 40 + descriptor
    assert Path("rows.csv").read_text().startswith('"timestamp"')


def test_all_streams_closed():
    done = run([binary(), "-q", "-i", "3600", "-o", "rows.csv", "sh", "-c", "exit 4"], preexec_fn=lambda: os.closerange(0, 3))
    assert done.returncode == 4
    assert len(Path("rows.csv").read_text().splitlines()) == 2


def test_stdout_that_nobody_reads():
    """The job gets SIGPIPE as without us, and we report its death."""
    reader, writer = os.pipe()
    os.close(reader)
    done = run([binary(), "-q", "sh", "-c", "while :; do echo x; done"], stdout=writer)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE


def test_stderr_that_nobody_reads_does_not_change_the_status():
    reader, writer = os.pipe()
    os.close(reader)
    done = run([binary(), "sh", "-c", "exit 6"], stderr=writer)
    os.close(writer)
    assert done.returncode == 6


def inspect(prefix, **options):
    """All that the workload inherits, as lines, without that of its parent."""
    with open("seen", "wb") as seen:
        run([*prefix, workload("inspect"), "a b", ""], stdin=subprocess.DEVNULL,
                       stdout=seen, stderr=seen, check=True, **options)
    lines = Path("seen").read_text().splitlines()
    return [line for line in lines if not line.startswith("parent ")]


def ignore_and_block():
    """As nohup leaves it, and with signals blocked that we use ourselves."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD, signal.SIGRTMIN})


def lower_limits():
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 256))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 21))
    os.nice(7)
    os.umask(0o027)


def ignore_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


WORLDS = {"plain": None, "ignored and blocked signals": ignore_and_block, "limits": lower_limits,
          "own session": os.setsid, "ignored SIGCHLD": ignore_children}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
@pytest.mark.parametrize("options", [["-q"], ["-q", "-o", "rows.csv", "-s", "summary.json"]],
                         ids=["bare", "with files"])
def test_the_job_inherits_the_same(world, options):
    expected = inspect([], preexec_fn=world)
    seen = inspect([binary(), *options], preexec_fn=world)
    if world is os.setsid:  # the session's number is that of whoever was started
        expected, seen = ([line for line in lines if not line.startswith("group ")]
                          for lines in (expected, seen))
    assert seen == expected
    descriptors = [line for line in seen if line.startswith("descriptor")]
    assert len(descriptors) == 3


def test_descriptors_of_the_caller_reach_the_job():
    Path("data").write_text("from above")
    with open("data") as data:
        done = run([binary(), "-q", "sh", "-c", f"cat /dev/fd/{data.fileno()}"],
                              pass_fds=[data.fileno()], capture_output=True, text=True)
    assert done.stdout == "from above"


def test_under_nohup():
    line = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"
    plain = run(["nohup", "sh", "-c", line], capture_output=True, text=True)
    ours = run(["nohup", binary(), "-q", "sh", "-c", line], capture_output=True,
                          text=True)
    assert ours.stdout == plain.stdout != ""


def test_hangup_under_nohup_does_not_end_the_job(started):
    """Ignored for the tracker, so ignored as a whole: nobody meant to end this run."""
    process = started("-q", workload("signals"), prefix=["nohup"], stdin=subprocess.PIPE)
    assert process.stdout.readline().startswith("ready")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR1)
    heard = process.stdout.readline().strip()
    finish(process)
    assert heard in ("USR1", "HUP")
    assert process.returncode == 0


def test_the_parent_is_the_tracker_and_the_group_is_ours(started):
    process = started("-q", "sleep", "60")
    job = only_child(process.pid)
    wait_until(lambda: state_of(job) == "S", "the job")
    assert os.getpgid(job) == os.getpgid(process.pid) == os.getpgid(0)
    assert os.getsid(job) == os.getsid(0)
    assert children_of(process.pid) == [job]
    os.kill(job, signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM


def test_job_may_read_stdin_through_a_pipeline():
    line = f"printf 'c\\nb\\na\\n' | {binary()} -q sort | {binary()} -q head -1"
    done = run(["sh", "-c", line], capture_output=True, text=True)
    assert done.stdout == "a\n"


def test_the_caller_that_ignores_sigchld_still_learns_the_status():
    done = tracker("-q", "sh", "-c", "exit 17",
                   preexec_fn=ignore_children)
    assert done.returncode == 17

"""Ctrl-Z, fg and bg work as without us, in an interactive shell on a real terminal."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import (
    Terminal,
    binary,
    children_of,
    finish,
    has_pending,
    need_command,
    only_child,
    opens_blocked,
    read_csv,
    row_count,
    stat_fields,
    state_of,
    wait_until,
    without_leak_check,
    workload,
)

PROMPT = "ready> "


@pytest.fixture
def shell():
    need_command("bash")
    bash = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
    with Terminal(*bash, PS1=PROMPT, HISTFILE="/dev/null") as terminal:
        terminal.expect(PROMPT)
        yield terminal


def start_job(shell, options="-q -i 0.05 -o rows.csv"):
    """A tracked sleep in the foreground; the pids of tracker and job."""
    shell.send(f"{binary()} {options} sh -c 'echo started; exec sleep 60'\n")
    shell.expect(r"\nstarted\r\n")
    ours = wait_until(lambda: children_of(shell.pid), "the tracker")[0]
    return ours, only_child(ours)


def both(states, *pids):
    return lambda: all(state_of(pid) in states for pid in pids)


def test_stop_continue_end(shell):
    ours, job = start_job(shell)
    for _ in range(2):
        shell.send("\x1a")
        shell.expect(r"Stopped", len(shell.text))
        wait_until(both("T", ours, job), "both stopped")
        rows = row_count("rows.csv")
        shell.send("fg\n")
        wait_until(both("SRD", ours, job), "both going on")
        wait_until(lambda rows=rows: row_count("rows.csv") > rows, "rows after fg")
    shell.send("\x03")
    wait_until(lambda: state_of(ours) is None, "the end")
    shell.send("echo status=$?\n")
    shell.expect(r"status=130\r\n")
    assert state_of(job) is None
    times = [row["timestamp"] for row in read_csv("rows.csv")]
    assert times == sorted(times)


def test_background_and_foreground_again(shell):
    ours, job = start_job(shell)
    shell.send("\x1a")
    wait_until(both("T", ours, job), "both stopped")
    shell.expect("Stopped")
    shell.send("bg\n")
    wait_until(both("SRD", ours, job), "both in the background")
    shell.send("fg\n")
    wait_until(lambda: in_foreground(ours), "the foreground")
    shell.send("\x1c")
    wait_until(lambda: state_of(ours) is None, "the end")
    shell.send("echo status=$?\n")
    shell.expect(r"status=131\r\n")


def in_foreground(pid):
    fields = stat_fields(pid)
    return fields[2] == fields[5]  # process group, foreground group of the terminal


def test_job_that_stops_reading_from_the_background(shell):
    """SIGTTIN from the terminal stops the job; the shell must see us stop as well."""
    shell.send(f"{binary()} -q cat &\n")
    shell.expect(r"\[1\]")
    ours = wait_until(lambda: children_of(shell.pid), "the tracker")[0]
    job = only_child(ours)
    wait_until(both("T", ours, job), "both stopped for terminal input")
    shell.send("fg\n")
    wait_until(lambda: in_foreground(ours), "the foreground")
    wait_until(both("SRD", ours, job), "both going on")
    shell.send("hello\n")
    shell.expect(r"hello\r\nhello\r\n")
    shell.send("\x04")
    wait_until(lambda: state_of(ours) is None, "the end")


def test_pipeline_is_one_job(shell):
    shell.send(f"{binary()} -q sh -c 'echo started >&2; exec sleep 60' | {binary()} -q cat\n")
    shell.expect(r"\nstarted\r\n")
    wait_until(lambda: len(children_of(shell.pid)) == 2, "two trackers")
    trackers = children_of(shell.pid)
    shell.send("\x1a")
    wait_until(both("T", *trackers), "both trackers stopped")
    shell.send("fg\n")
    wait_until(both("SRD", *trackers), "both going on")
    shell.send("\x03")
    wait_until(lambda: not children_of(shell.pid), "the end of both")


SLOW_TO_STOP = """import os, signal, time
def stop(number, frame):
    time.sleep(3.5)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
signal.signal(signal.SIGTSTP, stop)
print("started", flush=True)
while True:
    signal.pause()"""


def test_job_that_takes_seconds_to_stop(shell):
    """As one does that writes its state first, or that gets no CPU: longer than the 3 s within which any stop counts."""
    Path("slow.py").write_text(SLOW_TO_STOP)
    shell.send(f"{binary()} -q {sys.executable} -I -S slow.py\n")
    shell.expect(r"\nstarted\r\n")
    ours = only_child(shell.pid)
    shell.send("\x1a")
    wait_until(both("T", ours, only_child(ours)), "both stopped")
    shell.expect("Stopped")


def press_before_the_start(shell, key, number):
    """Presses a key while the tracker still opens its output; the tracker's pid."""
    Path("rows.csv").touch()
    with opens_blocked("rows.csv") as is_awaited:
        shell.send(f"{binary()} -q --force -o rows.csv sh -c 'echo started; exec sleep 60'\n")
        wait_until(is_awaited, "the open of the output file")
        ours = only_child(shell.pid)
        shell.send(key)
        wait_until(lambda: has_pending(ours, number), "the signal")
    return ours


def test_ctrl_z_before_the_job_is_started(shell):
    ours = press_before_the_start(shell, "\x1a", signal.SIGTSTP)
    shell.expect("Stopped")
    assert state_of(ours) == "T"
    shell.send("fg\n")
    shell.expect(r"\nstarted\r\n")
    shell.send("\x1a")
    wait_until(both("T", ours, only_child(ours)), "both stopped")


@pytest.mark.parametrize(("key", "number"), [("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)])
def test_ctrl_c_before_the_job_is_started(shell, key, number):
    ours = press_before_the_start(shell, key, number)
    wait_until(lambda: state_of(ours) is None, "the end of the tracker")
    shell.send("echo status=$?\n")
    shell.expect(rf"status={128 + number}\r\n")
    assert "\nstarted" not in shell.text


def test_ctrl_c_at_the_fork():
    """The last instant at which the job does not exist: the signal is delivered before the fork, or to both after it."""
    with Terminal(workload("held_at"), "fork", binary(), "-q", "sleep", "60", **without_leak_check()) as terminal:
        terminal.expect("held")
        ours = only_child(terminal.pid)
        terminal.send("\x03")
        wait_until(lambda: has_pending(ours, signal.SIGINT), "the signal")
        terminal.send("\n")
        assert terminal.wait() == 128 + signal.SIGINT


def test_ctrl_z_before_the_program_is_loaded(shell):
    """The job stops, at the latest when its exec is over, and so does the tracker."""
    shutil.copy(shutil.which("cat"), "program")
    with opens_blocked("program") as is_awaited:
        shell.send(f"{binary()} -q ./program\n")
        wait_until(is_awaited, "the exec")
        ours = only_child(shell.pid)
        job = only_child(ours)
        shell.send("\x1a")
        shell.expect(r"\^Z")  # the terminal shows it when it has sent the signal
    wait_until(both("T", ours, job), "both stopped")
    shell.expect("Stopped")
    shell.send("fg\n")
    wait_until(both("SRD", ours, job), "both going on")
    shell.send("hello\n")
    shell.expect(r"hello\r\nhello\r\n")
    shell.send("\x04")
    wait_until(lambda: state_of(ours) is None, "the end")


def test_ctrl_c_before_the_program_is_loaded(shell):
    shutil.copy(shutil.which("cat"), "program")
    with opens_blocked("program") as is_awaited:
        shell.send(f"{binary()} -q ./program\n")
        wait_until(is_awaited, "the exec")
        ours = only_child(shell.pid)
        shell.send("\x03")
        wait_until(lambda: state_of(ours) is None, "the end")
    shell.send("echo status=$?\n")
    shell.expect(r"status=130\r\n")


def test_stop_of_the_job_alone_does_not_stop_us(started):
    process = started("-q", "-i", "0.02", "-o", "rows.csv", "sh", "-c", "read line; exit 3",
                      stdin=subprocess.PIPE)
    job = only_child(process.pid)
    wait_until(lambda: row_count("rows.csv") > 5, "rows")
    os.kill(job, signal.SIGSTOP)
    wait_until(lambda: state_of(job) == "T", "the stop of the job")
    rows = row_count("rows.csv")
    wait_until(lambda: row_count("rows.csv") > rows + 5, "rows of the stopped job")
    assert state_of(process.pid) in "SR"
    os.kill(job, signal.SIGCONT)
    finish(process)
    assert process.returncode == 3

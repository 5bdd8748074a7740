"""A signal reaches the job exactly once, whoever sent it, and never ends us before the job."""

import fcntl
import os
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from helpers import Terminal, binary, finish, is_running, only_child, read_csv, state_of, tracker, wait_until, workload

FORWARDED = ["TERM", "USR1", "USR2", "CONT", "HUP", "INT", "QUIT", "WINCH"]


def listener(started, *options):
    process = started("-q", *options, workload("signals"), stdin=subprocess.PIPE)
    assert process.stdout.readline().startswith("ready")
    return process


@pytest.mark.parametrize("name", FORWARDED)
def test_sent_to_the_tracker_alone_reaches_the_job_once(started, name):
    """The second signal is behind the first, so a double of the first would be heard before it."""
    last = "USR2" if name != "USR2" else "USR1"
    process = listener(started)
    heard = []
    for sent in (name, last):
        process.send_signal(getattr(signal, f"SIG{sent}"))
        heard.append(process.stdout.readline().strip())
    rest = finish(process)
    assert heard == [name, last]
    assert rest == "end\n"
    assert process.returncode == 0


def test_each_of_many_signals_arrives(started):
    process = listener(started)
    for name in ["USR1", "USR2"] * 20:
        process.send_signal(getattr(signal, f"SIG{name}"))
        assert process.stdout.readline().strip() == name
    assert finish(process) == "end\n"


def test_default_action_of_a_forwarded_signal(started):
    process = started("-q", "sleep", "60")
    only_child(process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM


def test_signal_right_after_the_start(started):
    """No instant at which the tracker would die alone and leave the job."""
    for _ in range(30):
        process = started("-q", "sleep", "60")
        process.send_signal(signal.SIGCONT)
        only_child(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM


def test_job_that_ignores_sigterm_is_waited_for(started):
    process = started("-q", "sh", "-c", "trap '' TERM; echo ready; read line; exit 8",
                      stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    for _ in range(3):
        process.send_signal(signal.SIGTERM)
    finish(process)
    assert process.returncode == 8


def test_job_that_handles_sigterm_chooses_the_status(started):
    job = "trap 'exit 12' TERM; echo ready; while :; do sleep 0.05; done"
    process = started("-q", "sh", "-c", job)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 12


def on_terminal(*options):
    terminal = Terminal(binary(), "-q", *options, workload("signals"))
    terminal.expect("ready")
    return terminal


def resize(terminal):
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))


@pytest.mark.parametrize("name, press", [("INT", lambda t: t.send("\x03")),
                                         ("QUIT", lambda t: t.send("\x1c")), ("WINCH", resize)])
def test_from_the_terminal_reaches_the_job_once(name, press):
    with on_terminal() as terminal:
        press(terminal)
        terminal.expect(rf"{name}\r\n")  # the terminal may have echoed the key before it
        os.kill(terminal.pid, signal.SIGUSR2)
        terminal.expect(r"USR2\r\n")
        terminal.send("\n")
        assert terminal.wait() == 0
    assert terminal.text.count(f"{name}\r\n") == 1


def test_ctrl_c_ends_job_and_tracker_with_the_last_row():
    job = ["sh", "-c", "echo ready; exec sleep 60"]
    with Terminal(binary(), "-q", "-i", "30", "-o", "rows.csv", *job) as terminal:
        terminal.expect("ready")
        terminal.send("\x03")
        assert terminal.wait() == -signal.SIGINT
    assert len(read_csv("rows.csv")) == 1


def test_hangup_of_the_terminal_ends_both():
    job = ["sh", "-c", "echo $$; exec sleep 60"]
    with Terminal(binary(), "-q", "-o", "rows.csv", *job) as terminal:
        job = int(terminal.expect(r"(\d+)\r\n")[1])
        terminal.hang_up()
        assert terminal.wait() == -signal.SIGHUP
        wait_until(lambda: not is_running(job), "the end of the job")
    assert len(read_csv("rows.csv")) >= 1


def test_timeout_is_124():
    done = tracker("-q", "--timeout", "0.2", "-s", "summary.json", "sleep", "60")
    assert done.returncode == 124
    assert Path("summary.json").exists()


def test_timeout_is_124_whatever_the_job_makes_of_it():
    job = "trap 'exit 3' TERM; while :; do sleep 0.05; done"
    assert tracker("-q", "--timeout", "0.3", "sh", "-c", job).returncode == 124


def test_timeout_that_is_not_reached():
    assert tracker("-q", "--timeout", "60", "sh", "-c", "exit 5").returncode == 5


def test_timeout_never_escalates_by_itself(started):
    job = "trap '' TERM; echo ready; read line; exit 7"
    process = started("-q", "--timeout", "0.5", "sh", "-c", job, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    finish(process)
    assert process.returncode == 124


def test_kill_after_ends_who_ignores_sigterm():
    job = "trap '' TERM; while :; do sleep 0.05; done"
    done = tracker("-q", "--timeout", "0.2", "--kill-after", "0.2", "sh", "-c", job)
    assert done.returncode == 124


def test_timeout_reaches_the_whole_tree():
    """A shell that waits for its child does not pass the signal on by itself."""
    job = "sleep 60 & echo $!; wait"
    done = tracker("-q", "--timeout", "0.3", "sh", "-c", job)
    assert done.returncode == 124
    child = int(done.stdout)
    wait_until(lambda: state_of(child) in (None, "Z"), "the end of the child")


@pytest.mark.parametrize("command", ["attach", "system"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_end_of_attach_and_system(started, command, number):
    """With the last row and exit 0."""
    target = [os.getpid()] if command == "attach" else []
    process = started(command, "-i", "30", *target)
    assert process.stdout.readline().startswith('"timestamp"')
    process.send_signal(number)
    assert len(finish(process).splitlines()) == 1
    assert process.returncode == 0

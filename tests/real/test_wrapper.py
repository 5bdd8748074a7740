"""The corners of standing between a shell and a job: stops that are not ours, streams that are closed, files."""

import fcntl
import os
import signal
import subprocess
import time

import pytest
from helpers import (
    Terminal,
    binary,
    children_of,
    finish,
    name_of,
    need_command,
    need_namespace,
    only_child,
    popen,
    read_csv,
    row_count,
    run,
    state_of,
    tracker,
    wait_until,
)

PROMPT = "ready> "


@pytest.fixture
def shell():
    need_command("bash")
    with Terminal("bash", "--norc", "--noprofile", "-i", PS1=PROMPT, HISTFILE="/dev/null") as terminal:
        terminal.expect(PROMPT)
        yield terminal


def start_on(shell, script, prefix=""):
    """The quotes within the word keep the echo of the line from looking like the job's output."""
    shell.send(f"{binary()} -q {prefix} sh -c '{script[0]}echo sta''rted; {script[1]}'; echo status=$?\n")
    shell.expect(r"[\r\n]started")
    ours = wait_until(lambda: children_of(shell.pid), "the tracker")[0]
    return ours, only_child(ours)


def stays_awake(pid, seconds=0.3):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert state_of(pid) in "SRD"
        time.sleep(0.01)


def test_job_that_ignores_ctrl_z_is_not_left_alone(shell):
    ours, _ = start_on(shell, ('trap "" TSTP; ', "read line; exit 4"))
    shell.send("\x1a")
    stays_awake(ours)
    shell.send("\n")
    shell.expect("status=4")


def test_stop_that_was_undone_does_not_count(shell):
    """Stopped and continued by somebody else; the Ctrl-Z after it is ignored by the job."""
    ours, job = start_on(shell, ('trap "" TSTP; ', "read line; exit 4"))
    os.kill(job, signal.SIGSTOP)
    wait_until(lambda: state_of(job) == "T", "the stop")
    os.kill(job, signal.SIGCONT)
    wait_until(lambda: state_of(job) != "T", "the continuation")
    shell.send("\x1a")
    stays_awake(ours)
    shell.send("\n")
    shell.expect("status=4")


def test_stop_signal_to_the_tracker_alone_stops_both(shell):
    ours, job = start_on(shell, ("", "read line; exit 4"))
    os.kill(ours, signal.SIGTSTP)
    wait_until(lambda: state_of(ours) == state_of(job) == "T", "both stopped")
    shell.expect("Stopped")
    shell.send("fg; echo again=$?\n")
    wait_until(lambda: "T" not in (state_of(ours), state_of(job)), "both going on")
    shell.send("\n")
    shell.expect("again=4")


def test_ctrl_c_reaches_a_job_in_a_group_of_its_own(shell):
    need_command("timeout")
    ours, job = start_on(shell, ("", "exec sleep 60"), prefix="timeout 60")
    assert os.getpgid(job) != os.getpgid(ours)
    # A shell catches SIGINT: one that comes just before its exec is lost, with us or without.
    wait_until(lambda: "sleep" in map(name_of, children_of(job)), "the exec of the command")
    shell.send("\x03")
    wait_until(lambda: state_of(ours) is None, "the end")


def test_summary_waits_where_the_terminal_stops_background_output(shell):
    shell.send("stty tostop; echo do''ne\n")
    shell.expect(r"[\r\n]done")
    shell.send(f"{binary()} sleep 0.2 &\n")
    ours = wait_until(lambda: children_of(shell.pid), "the tracker")[0]
    wait_until(lambda: state_of(ours) == "T", "the stop")
    assert "finished" not in shell.text
    shell.send("fg\n")
    shell.expect("finished, exit 0")


def test_alarm_set_before_us_is_for_the_job():
    need_command("perl")
    done = run(["perl", "-e", "alarm 1; exec @ARGV", binary(), "-q", "sleep", "60"])
    assert done.returncode == -signal.SIGALRM


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_stay_closed_and_catch_nothing_of_ours(closed):
    job = "for n in 0 1 2; do test -e /proc/$$/fd/$n && echo $n; done > open; exit 7"
    plain = run(["sh", "-c", f"sh -c '{job}' {closed}"])
    expected = open("open").read()
    done = run(["sh", "-c", f"{binary()} -i 3600 -o rows.csv sh -c '{job}' {closed}"],
                          capture_output=True)
    assert done.returncode == plain.returncode == 7
    assert open("open").read() == expected
    assert len(open("rows.csv").read().splitlines()) == 2


def test_nobody_reads_our_messages():
    end, pipe = os.pipe()
    os.close(end)
    assert run([binary(), "sh", "-c", "exit 7"], stderr=pipe).returncode == 7
    os.close(pipe)


def test_full_pipe_that_does_not_block_is_not_waited_for():
    end, pipe = os.pipe()
    os.set_blocking(pipe, False)
    os.write(pipe, b"x" * fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ))
    begin = time.monotonic()
    assert run([binary(), "sh", "-c", "exit 7"], stderr=pipe).returncode == 7
    assert time.monotonic() - begin < 10
    os.close(end)
    os.close(pipe)


def test_full_disk_is_told_once_and_is_not_the_jobs_fault(open_folder):
    need_namespace("-m")
    script = (f"mount -t tmpfs -o size=8k none {open_folder} && cd {open_folder} &&"
              " head -c 4096 /dev/zero > filler && exec \"$@\"")
    done = run(["unshare", "-m", "sh", "-c", script, "sh", binary(), "-i", "0.005", "-o", "rows.csv",
                           "sh", "-c", "sleep 0.5; exit 7"], capture_output=True, text=True)
    assert done.returncode == 7
    assert done.stderr.count("No space left") == 1
    assert "incomplete" in done.stderr


def test_summary_file_is_not_replaced_without_force():
    with open("summary.json", "w") as file:
        file.write("precious")
    assert tracker("-q", "-s", "summary.json", "touch", "started").returncode == 125
    assert open("summary.json").read() == "precious"
    assert os.listdir(".") == ["summary.json"]
    assert tracker("-q", "--force", "-s", "summary.json", "true").returncode == 0
    assert "schema_version" in open("summary.json").read()
    assert os.listdir(".") == ["summary.json"]


def test_summary_file_through_a_link():
    open("target", "w").close()
    os.symlink("target", "link")
    assert tracker("-q", "--force", "-s", "link", "true").returncode == 0
    assert os.path.islink("link") and "schema_version" in open("target").read()


def test_summary_to_streams():
    assert "schema_version" in tracker("-q", "-s", "-", "true").stdout
    assert "schema_version" in tracker("-q", "-s", "/dev/stderr", "true").stderr


def test_command_that_is_not_there_leaves_no_output():
    assert tracker("-q", "-o", "rows.csv", "no-such-program-anywhere").returncode == 127
    assert os.listdir(".") == []


def test_pid_that_is_not_there_leaves_no_output():
    gone = popen(["true"])
    gone.wait()
    assert tracker("attach", "-o", "rows.csv", gone.pid).returncode == 1
    assert os.listdir(".") == []


def test_reader_that_has_enough_is_no_fault():
    line = f"set -o pipefail; {binary()} system -i 0.05 | head -3"
    done = run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 3)


def test_signal_death_as_the_first_process_of_a_container():
    """The kernel does not let it die of a signal, so the shell's number has to do."""
    need_namespace("-p", "-f", "--mount-proc")
    words = ["unshare", "-p", "-f", "--mount-proc", binary(), "-q", "sh", "-c", "kill -TERM $$"]
    assert run(words).returncode == 143


def test_attach_to_the_shell_that_started_us_leaves_us_out():
    line = f"{binary()} attach -i 0.05 -o rows.csv $$ & pid=$!; read line; kill -TERM $pid; wait $pid; echo status=$?"
    shell = popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_until(lambda: row_count("rows.csv") >= 3, "rows")
    assert finish(shell) == "status=0\n"
    assert {row["children"] for row in read_csv("rows.csv")} == {0}


def test_attach_ends_with_its_process():
    job = popen(["sleep", "60"])
    watching = popen([binary(), "attach", "-i", "0.1", job.pid], stdout=subprocess.PIPE, text=True)
    lines = [watching.stdout.readline() for _ in range(4)]
    job.kill()
    job.wait()
    rest = watching.stdout.read()
    assert watching.wait() == 0 and all(lines) and len(rest.splitlines()) >= 1

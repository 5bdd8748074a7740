"""The exit status is the job's; our own errors have the numbers that wrappers use."""

import os
import resource
import signal
from pathlib import Path

import pytest
from helpers import binary, need_namespace, popen, run, tracker

SURVIVED = {signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT}
STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
DEADLY = sorted(int(s) for s in signal.valid_signals() - SURVIVED - STOPPING)


def test_a_command_that_can_not_run_leaves_no_record(tmp_path):
    done = tracker("no-such-command-at-all")
    assert done.returncode == 127
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file()]


def test_all_exit_codes():
    for code in range(256):
        done = tracker("-q", "sh", "-c", f"exit {code}")
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def allow_core_files():
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def test_every_deadly_signal_is_our_death_too():
    """And no core file of ours, whatever the limit: the job alone may leave one."""
    for number in DEADLY:
        done = tracker("-q", "sh", "-c", f"ulimit -c 0; kill -{number} $$",
                       preexec_fn=allow_core_files)
        assert (done.returncode, done.stderr) == (-number, "")
    assert os.listdir(".") == []


def test_signals_that_do_not_kill():
    for number in SURVIVED:
        assert tracker("-q", "sh", "-c", f"kill -{int(number)} $$; exit 5").returncode == 5


def test_a_shell_sees_the_status_of_a_killed_job():
    line = f"{binary()} -q sh -c 'kill -TERM $$'; echo $?"
    done = run(["sh", "-c", line], capture_output=True, text=True)
    assert done.stdout == "143\n"


def make_script(name, text, mode=0o755):
    Path(name).write_text(text)
    os.chmod(name, mode)
    return os.path.abspath(name)


@pytest.mark.parametrize("command", ["no-such-program-anywhere", "/no/such/program", "./missing"])
def test_not_found_is_127(command):
    done = tracker("-q", command)
    assert done.returncode == 127
    assert command in done.stderr and done.stderr.count("\n") == 1


def test_missing_interpreter_is_127():
    assert tracker("-q", make_script("script", "#!/no/such/interpreter\n")).returncode == 127


def test_not_executable_is_126():
    done = tracker("-q", make_script("plain", "#!/bin/sh\nexit 0\n", mode=0o644))
    assert done.returncode == 126
    assert "plain" in done.stderr and done.stderr.count("\n") == 1


def test_directory_is_126():
    os.mkdir("folder", 0o755)
    assert tracker("-q", "./folder").returncode == 126


def test_script_without_interpreter_line_runs_through_sh():
    done = tracker("-q", make_script("bare", 'echo "$1"\nexit 3\n'), "hello")
    assert (done.returncode, done.stdout) == (3, "hello\n")


def test_command_is_found_in_path(monkeypatch):
    os.mkdir("tools")
    make_script("tools/my-tool", "#!/bin/sh\nexit 9\n")
    monkeypatch.setenv("PATH", f"{os.getcwd()}/tools:{os.environ['PATH']}")
    assert tracker("-q", "my-tool").returncode == 9


def test_failure_to_exec_leaves_no_rows_that_look_like_a_job():
    done = tracker("-q", "-s", "summary.json", "-o", "rows.csv", "/no/such/program")
    assert done.returncode == 127
    rows = Path("rows.csv")
    assert not rows.exists() or len(rows.read_text().splitlines()) <= 1


OUR_ERRORS = [
    pytest.param(["-o", "no/such/folder/rows.csv"], id="output in no folder"),
    pytest.param(["-o", "."], id="output is a folder"),
    pytest.param(["-o", "present.csv"], id="output exists"),
    pytest.param(["-s", "no/such/folder/summary.json"], id="summary in no folder"),
    pytest.param(["--no-such-option"], id="unknown option"),
    pytest.param(["-i"], id="option without its value"),
    pytest.param(["-i", "0"], id="interval of zero"),
    pytest.param(["-i", "0.0005"], id="interval under a millisecond"),
    pytest.param(["-i", "3601"], id="interval over an hour"),
    pytest.param(["-i", "-1"], id="negative interval"),
    pytest.param(["-i", "soon"], id="interval is no number"),
    pytest.param(["-i", "nan"], id="interval is not a number"),
    pytest.param(["--schema", "v9"], id="unknown schema"),
    pytest.param(["--rows", "some"], id="unknown rows"),
    pytest.param(["-f", "xml", "-o", "rows.xml"], id="unknown format"),
    pytest.param(["--timeout", "never"], id="timeout is no number"),
]


@pytest.mark.parametrize("options", OUR_ERRORS)
def test_our_error_is_125_before_the_job_starts(options):
    Path("present.csv").write_text("precious\n")
    done = tracker(*options, "touch", "started")
    assert done.returncode == 125
    assert done.stderr.startswith("resource-tracker: ")
    assert not os.path.exists("started")
    assert Path("present.csv").read_text() == "precious\n"


def test_no_command_is_125():
    assert tracker().returncode == 125
    assert tracker("--").returncode == 125


def test_attach_to_nothing_fails():
    """1: there is no such process; 2: no process can have that PID."""
    gone = popen(["true"])
    gone.wait()
    for pid, code in ((gone.pid, 1), *((word, 2) for word in ("0", "-1", "x", "99999999999999999999", ""))):
        done = tracker("attach", "--", pid)
        assert done.returncode == code, pid
        assert done.stdout == "" and done.stderr.startswith("resource-tracker: "), pid


def test_force_replaces_the_output():
    Path("rows.csv").write_text("old\n" * 1000)
    assert tracker("-q", "--force", "-o", "rows.csv", "true").returncode == 0
    assert "old" not in Path("rows.csv").read_text()


def test_read_only_file_system_is_125(open_folder):
    need_namespace("-m")
    script = f"mount -t tmpfs -o ro none {open_folder} && exec \"$@\""
    done = run(["unshare", "-m", "sh", "-c", script, "sh", binary(), "-o",
                           f"{open_folder}/rows.csv", "touch", "started"],
                          capture_output=True, text=True)
    assert done.returncode == 125
    assert not os.path.exists("started")


def test_subcommand_words_after_dashes_are_programs(monkeypatch):
    os.mkdir("tools")
    make_script("tools/report", "#!/bin/sh\nexit 21\n")
    monkeypatch.setenv("PATH", f"{os.getcwd()}/tools:{os.environ['PATH']}")
    assert tracker("-q", "--", "report").returncode == 21


def test_options_of_the_command_are_its_own():
    done = tracker("-q", "echo", "-i", "--help", "--", "-q")
    assert done.stdout == "-i --help -- -q\n"


def test_version_and_help():
    for flag in ("-V", "--version", "-h", "--help"):
        done = tracker(flag)
        assert done.returncode == 0 and done.stdout and not done.stderr

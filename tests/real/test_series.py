"""Several runs one after the other: --repeat, --warmup, --prepare, --compare; gates; baselines; the script of docs/ci.md."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import (
    REPOSITORY,
    Terminal,
    binary,
    descendants,
    is_running,
    name_of,
    only_child,
    run,
    start,
    tracker,
    wait_until,
    workload,
)

GATE_SCRIPT = REPOSITORY / "docs" / "examples" / "ci_gate.sh"


def runs(*options):
    return json.loads(tracker("runs", "list", "--json", *options).stdout)["runs"]


# ---- how often, in which order -----------------------------------------------------------------


def test_runs_are_counted_and_kept():
    done = tracker("--repeat", 3, "--warmup", 2, "--prepare", "echo prepared >> log", "sh", "-c", "echo job >> log")
    assert done.returncode == 0, done.stderr
    assert Path("log").read_text() == "prepared\njob\n" * 5
    assert len(runs()) == 3  # warm-ups are not kept
    assert "median of 3" in done.stderr and "wall time" in done.stderr


def test_commands_take_turns():
    done = tracker("--compare", "--repeat", 3, "printf a >> log", "printf b >> log")
    assert done.returncode == 0, done.stderr
    assert Path("log").read_text() == "ababab"
    assert "base (3)" in done.stderr and "new (3)" in done.stderr


def test_the_summary_of_a_series_is_the_comparison():
    done = tracker("-q", "--repeat", 4, "-s", "series.json", "true")
    assert (done.returncode, done.stderr) == (0, "")
    figures = {figure["figure"]: figure for figure in json.loads(Path("series.json").read_text())["figures"]}
    assert len(figures["wall_seconds"]["new"]["values"]) == 4
    assert figures["wall_seconds"]["base"] is None


def test_output_of_the_job_is_its_own():
    done = tracker("-q", "--repeat", 2, "echo", "x")
    assert done.stdout == "x\nx\n"


@pytest.mark.parametrize("options, message", [
    (["--repeat", "2", "-o", "rows.csv"], "--output holds one run"),
    (["--compare"], "--compare needs 2 to 16 commands"),
    (["--repeat", "0"], "--repeat: '0' is not a whole number from 1 to 1000"),
])
def test_wrong_options(options, message):
    done = tracker(*options, "touch", "started")
    if options == ["--compare"]:
        done = tracker("--compare", "touch started")
    assert done.returncode == 125
    assert message in done.stderr
    assert not Path("started").exists()


# ---- failures and signals ----------------------------------------------------------------------


def test_a_failure_ends_the_series():
    done = tracker("--repeat", 5, "sh", "-c", "echo >> log; [ $(wc -l < log) -lt 3 ] || exit 7")
    assert done.returncode == 7
    assert len(Path("log").read_text()) == 3
    assert "run 3 of 5 failed with exit 7; the series ends" in done.stderr
    assert "median of 2" in done.stderr


@pytest.mark.parametrize("options, line", [
    (["--warmup", 2, "--repeat", 3, "false"], "warm-up 1 of 2 failed with exit 1; the series ends"),
    (["--compare", "--repeat", 3, "true", "exit 3"], "run 1 of 3 of 'exit 3' failed with exit 3; the series ends"),
    (["--repeat", 3, "--timeout", "0.2", "sleep", 1000], "run 1 of 3 ended at its time limit; the series ends"),
    (["--repeat", 3, "sh", "-c", "kill -KILL $$"], "run 1 of 3 was killed by signal 9; the series ends"),
])
def test_a_series_says_why_it_ends(options, line):
    done = tracker(*options)
    assert done.returncode != 0
    assert f"resource-tracker: {line}\n" in done.stderr


def test_all_runs_read_the_same_input():
    Path("input").write_text("line\n")
    with open("input", encoding="ascii") as given:
        assert tracker("-q", "--repeat", 3, "cat", stdin=given).stdout == "line\n" * 3
    read, write = os.pipe()
    os.write(write, b"for the first alone\n")
    os.close(write)
    assert tracker("-q", "--repeat", 2, "sh", "-c", "cat; echo end", stdin=read).stdout == "end\nend\n"
    os.close(read)


def test_gates_hold_for_all_commands():
    done = tracker("-q", "--compare", "--repeat", 2, "--fail-if", "wall_seconds > 150ms", "--fail-if", "wall_seconds > base + 1h",
                   "sleep 0.2", "true")
    assert done.returncode == 1
    assert done.stderr.startswith("resource-tracker: 'sleep 0.2': gate 'wall_seconds > 150ms' failed: wall_seconds is ")
    assert "base + 1h" not in done.stderr


def test_outliers_go_by_their_run():
    done = tracker("--repeat", 6, "sh", "-c", "echo >> log; [ $(wc -l < log) -ne 6 ] || sleep 0.7")
    assert f"run {runs()[0]['id']}: wall_seconds is " in done.stderr


def test_a_failure_can_be_ignored():
    done = tracker("--repeat", 3, "--ignore-failure", "sh", "-c", "echo >> log; exit 7")
    assert done.returncode == 0
    assert len(Path("log").read_text()) == 3


def test_the_failure_of_a_preparation_ends_the_series():
    done = tracker("--repeat", 3, "--prepare", "exit 4", "touch", "started")
    assert done.returncode == 125
    assert "--prepare failed with exit 4" in done.stderr
    assert not Path("started").exists()


def test_a_command_that_does_not_exist():
    assert tracker("--repeat", 3, "no-such-program").returncode == 127


def test_a_job_killed_by_a_signal():
    done = tracker("--repeat", 3, "sh", "-c", "echo >> log; kill -KILL $$")
    assert done.returncode == -signal.SIGKILL
    assert len(Path("log").read_text()) == 1


@pytest.mark.parametrize("handler", ["", "trap 'exit 0' TERM; "])
def test_a_signal_ends_the_series(handler):
    """Also where the job catches it and exits as if nothing had happened."""
    process = start("--repeat", 5, "--ignore-failure", "sh", "-c", f"{handler}echo ready; while :; do sleep 0.05; done")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM
    assert "ended by SIGTERM; 0 of 5 runs are complete" in process.stderr.read()


def test_a_signal_during_the_preparation():
    process = start("--repeat", 5, "--prepare", "echo ready; exec sleep 1000", "touch", "started")
    assert process.stdout.readline() == "ready\n"
    child = only_child(process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM
    assert not Path("started").exists()
    wait_until(lambda: not is_running(child), "the end of the preparation")


def test_ctrl_c_on_a_terminal():
    with Terminal(binary(), "--repeat", "5", "sleep", "1000", TERM="xterm") as terminal:
        terminal.expect("run 1 of 5")
        wait_until(lambda: "sleep" in map(name_of, descendants(terminal.pid)), "the job")
        terminal.send("\x03")
        assert terminal.wait() == -signal.SIGINT
    assert "run 2 of 5" not in terminal.text


def test_progress_has_lines_of_its_own():
    with Terminal(binary(), "--repeat", "3", "sh", "-c", "echo output; sleep 0.6", TERM="xterm") as terminal:
        assert terminal.wait() == 0
    lines = [line for line in terminal.text.splitlines() if "output" in line or " of 3" in line]
    assert lines[:2] == ["resource-tracker: run 1 of 3", "output"]
    assert lines.count("output") == 3
    assert any(line.startswith("resource-tracker: run 3 of 3, about ") for line in lines)
    assert "run 1 of 3" not in tracker("--repeat", 3, "true").stderr


# ---- gates -------------------------------------------------------------------------------------


def hold(mib):
    return [sys.executable, "-c", f"x = bytearray(b'x') * ({mib} << 20); print(len(x))"]


def test_a_gate_fails_after_the_job():
    done = tracker("-q", "--fail-if", "peak_memory > 16MiB", *hold(40))
    assert done.returncode == 1
    assert done.stdout == f"{40 << 20}\n"
    assert done.stderr.startswith("resource-tracker: gate 'peak_memory > 16MiB' failed: peak_memory is ")
    assert done.stderr.count("\n") == 1


def test_a_gate_that_is_passed_is_silent():
    done = tracker("-q", "--fail-if", "peak_memory > 1GiB", "--fail-if", "wall_seconds > 1h", *hold(1))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_failure_of_the_job_wins():
    done = tracker("-q", "--fail-if", "wall_seconds > 0s", "sh", "-c", "exit 9")
    assert done.returncode == 9
    assert "gate 'wall_seconds > 0s' failed" in done.stderr


@pytest.mark.parametrize("gate, message", [
    ("peak_memory > 2", "expected a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB) at the end"),
    ("cpu_seconds > base + 10%", "needs a base; give --base"),
])
def test_gates_are_read_before_the_job_starts(gate, message):
    done = tracker("--fail-if", gate, "touch", "started")
    assert done.returncode == 125
    assert message in done.stderr
    assert not Path("started").exists()


def test_a_base_is_loaded_before_the_job_starts():
    done = tracker("--base", "nothing", "touch", "started")
    assert done.returncode == 125
    assert "no such run, file, folder, baseline or key: nothing" in done.stderr
    assert not Path("started").exists()


def test_uncertain_fails_only_if_strict():
    """gpu_seconds are not measured where there is no GPU; a bracket is as uncertain."""
    gate = ["-q", "--sources", "wait4", "--fail-if", "gpu_seconds > 1s"]
    assert tracker(*gate, "true").returncode == 0
    done = tracker(*gate, "--strict", "true")
    assert done.returncode == 1
    assert "cannot be checked: gpu_seconds was not measured (--strict)" in done.stderr


# ---- baselines ---------------------------------------------------------------------------------


def test_a_run_is_held_against_a_baseline():
    assert tracker("-q", "--repeat", 4, "--key", "job", "true").returncode == 0
    assert tracker("baseline", "save", "main", "job").stdout == ".resource-tracker/main.json: 4 runs\n"
    done = tracker("--base", "main", "--fail-if", "wall_seconds > base + 1h", "true")
    assert done.returncode == 0, done.stderr
    assert "base (4)" in done.stderr and "this run" in done.stderr
    shown = tracker("baseline", "show", "main")
    assert "median of 4" in shown.stdout and "wall time" in shown.stdout


def test_a_run_that_goes_on_is_named_and_not_saved():
    process = start("-q", "sh", "-c", "echo ready; read line", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    wait_until(runs, "the run in the list")
    found = runs()[0]["id"]
    done = tracker("compare", found, found)
    assert f"note: run {found} is still running" in done.stderr
    done = tracker("baseline", "save", "main", found)
    assert done.returncode == 1
    assert ".resource-tracker/main.json: a run has not ended; save it when it has" in done.stderr
    assert not Path(".resource-tracker").exists()
    process.stdin.close()
    assert process.wait() == 1


def test_baselines_of_two_branches_merge():
    """Both add a run at the same place; with merge=union both lines stay, and the file is valid."""
    def git(*words):
        run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)

    def add_run(key):
        assert tracker("-q", "--key", key, "true").returncode == 0
        sides = [".resource-tracker/main.json"] if Path(".resource-tracker").exists() else []
        assert tracker("baseline", "save", "main", *sides, key).returncode == 0
        git("add", ".")
        git("commit", "-m", key)

    git("init", "-b", "one", ".")
    Path(".gitattributes").write_text(".resource-tracker/*.json merge=union\n")
    add_run("first")
    git("checkout", "-b", "other")
    add_run("second")
    git("checkout", "one")
    add_run("third")
    git("merge", "other")
    saved = json.loads(Path(".resource-tracker/main.json").read_text())
    assert saved["baseline_version"] == 1 and saved["runs"][-1] is None
    labels = {line["run"] for line in saved["runs"][:-1]}
    assert labels == {found["id"] for found in runs()} and len(labels) == 3
    assert "median of 3" in tracker("baseline", "show", "main").stdout
    before = Path(".resource-tracker/main.json").read_bytes()
    assert tracker("baseline", "save", "main", ".resource-tracker/main.json").returncode == 0
    assert sorted(Path(".resource-tracker/main.json").read_bytes().splitlines()) == sorted(before.splitlines())


def test_wrong_sides():
    done = tracker("compare", "a", "b")
    assert done.returncode == 1
    assert "no such run, file, folder, baseline or key: a; resource-tracker runs lists the runs" in done.stderr
    assert tracker("compare", "a").returncode == 2
    assert tracker("baseline", "keep", "a").returncode == 2
    Path("damaged.json").write_text('{"baseline_version": 1, "runs": [{"run": "a"')
    done = tracker("compare", "damaged.json", "damaged.json")
    assert done.returncode == 1
    assert "damaged.json" in done.stderr


# ---- the script of docs/ci.md ------------------------------------------------------------------


def gate_script(summary="summary.md", **variables):
    folder = Path("bin")
    folder.mkdir(exist_ok=True)
    if not (folder / "resource-tracker").exists():
        (folder / "resource-tracker").symlink_to(binary())
    return run([GATE_SCRIPT, "job", "sh", "job.sh"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
               env={**os.environ, "PATH": f"{folder.absolute()}:{os.environ['PATH']}", "SUMMARY": summary, **variables})


def write_job(mib, comment=""):
    Path("job.sh").write_text(f"exec {workload('hold_mib')} {mib} {comment}\n")


@pytest.mark.timeout(900)  # 65 runs, on a machine of any load
def test_the_script_finds_a_change_that_doubles_memory():
    write_job(40)
    made = gate_script()
    assert made.returncode == 0, made.stderr
    assert made.stdout == ".resource-tracker/job.json: 5 runs\n"
    assert not Path("summary.md").exists()

    for change in range(10):
        write_job(40, f"# neutral change {change}")
        passed = gate_script()
        assert passed.returncode == 0, passed.stderr

    write_job(90)
    failed = gate_script(summary="failed.md")
    assert failed.returncode == 1, failed.stderr
    lines = [line for line in failed.stderr.splitlines() if "gate" in line]
    assert len(lines) == 1
    assert lines[0].startswith("resource-tracker: gate 'peak_memory > base + 20%' failed: peak_memory is ")
    text = Path("failed.md").read_text()
    assert "| memory |" in text and "more memory, 95 % CI" in text
    assert r"- **gate 'peak\_memory \> base + 20%' failed: " in text

    updated = gate_script(UPDATE="1")
    assert updated.returncode == 0, updated.stderr
    assert gate_script().returncode == 0


def test_the_script_reads_its_gates_before_the_job():
    Path("job.sh").write_text("touch started\n")
    for _ in range(2):
        done = gate_script(GATES="peak_memory > 2")
        assert done.returncode == 2
        assert "expected a unit" in done.stderr and "cannot be checked" not in done.stderr
        assert not Path("started").exists()
        Path(".resource-tracker").mkdir(exist_ok=True)
        Path(".resource-tracker/job.json").write_text('{"baseline_version":1,"runs":[{"run":"a","cpu_seconds":1},null]}')
    assert run([GATE_SCRIPT], capture_output=True, text=True).stderr.startswith("usage: ")


def test_the_script_takes_several_gates():
    write_job(1)
    assert gate_script(RUNS="1").returncode == 0
    done = gate_script(RUNS="1", GATES="wall_seconds > base + 1h\n   \n  cpu_seconds >= 0s\n\n")
    assert done.returncode == 1
    assert "gate 'cpu_seconds >= 0s' failed" in done.stderr

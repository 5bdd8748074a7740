"""An observation log, replayed without a kernel, gives exactly the totals of the run that wrote it."""

import os
from pathlib import Path

import helpers
import pytest
from known import Run, need_source

# Name: (words of the job, interval in seconds).
JOBS = {
    "reaped": (("brief", 100, 3, "reap"), 1),
    "ignored": (("brief", 100, 3, "ignore"), 1),
    "ignored, many rows": (("brief", 100, 3, "ignore"), 0.05),
    "storm": (("storm", 0.8, 0.1), 0.2),
    "levels": (("levels", 5, 8, 8), 0.05),
    "spike": (("spike", 300, 50, 1), 0.1),
    "overlap": (("overlap", 50, 3, 100), 0.05),
    "daemon": (("daemon", 0.6), 0.1),
}
# Name in the output of replay_log: where it is in the totals of --summary.
FIGURES = {
    "cpu_seconds": ("cpu_seconds", "value"),
    "cpu_user_seconds": ("cpu_seconds", "user"),
    "cpu_system_seconds": ("cpu_seconds", "system"),
    "cpu_sampled_seconds": ("cpu_seconds", "sampled"),
    "peak_memory_bytes": ("peak_memory_bytes", "value"),
    "peak_memory_low_bytes": ("peak_memory_bytes", "low"),
    "peak_memory_high_bytes": ("peak_memory_bytes", "high"),
    "peak_memory_sampled_bytes": ("peak_memory_bytes", "sampled"),
    "peak_memory_sampled_low_bytes": ("peak_memory_bytes", "sampled_low"),
    "peak_memory_sampled_high_bytes": ("peak_memory_bytes", "sampled_high"),
    "memory_estimated_ratio": ("peak_memory_bytes", "estimated_ratio"),
    "read_bytes": ("read_bytes", "value"),
    "write_bytes": ("write_bytes", "value"),
    "processes": ("processes", "value"),
    "oom_kills": ("oom_kills", "value"),
}
SOURCES = ["cpu_seconds", "peak_memory_bytes", "read_bytes", "write_bytes", "processes", "oom_kills"]


def replay_program():
    """Beside the tracker that was built."""
    built = Path(os.environ.get("TRK_BIN", helpers.REPOSITORY / "build" / "resource-tracker"))
    program = built.parent / "tools" / "replay_log"
    helpers.need(program.exists(), f"{program} was not built")
    return program


def replay(log):
    """{name: [value, source]} as printed; None for what is unknown."""
    text = helpers.run([replay_program(), log], capture_output=True, text=True, check=True).stdout
    return {name: [None if word == "-" else word for word in words]
            for name, *words in map(str.split, text.splitlines())}


def check_equal(run, log):
    replayed = replay(log)
    for name, (total, key) in FIGURES.items():
        value = replayed[name][0]
        assert (None if value is None else float(value)) == run.totals[total][key], name
    for name in SOURCES:
        assert replayed[name][1] == run.totals[name]["source"], name
    assert replayed["cpu_is_lower_bound"] == ["1" if run.cpu["coverage"] is None else "0"]
    assert replayed["exit_code"] == [str(run.summary["exit_code"])]


@pytest.mark.parametrize("name", JOBS, ids=lambda name: name.replace(" ", "-"))
def test_totals_are_those_of_the_run(half, folder, name):
    words, interval = JOBS[name]
    log = folder / "observations.log"
    check_equal(Run(half, folder, *words, interval=interval, options=["--observation-log", str(log)]), log)


@pytest.mark.parametrize("sources", [("wait4",), ("wait4", "perf", "hwm"), ("wait4", "events", "hwm")],
                         ids="+".join)
def test_totals_of_few_sources(half, folder, sources):
    need_source(half, *sources)
    log = folder / "observations.log"
    check_equal(Run(half, folder, "brief", 60, 3, "ignore", sources=sources, interval=0.1,
                    options=["--observation-log", str(log)]), log)


def test_totals_of_exit_stops(half, folder):
    need_source(half, "ptrace")
    log = folder / "observations.log"
    check_equal(Run(half, folder, "levels", 3, 4, 8, interval=0.1,
                    options=["--trace-exits", "--observation-log", str(log)]), log)


def test_a_line_that_is_none_is_reported(folder):
    log = folder / "observations.log"
    Run("user", folder, "brief", 3, 1, "reap", options=["--observation-log", str(log)])
    lines = log.read_text().splitlines()
    lines[2] = "nothing 1 2"
    log.write_text("\n".join(lines))
    done = helpers.run([replay_program(), log], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"{log}:3: not a line of an observation log of this version\n"

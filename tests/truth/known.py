"""Running a job that knows its truth under the tracker, with a choice of sources."""

import contextlib
import functools
import itertools
import json
import os
import re
from pathlib import Path

import helpers

HERE = Path(__file__).resolve().parent
MIB = 1 << 20

# What must be there on the build machine; the rest may be.
EXPECTED = {"user": {"wait4", "events", "hwm", "perf"},
            "root": {"wait4", "events", "hwm", "perf", "taskstats"}}


@functools.lru_cache(maxsize=None)
def program(name):
    """The path of a program of this suite, compiled when first asked for."""
    target = helpers.shared_folder() / name
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-pthread"]
    helpers.run([os.environ.get("CC", "cc"), *flags, "-o", target, HERE / "workloads" / f"{name}.c"], check=True)
    return str(target)


def job():
    """The program of all workloads."""
    return program("known_truth")


def rights(half, *command):
    return helpers.as_nobody(*command) if half == "user" else list(command)


@functools.lru_cache(maxsize=None)
def info(half, around=()):
    """What `info` says: {name: (available, what it gives or why not)}."""
    text = helpers.run([*around, *rights(half, helpers.binary(), "info", "--cloud=off")], capture_output=True,
                          text=True, check=True).stdout
    lines = re.findall(r"(?m)^  (\w+) +(yes|no) +(.*)$", text)
    return {name: (answer == "yes", words) for name, answer, words in lines}


def available(half, around=()):
    """Names of the sources that `info` reports."""
    return {name for name, (is_there, _) in info(half, around).items() if is_there}


def need_source(half, *names):
    missing = set(names) - available(half)
    helpers.need(not missing, f"not available: {', '.join(sorted(missing))}")


GROUP_NUMBERS = itertools.count()


@contextlib.contextmanager
def counting_group():
    """A cgroup that counts CPU time, of either version; None where none can be made."""
    parents = [Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup/cpu,cpuacct"), Path("/sys/fs/cgroup")]
    parent = next(path for path in parents if (path / "cgroup.procs").exists() or path == parents[-1])
    group = parent / f"tracker-truth-{os.getpid()}-{next(GROUP_NUMBERS)}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    yield group
    helpers.wait_until(lambda: remove_group(group), f"the end of all in {group}")


def remove_group(group):
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


class Run:
    """One job under the tracker: `said` is what it knows, `totals` what the tracker says. `around`: words before
    the tracker's, which prepare the world that it runs in. `counted`: `outside_seconds` is said as well where it can
    be known, what a cgroup has counted of the job from outside."""

    def __init__(self, half, folder, *words, sources=None, interval=1, options=(), around=(), counted=False):
        summary = folder / "summary.json"
        summary.unlink(missing_ok=True)
        chosen = ["--sources", ",".join(sources)] if sources else []
        command = rights(half, helpers.binary(), "-q", "--no-save", "--wait", "-i", str(interval), "-s", str(summary),
                         *chosen, *options, "--", job(), *map(str, words))
        outside = folder / "outside"
        with counting_group() if counted else contextlib.nullcontext() as group:
            if group:
                command = [program("outside"), str(group), str(outside), *command]
            self.done = helpers.run([*around, *command], capture_output=True, text=True, cwd=folder)
        assert self.done.returncode == 0, self.done.stderr
        self.summary = json.loads(summary.read_text())
        self.totals = self.summary["totals"]
        self.said = helpers.numbers_of(self.done.stdout)
        if group:
            self.said["outside_seconds"] = int(outside.read_text()) * 1e-9

    @property
    def cpu(self):
        return self.totals["cpu_seconds"]

    @property
    def peak(self):
        return self.totals["peak_memory_bytes"]

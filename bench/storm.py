#!/usr/bin/env python3
"""What the sources of exact totals cost a job that does nothing but fork: its own CPU time, by its own rusage, with
each choice of sources against none, alternating. `bench/storm.py --tracker FILE` prints the table alone.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROUNDS = 21
PROCESSES = 2000
NOBODY = "65534"
AS_USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

# name, words before the tracker's own, the tracker's options, most that may be added to the job's CPU time
CHOICES = [
    ("wait4", [], ["--sources", "wait4"], 0.03),
    ("wait4, cgroup", [], ["--sources", "wait4,cgroup"], 0.03),
    ("wait4, perf", [], ["--sources", "wait4,perf"], 0.10),
    ("wait4, events", [], ["--sources", "wait4,events"], 0.15),
    ("all, as root", [], [], 0.15),
    ("all, as a user", AS_USER, [], 0.15),
    ("--trace-exits", [], ["--trace-exits"], None),
]


def compile_job(folder, name="known_truth"):
    job = os.path.join(folder, name)
    source = os.path.join(ROOT, "tests", "truth", "workloads", name + ".c")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-pthread", "-o", job, source],
                   check=True)
    return job


def run_storm(before, job, folder):
    """CPU seconds of the storm by its own account, and how long it took."""
    done = subprocess.run([*before, job, "brief", str(PROCESSES), "0", "reap"], cwd=folder, capture_output=True,
                          text=True, check=True)
    said = {name: float(value) for name, value in re.findall(r"(?m)^(\w+) ([\d.]+)$", done.stdout)}
    return said["children_seconds"] + said["self_seconds"], said["wall_seconds"]


class Choice:
    def __init__(self, choice, tracker, folder):
        self.name, prefix, options, self.bound = choice
        self.summary = os.path.join(folder, "storm.json")
        self.words = [*prefix, tracker, "-q", "--no-save", "--force", "-s", self.summary, *options, "--"]
        self.seconds, self.ratios, self.waits, self.own = [], [], [], []
        self.dropped = 0  # runs in which process events were given up

    def run(self, job, folder, bare):
        seconds, wall = run_storm(self.words, job, folder)
        self.seconds.append(seconds)
        self.ratios.append(seconds / bare[0])
        self.waits.append(wall - bare[1])
        with open(self.summary, encoding="utf-8") as file:
            summary = json.load(file)
        self.dropped += any("given up" in note for note in summary["notes"])
        self.own.append(summary["overhead"]["cpu_seconds"])
        os.unlink(self.summary)

    def line(self, bare):
        added = statistics.median(self.ratios) - 1
        each = (statistics.median(self.seconds) - bare) / PROCESSES * 1e6
        bound = "" if self.bound is None else f"{self.bound:.0%}{'' if added <= self.bound else ', missed'}"
        wait = statistics.median(self.waits) / PROCESSES * 1e6
        own = statistics.median(self.own) / PROCESSES * 1e6
        given_up = f"{self.dropped} of {len(self.seconds)}" if self.dropped else ""
        return (f"| {self.name} | {added:+.1%} | {bound} | {each:+.1f} us | {wait:+.1f} us | {own:.1f} us | {given_up} |"
                .replace("%", " %"))


def measure(tracker, job, folder, rounds=ROUNDS):
    """Lines of a table, one a choice."""
    is_root = os.geteuid() == 0
    choices = [Choice(choice, tracker, folder) for choice in CHOICES
               if is_root or not (choice[1] or "root" in choice[0] or "cgroup" in choice[0])]
    bare = []
    for i in range(rounds):
        print(f"storm: round {i + 1} of {rounds}", file=sys.stderr, flush=True)
        for choice in choices[i % len(choices):] + choices[:i % len(choices)]:
            bare.append(run_storm([], job, folder))
            choice.run(job, folder, bare[-1])
    used, wall = (statistics.median(column) for column in zip(*bare))
    return [f"| no tracker | | | {used / PROCESSES * 1e6:.1f} us | {wall / PROCESSES * 1e6:.1f} us | | |",
            *(choice.line(used) for choice in choices)]


def section(tracker, job, folder, rounds=ROUNDS):
    return (f"## What the sources cost a storm\n\nA job that forks {PROCESSES} processes one after the other, each of "
            "which ends at once: the CPU time that it says to have\nused itself (its own and its children's), under each "
            f"choice of sources, against the run without a tracker just before it;\nmedians of {rounds}. Above 2,000 "
            "exits a second events are given up where another source gives the total, and the record\nsays so. Written "
            "by `bench/accuracy` (`bench/storm.py`).\n\n"
            "| sources | added to the job's CPU time | at most | CPU for each process | time for each process | "
            "the tracker's own CPU | events given up |\n|---|---|---|---|---|---|---|\n"
            + "\n".join(measure(tracker, job, folder, rounds)) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracker", default=os.path.join(ROOT, "build-bench", "resource-tracker"))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="storm-") as folder:
        os.chmod(folder, 0o777)
        program = os.path.join(folder, "resource-tracker")
        shutil.copy(arguments.tracker, program)
        print(section(program, compile_job(folder), folder, arguments.rounds))


if __name__ == "__main__":
    main()

"""build/gpu-tracker beside the Python package gpu-tracker: the same calls, the same jobs."""

import json
import os
import subprocess
import sys
import time

import measure
import peers

PACKAGE = "gpu-tracker==5.0.1"
TREE_PROCESSES = 20
START_SECONDS = 6.0  # imports, the first rounds
JOB_SECONDS = 4
MIB = 1 << 20

# Holds what it says for as long as it says; the truth is in the words, beyond what the same job has that holds nothing.
# `shared` makes two segments that a child maps too.
HOLD = """
import mmap, os, sys, time
kind, mib, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
def touched(memory):  # 0 MiB is a page
    for i in range(0, len(memory), 4096):
        memory[i] = 1
    return memory
if kind == "shared":
    held = [touched(mmap.mmap(-1, mib << 20 or 4096)) for _ in range(2)]
    if os.fork() == 0:
        held = [touched(memory) for memory in held]
        time.sleep(seconds)
        os._exit(0)
    time.sleep(seconds)
    os.wait()
else:
    held = touched(mmap.mmap(-1, mib << 20 or 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    time.sleep(seconds)
"""

# A parent and its workers, each with what it allocates at a time, as a pool of Python's own has them.
WORKERS = """
import multiprocessing, sys, time
def work(_):
    held = bytearray(10_000_000)
    while True:
        time.sleep(60)
if __name__ == "__main__":
    workers = [multiprocessing.Process(target=work, args=(i,)) for i in range(int(sys.argv[1]) - 1)]
    for worker in workers:
        worker.start()
    sys.stdin.read()
    for worker in workers:
        worker.kill()
"""

# name, words of the job, which figure, what is known of it; None: the two are held against each other
JOBS = [
    ("private RSS, 256 MiB held", ("hold", 256, JOB_SECONDS), "private_rss", None),
    ("total RSS, 256 MiB held", ("hold", 256, JOB_SECONDS), "total_rss", None),
    ("shared RSS, two segments of 100 MiB", ("shared", 100, JOB_SECONDS), "shared_rss", 200 * MIB),
]


def install(build):
    """The package's command; raises NotMeasured."""
    peer = peers.python_peer("gpu-tracker", PACKAGE, [PACKAGE], build, None)
    return os.path.join(os.path.dirname(peer.python), "gpu-tracker")


# ---- cost ------------------------------------------------------------------------------------


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def tracker_pids(root):
    """The tracker's own processes: all but the job, which is the first child."""
    found = [root]
    for pid in found:
        found += [child for child in peers.children_of(pid) if name_of(child) == name_of(root)]
    return found


def cost_once(program, words, job, seconds):
    """ms of CPU a minute while a steady tree is tracked at the default interval."""
    tracker = subprocess.Popen([program, *words, "-e", job], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        time.sleep(START_SECONDS)
        pids = tracker_pids(tracker.pid)
        before = measure.cpu_seconds(pids)
        time.sleep(seconds)
        return (measure.cpu_seconds(pids) - before) * 1000 * 60 / seconds
    finally:
        tracker.stdin.close()
        tracker.wait(timeout=30)


# ---- figures ---------------------------------------------------------------------------------


def figures_of(program, words, job, scratch):
    script, out = os.path.join(scratch, "hold.py"), os.path.join(scratch, "usage.json")
    with open(script, "w", encoding="ascii") as file:
        file.write(HOLD)
    command = f"{sys.executable} {script} {' '.join(map(str, job))}"
    subprocess.run([program, *words, "-e", command, "--ru=bytes", "-f", "json", "-o", out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as file:
        return json.load(file)["max_ram"]["combined"]


def figure_rows(programs, scratch):
    rows, seen = [], {}

    def figures(who, job):
        if (who, job) not in seen:
            seen[who, job] = figures_of(*programs[who], job, scratch)
        return seen[who, job]

    for name, job, key, truth in JOBS:
        row = {"name": name, "truth": truth}
        for who in programs:
            bare = figures(who, (job[0], 0, job[2]))[key] if truth else 0
            row[who] = figures(who, job)[key] - bare
        rows.append(row)
    return rows


def run(trees, build, ours, scratch, rounds, seconds, say):
    """({"cost": {tree: {"ours": [...], "theirs": [...]}}, "figures": [...]}, problems)"""
    problems = []
    programs = {"ours": (ours, ["--compat", "5"])}
    try:
        programs["theirs"] = (install(build), [])
    except (peers.NotMeasured, OSError) as reason:
        problems.append(f"{PACKAGE}: {reason}")
    script = os.path.join(scratch, "workers.py")
    with open(script, "w", encoding="ascii") as file:
        file.write(WORKERS)
    jobs = {"workers": f"{sys.executable} {script} {TREE_PROCESSES}", "sleepers": f"{trees} tree {TREE_PROCESSES}"}
    cost = {name: {who: [] for who in programs} for name in jobs}
    for i in range(rounds):
        for name, job in jobs.items():
            for who, (program, words) in programs.items():
                cost[name][who].append(cost_once(program, words, job, seconds))
            say(f"gpu-tracker, {name}, round {i + 1}: "
                + ", ".join(f"{who} {runs[-1]:.1f} ms/min" for who, runs in cost[name].items()))
    return {"cost": cost, "figures": figure_rows(programs, scratch)}, problems

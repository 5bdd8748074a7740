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
START_SECONDS = 4.0  # imports, the first rounds
JOB_SECONDS = 4
MIB = 1 << 20

# Holds what it says for as long as it says; the truth is in the words. `shared` makes two segments that a child maps
# too, `spike` lets go of the memory before the end.
HOLD = """
import mmap, os, sys, time
kind, mib, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
def touched(memory):
    for i in range(0, len(memory), 4096):
        memory[i] = 1
    return memory
if kind == "shared":
    held = [touched(mmap.mmap(-1, mib << 20)) for _ in range(2)]
    if os.fork() == 0:
        held = [touched(memory) for memory in held]
        time.sleep(seconds)
        os._exit(0)
    time.sleep(seconds)
    os.wait()
else:
    if kind == "spike":
        time.sleep(1.2)
    held = touched(mmap.mmap(-1, mib << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    time.sleep(seconds)
    held.close()
    if kind == "spike":
        time.sleep(1.5)
"""

# name, words of the job, which figure, what is known of it; None: the two are held against each other
JOBS = [
    ("private RSS, 256 MiB held", ("hold", 256, JOB_SECONDS), "private_rss", None),
    ("total RSS, 256 MiB held", ("hold", 256, JOB_SECONDS), "total_rss", None),
    ("shared RSS, two segments of 100 MiB", ("shared", 100, JOB_SECONDS), "shared_rss", 200 * MIB),
    ("private RSS, a spike of 300 MiB for 0.5 s", ("spike", 300, 0.5), "private_rss", 300 * MIB),
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
    """The tracker's own processes: all but the job."""
    found = [root]
    for pid in found:
        found += [child for child in peers.children_of(pid) if name_of(child) != "trees"]
    return found


def cost_once(program, words, trees, seconds):
    """ms of CPU a minute while a steady tree is tracked at the default interval."""
    tracker = subprocess.Popen([program, *words, "-e", f"{trees} tree {TREE_PROCESSES}"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
    for name, job, key, truth in JOBS:
        if job not in seen:
            seen[job] = {who: figures_of(*program, job, scratch) for who, program in programs.items()}
        rows.append({"name": name, "truth": truth, **{who: figures[key] for who, figures in seen[job].items()}})
    return rows


def run(trees, build, ours, scratch, rounds, seconds, say):
    """({"cost": {"ours": [...], "theirs": [...]}, "figures": [...]}, problems)"""
    problems = []
    programs = {"ours": (ours, ["--compat", "5"])}
    try:
        programs["theirs"] = (install(build), [])
    except (peers.NotMeasured, OSError) as reason:
        problems.append(f"{PACKAGE}: {reason}")
    cost = {who: [] for who in programs}
    for i in range(rounds):
        for who, (program, words) in programs.items():
            cost[who].append(cost_once(program, words, trees, seconds))
        say(f"gpu-tracker, round {i + 1}: " + ", ".join(f"{who} {runs[-1]:.1f} ms/min" for who, runs in cost.items()))
    return {"cost": cost, "figures": figure_rows(programs, scratch)}, problems

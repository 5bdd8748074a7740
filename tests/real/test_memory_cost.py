"""What the memory model adds to a sample: user-space instructions of the real binary, counted by callgrind."""

import re
import subprocess

import pytest
from helpers import binary, end_process, need, need_command, popen, row_count, run, wait_until, workload

PROCESSES = 400
ROWS = 20  # of a window: a sample at its edge counts in part
WINDOWS_MAX = 12
ADDED_MAX = 0.15
MODEL, SAMPLE = "trk__job_memory_sample", "trk__session_tick"


def instructions_in(path):
    """{function: instructions, with what it called}"""
    listing = run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", path],
                  capture_output=True, text=True, check=True).stdout
    found = re.findall(r"(?m)^ *([\d,]+) \([^)]*\)  \S+:(trk__\w+) \[", listing)
    return {name: int(count.replace(",", "")) for count, name in found}


def windows(folder, pid):
    """Instructions of a tracker from window to window."""
    out, rows = folder / "callgrind", folder / "rows.csv"
    tracker = popen(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", binary(), "attach", "-q", "-i", "0.1",
         "--rows", "process", "-o", rows, str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    try:
        for number in range(1, WINDOWS_MAX + 1):
            wanted = row_count(rows) + ROWS
            wait_until(lambda wanted=wanted: row_count(rows) >= wanted, f"{wanted} rows")
            run(["callgrind_control", "--dump", str(tracker.pid)], capture_output=True, check=True)
            yield instructions_in(f"{out}.{number}")
    finally:
        end_process(tracker)


@pytest.mark.cost
def test_the_model_is_a_small_part_of_a_sample(tmp_path):
    """Once it has read each process exactly: when that is depends on the load. Two windows in which it goes over all
    processes at the same cost show it."""
    need_command("valgrind")
    crowd = popen([workload("crowd"), str(PROCESSES), "0", "60"], stdin=subprocess.DEVNULL,
                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        counts = []
        for counted in windows(tmp_path, crowd.pid):
            need(MODEL in counted and SAMPLE in counted, "the binary has no names of functions")
            counts.append((counted[MODEL], counted[SAMPLE]))
            last, before = counts[-1][0], counts[-2][0] if len(counts) > 1 else 0
            if last > 10 * PROCESSES * ROWS and abs(last - before) < 0.08 * last:
                break
    finally:
        end_process(crowd)
    model, sample = counts[-1]
    assert 0 < model < ADDED_MAX * (sample - model), counts

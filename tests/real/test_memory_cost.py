"""What the memory model adds to a tick: user-space instructions of the real binary, counted by callgrind."""

import re
import signal
import subprocess

import pytest

from helpers import (binary, end_process, need, need_command, popen, row_count, run, wait_until,
                     workload)

PROCESSES = 400
TICKS = (4, 14)  # the difference of two runs is steady ticks alone
ADDED_MAX = 0.15


def instructions_of(folder, pid, ticks):
    """{function: instructions, with what it called} of a tracker that made at least so many ticks."""
    out, rows = folder / f"callgrind.{ticks}", folder / f"rows.{ticks}.csv"
    tracker = popen(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", binary(), "attach", "-q", "-i", "0.5",
         "--rows", "process", "-o", rows, str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    try:
        wait_until(lambda: row_count(rows) >= ticks, f"{ticks} rows")
        tracker.send_signal(signal.SIGTERM)
        tracker.wait()
    finally:
        end_process(tracker)
    listing = run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", out],
                             capture_output=True, text=True, check=True).stdout
    found = re.findall(r"(?m)^ *([\d,]+) \([^)]*\)  \S+:(trk__\w+) \[", listing)
    return {name: int(count.replace(",", "")) for count, name in found}


@pytest.mark.cost
def test_the_model_is_a_small_part_of_a_tick(tmp_path):
    need_command("valgrind")
    crowd = popen([workload("crowd"), str(PROCESSES), "0", "60"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        few, many = (instructions_of(tmp_path, crowd.pid, ticks) for ticks in TICKS)
    finally:
        end_process(crowd)
    names = ("trk__job_memory_tick", "trk__session_tick")
    need(all(name in few and name in many for name in names), "the binary has no names of functions")
    model, tick = (many[name] - few[name] for name in names)
    assert 0 < model < ADDED_MAX * (tick - model), (model, tick)

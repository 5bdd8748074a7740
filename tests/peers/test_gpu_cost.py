"""What a pass over the GPUs costs the tracker itself: instructions, counted by callgrind; the driver's own are
left out. And its system calls, which must not grow with devices and processes."""

import os
import re
import shutil
import subprocess

import pytest
from gpu_world import BUILD, World

GPUS, PROCESSES = 8, 100
INSTRUCTIONS_MAX = 500
READINGS = 3  # go round between the two threads
BENCH = os.path.join(BUILD, "tests", "gpu", "gpu_bench")


def require(program):
    if not shutil.which(program):
        if os.environ.get("TRK_MUST_WORK"):
            pytest.fail(f"{program} is not here")
        pytest.skip(f"{program} is not here")


def script(gpus, processes):
    lines = [f"devices {gpus}"]
    for gpu in range(gpus):
        lines += [f"gpu {gpu} utilization 50 10", f"gpu {gpu} memory 1000000 0 {processes * 10}",
                  f"gpu {gpu} board 60 100000 5", f"gpu {gpu} clock 1000 1000"]
        for pid in range(100, 100 + processes):
            lines += [f"gpu {gpu} process {pid} 10", f"gpu {gpu} sample {pid} 1 0"]
    return "\n".join(lines) + "\n"


def world(folder, gpus=GPUS, processes=PROCESSES):
    made = World(str(folder), script(gpus, processes), real_proc=False)
    for pid in range(100, 100 + processes):
        made.add_process(pid, 1 if pid == 100 else 100)
    return made


def own_instructions(path):
    """All that was executed but what calls into the driver's library took, from callgrind's file: self costs, and
    the inclusive cost of each call from another object into that one."""
    names, caller, callee, total, in_call = {}, "", None, 0, False

    def name_of(match):
        if match.group(3):
            names[match.group(2)] = match.group(3)
        return names.get(match.group(2), "")

    def is_drivers(name):
        return "libnvidia-ml" in name

    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line)
            if found and found.group(1) == "ob":
                caller = name_of(found)
            elif found:
                callee = name_of(found)
            elif line.startswith("calls="):
                in_call = True
            elif re.match(r"[+\-*\d]", line):
                cost = int(line.split()[-1])
                if in_call:
                    target = caller if callee is None else callee
                    total -= cost if is_drivers(target) and not is_drivers(caller) else 0
                    in_call, callee = False, None
                else:
                    total += cost
    return total


def count(made, passes, folder):
    out = os.path.join(str(folder), f"callgrind.{passes}")
    result = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", BENCH, made.root,
                             str(passes)], env=made.environment(), capture_output=True, text=True, check=True,
                            timeout=120)
    assert f"{PROCESSES} processes, {GPUS * PROCESSES * 10} of {GPUS * PROCESSES * 10} bytes" in result.stdout
    return own_instructions(out)


def test_instructions(tmp_path):
    require("valgrind")
    made = world(tmp_path)
    few, many = 3, 13
    each = (count(made, many, tmp_path) - count(made, few, tmp_path)) / (many - few)
    things = GPUS + GPUS * PROCESSES
    print(f"{each:.0f} instructions a pass, {each / things:.0f} for each device and pair")
    assert each / things <= INSTRUCTIONS_MAX


def system_calls(made, passes, folder):
    """Names of the system calls of each pass. A pass begins when the fake opens its script; what names the script is the
    driver's. In the first passes the buffers of the readings that go round grow, and the last is mixed with the end of
    the two threads: both are left out."""
    out = os.path.join(str(folder), "strace")
    subprocess.run(["strace", "-f", "-y", "-qq", "-o", out, BENCH, made.root, str(passes)], env=made.environment(),
                   check=True, capture_output=True, timeout=60)
    calls = []
    with open(out, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = re.match(r"\d+ +(\w+)\(", line)
            if made.script in line:
                if found and found.group(1) == "openat":
                    calls.append([])
            elif found and calls:
                calls[-1].append(found.group(1))
    assert len(calls) >= passes
    return calls[READINGS - passes:-1]


def test_system_calls(tmp_path):
    """A pass makes no system call but those that hand it over between two threads. How many these are depends on
    whether both want the lock at once, which only adds calls: the cheapest pass has those that every pass needs."""
    require("strace")
    passes = system_calls(world(tmp_path), 20, tmp_path)
    assert {name for calls in passes for name in calls} == {"futex"}
    assert 1 <= min(len(calls) for calls in passes) <= 8


def test_no_gpu_loads_nothing(tmp_path):
    require("strace")
    made = World(str(tmp_path), "devices 1\n")
    os.unlink(os.path.join(made.root, "dev", "nvidiactl"))
    out = os.path.join(str(tmp_path), "strace")
    subprocess.run(["strace", "-f", "-qq", "-o", out, os.path.join(BUILD, "resource-tracker"), "--root", made.root,
                    "-q", "--no-save", "-i", "0.05", "sleep", "0.3"], env=made.environment(), check=True, timeout=60)
    with open(out, encoding="utf-8", errors="replace") as file:
        assert "libnvidia-ml" not in file.read()

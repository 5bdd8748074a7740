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
    assert f"{PROCESSES} members, {GPUS * PROCESSES * 10} of {GPUS * PROCESSES * 10} bytes" in result.stdout
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
    out = os.path.join(str(folder), f"strace.{passes}")
    subprocess.run(["strace", "-f", "-qq", "-o", out, BENCH, made.root, str(passes)], env=made.environment(),
                   check=True, capture_output=True, timeout=60)
    with open(out, encoding="utf-8", errors="replace") as lines:
        calls = [match.group(1) for match in map(re.compile(r"\d+ +(\w+)\(").match, lines) if match]
    return calls


def test_system_calls(tmp_path):
    """The fake reads its script at each pass: open, fstat, reads, close are the driver's. What is left is the
    hand-over between two threads."""
    require("strace")
    made = world(tmp_path)
    drivers = {"openat", "newfstatat", "fstat", "read", "close"}
    few = [name for name in system_calls(made, 3, tmp_path) if name not in drivers]
    many = [name for name in system_calls(made, 13, tmp_path) if name not in drivers]
    extra = set(many) - {"futex"}
    assert len([name for name in many if name in extra]) - len([name for name in few if name in extra]) <= 2
    assert len(many) - len(few) <= 10 * 8


def test_no_gpu_loads_nothing(tmp_path):
    require("strace")
    made = World(str(tmp_path), "devices 1\n")
    os.unlink(os.path.join(made.root, "dev", "nvidiactl"))
    out = os.path.join(str(tmp_path), "strace")
    subprocess.run(["strace", "-f", "-qq", "-o", out, os.path.join(BUILD, "resource-tracker"), "--root", made.root,
                    "-q", "--no-save", "-i", "0.05", "sleep", "0.3"], env=made.environment(), check=True, timeout=60)
    with open(out, encoding="utf-8", errors="replace") as file:
        assert "libnvidia-ml" not in file.read()

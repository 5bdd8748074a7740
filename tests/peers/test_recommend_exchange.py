"""The classic rule says what the releases say, on records made up to hit its roundings. 0.5.0 divides the memory by
1024 once too often: what it is asked of has so much more of it, which undoes the fault and nothing else."""

import gzip
import json
import os
import random
import subprocess

import pytest
import releases
from gpu_world import BUILD

RECORDS = 40
TRACKER = os.environ.get("TRK_BIN", os.path.join(BUILD, "resource-tracker"))

ASK = """
import json, sys
from resource_tracker import ResourceTracker
for path in sys.argv[1:]:
    tracker = ResourceTracker.load(path)
    tracker.wait_for_samples = lambda *words, **named: None
    print(json.dumps(tracker.recommend_resources()))
"""

SYSTEM_COLUMNS = ("processes", "utime", "stime", "cpu_usage", "memory_free", "memory_used", "memory_buffers",
                  "memory_cached", "memory_active", "memory_inactive", "disk_read_bytes", "disk_write_bytes",
                  "disk_space_total_gb", "disk_space_used_gb", "disk_space_free_gb", "net_recv_bytes",
                  "net_sent_bytes", "gpu_usage", "gpu_vram", "gpu_utilized")


def process_row(chance, second, gpu):
    return {"timestamp": 1000.0 + second, "pid": 1, "children": 0, "utime": 1.0, "stime": 0.0,
            "cpu_usage": chance.choice([0.5, 1.5, 2.5, 3.5, round(chance.random() * 8, 4)]),
            "memory": round(chance.random() * 10 ** chance.randint(3, 8), 1), "read_bytes": 0, "write_bytes": 0,
            "gpu_usage": chance.choice([0.0, 0.5, 1.5, 2.5, round(chance.random() * 4, 2)]) if gpu else 0.0,
            "gpu_vram": round(chance.random() * 10 ** chance.randint(1, 5), 1) if gpu else 0.0,
            "gpu_utilized": chance.randint(0, 4) if gpu else 0}


def make_record(seed):
    chance = random.Random(seed)
    rows = [process_row(chance, second, seed % 2) for second in range(chance.randint(1, 12))]
    return {"metadata": {"version": 1, "resource_tracker": {"version": "0.4.2", "implementation": "procfs"}, "pid": 1,
                         "children": True, "interval": 1.0, "method": "spawn", "autostart": True,
                         "track_processes": True, "track_system": True, "discover_server": False,
                         "discover_cloud": False, "start_time": 1000.0, "stop_time": 1000.0 + len(rows),
                         "duration": len(rows) + 1.0},
            "server_info": None, "cloud_info": None, "process_metrics": rows,
            "system_metrics": [{"timestamp": row["timestamp"], **dict.fromkeys(SYSTEM_COLUMNS, 0)} for row in rows]}


V3_NAMES = {"memory": "memory_mib", "read_bytes": "disk_read_bytes", "write_bytes": "disk_write_bytes",
            "gpu_vram": "gpu_vram_mib"}


def in_v3(record, memory_factor):
    """The same run as 0.5.0 writes it; what was KiB is divided by 1024 and multiplied by the factor."""
    rows = [{V3_NAMES.get(name, name): value for name, value in row.items()} for row in record["process_metrics"]]
    for row in rows:
        row["memory_mib"] = row["memory_mib"] / 1024 * memory_factor
    system = [{name + "_mib" if name.startswith("memory_") else V3_NAMES.get(name, name): value
               for name, value in row.items()} for row in record["system_metrics"]]
    return {**record, "process_metrics": rows, "system_metrics": system}


def write(path, record):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(record, file)
    return str(path)


def classic(path):
    done = subprocess.run([TRACKER, "recommend", "--json", path], capture_output=True, check=True, timeout=30)
    return json.loads(done.stdout)["classic"]


def ask(release, paths):
    python = releases.environment_of(release)
    if python is None:
        message = f"resource-tracker=={release} can't be fetched"
        pytest.fail(message) if os.environ.get("TRK_MUST_WORK") else pytest.skip(message)
    done = subprocess.run([python, "-c", ASK, *paths], capture_output=True, text=True, check=True, timeout=60, cwd="/")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_classic_is_that_of_the_package(tmp_path):
    paths = [write(tmp_path / f"{seed}.json.gz", make_record(seed)) for seed in range(RECORDS)]
    assert [classic(path) for path in paths] == ask("0.4.2", paths)


def test_classic_is_that_of_the_newer_package_without_its_fault(tmp_path):
    records = [make_record(seed) for seed in range(RECORDS)]
    ours = [write(tmp_path / f"{seed}.json.gz", in_v3(record, 1)) for seed, record in enumerate(records)]
    theirs = [write(tmp_path / f"{seed}-more.json.gz", in_v3(record, 1024)) for seed, record in enumerate(records)]
    assert [classic(path) for path in ours] == ask("0.5.0", theirs)
    small = [need["memory"] for need in ask("0.5.0", ours)]
    assert any(need["memory"] > memory for need, memory in zip(map(classic, ours), small))  # the fault is there

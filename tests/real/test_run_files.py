"""Run files: killed at every write, cut by a power failure, written and read by many at once, and the same figures in
every output."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import zlib
from pathlib import Path

import helpers
import pytest
from helpers import binary, need

SECONDS = float(os.environ.get("TRK_STORE_SECONDS", "6"))


def folder():
    return Path(os.environ["HOME"]) / ".local" / "state" / "resource-tracker" / "runs"


def tracker(*words, **options):
    return helpers.run([binary(), *words], capture_output=True, text=True, **options)


def listed():
    done = tracker("runs", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["runs"]


def shown(word):
    done = tracker("show", "--json", str(word))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def state_of_files():
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder().iterdir()}


# ---- killed at every write -------------------------------------------------------------------


def run_killed_at(call):
    """A run with default options whose tracker is killed before its call-th system call on files; False where it makes
    fewer."""
    process = helpers.popen([helpers.workload("held_at"), call, binary(), "-q", "-i", "0.02", "sleep", "0.12"],
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=helpers.without_leak_check())
    line = process.stderr.readline()
    if line != "held\n":
        process.wait()
        return False
    tracker_pid = helpers.only_child(process.pid)
    jobs = helpers.descendants(tracker_pid)
    os.kill(tracker_pid, signal.SIGKILL)
    for job in jobs:
        helpers.kill_quietly(job)
    helpers.kill_quietly(process.pid)
    process.wait()
    helpers.wait_until(lambda: not helpers.is_running(tracker_pid), "the end of the tracker")
    return True


@pytest.mark.parametrize("first_call", range(1, 5))
def test_a_tracker_killed_at_any_write_leaves_a_run_that_can_be_read(first_call):
    folder().mkdir(parents=True)
    interrupted = 0
    for call in range(first_call, 2000, 4):
        if not run_killed_at(call):
            break
        before = state_of_files()
        runs = listed()
        assert len(runs) <= 1, (call, runs)
        for run in runs:
            assert run["state"] in ("interrupted", "finished"), (call, run)
            detail = shown(run["id"])
            assert detail["samples"] == run["samples"]
            interrupted += run["state"] == "interrupted"
        assert state_of_files() == before, call  # no reader changes a file
        for path in folder().iterdir():
            path.unlink()
    assert call > 20 and interrupted > 0


# ---- power cuts ------------------------------------------------------------------------------


def test_a_run_file_cut_at_any_length_after_its_head_is_a_run(tmp_path):
    assert tracker("-q", "-i", "0.05", "sleep", "0.3").returncode == 0
    whole, = folder().glob("*.run")
    data, rows = whole.read_bytes(), shown(whole)["samples"]
    head = data.index(b"timestamp\n") - 16
    seen = set()
    for size in [*random.Random(3).sample(range(head, len(data)), 60), len(data)]:
        for tail in (b"", b"\0" * (len(data) - size)):
            part = tmp_path / "part.run"
            part.write_bytes(data[:size] + tail)
            run = shown(part)
            assert run["samples"] <= rows
            assert run["state"] == ("finished" if size == len(data) else "interrupted"), size
            seen.add(run["samples"])
            assert part.read_bytes() == data[:size] + tail
    assert len(seen) > 2


def test_a_finished_run_is_synced_and_a_short_one_is_not(tmp_path):
    need(shutil.which("strace"), "strace is not here")
    for seconds, expected in (("0.05", 0), ("1.1", 1)):
        trace = tmp_path / f"trace-{seconds}"
        helpers.run(["strace", "-o", trace, "-e", "trace=fdatasync,fsync", binary(), "-q", "sleep", seconds],
                    env=helpers.without_leak_check())
        text = trace.read_text()
        assert text.count("fdatasync(") == expected and text.count("fsync(") == expected, text


# ---- a run that may be running ---------------------------------------------------------------


def test_a_run_of_another_machine_is_neither_dead_nor_removed():
    assert tracker("-q", "-i", "0.05", "sleep", "0.3").returncode == 0
    whole, = folder().glob("*.run")
    data = whole.read_bytes()
    cut = data[:data.rindex(b"{\"metadata\"") - 16]  # without its footer
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().encode()
    other = b"00000000-0000-0000-0000-000000000000"
    head_bytes = int.from_bytes(cut[12:16], "little")
    head = cut[24:24 + head_bytes].replace(boot, other)
    block = cut[8:16]
    checksum = zlib.crc32(head, zlib.crc32(block)).to_bytes(4, "little")
    whole.write_bytes(cut[:16] + checksum + cut[20:24] + head + cut[24 + head_bytes:])
    old = time.time() - 3660
    os.utime(whole, (old, old))
    run, = listed()
    assert run["state"] == "unknown" and run["samples"] > 2
    assert re.search(r"unknown \(\S+, last row 1 h", tracker("show", run["id"]).stdout)
    before = state_of_files()
    assert tracker("runs", "remove", run["id"]).returncode == 1
    assert tracker("runs", "prune", "--older-than", "0s").stdout == "0 runs removed\n"
    assert state_of_files() == before
    assert tracker("runs", "remove", "--force", run["id"]).returncode == 0
    assert listed() == []


def test_a_stopped_tracker_is_running():
    process = helpers.popen([binary(), "-q", "-i", "0.02", "sleep", "60"])
    helpers.wait_until(lambda: [run for run in listed() if run["samples"] > 2], "three rows")
    process.send_signal(signal.SIGSTOP)
    path, = folder().glob("*.run")
    os.utime(path, (time.time() - 86400,) * 2)
    assert listed()[0]["state"] == "running"
    process.send_signal(signal.SIGCONT)
    process.terminate()
    process.wait()
    run, = listed()
    assert run["state"] == "finished" and run["signal"] == signal.SIGTERM


def namespace():
    return ["unshare", "--pid", "--fork", "--mount-proc"] if os.geteuid() == 0 and shutil.which("unshare") else None


def test_a_mark_in_another_pid_namespace_is_not_taken_for_ours():
    need(namespace(), "no PID namespace can be made")
    Path("job.sh").write_text(f"{' '.join(namespace())} {binary()} mark inside\n{binary()} mark outside\n")
    done = tracker("-q", "-i", "0.05", "sh", "job.sh")
    assert done.returncode == 0
    run, = listed()
    assert [phase["name"] for phase in shown(run["id"])["phases"]] == ["outside"]


def test_many_writers_and_readers_in_different_namespaces_lose_nothing():
    around = namespace() or []
    folder().mkdir(parents=True)
    count = Path("count")
    count.mkdir()
    script = (f"n=0; while [ $(date +%s%N) -lt {time.time_ns() + int(SECONDS * 1e9)} ]; do "
              f"{binary()} -q -i 0.01 -n $1.$n sleep 0.0$((n % 5)) || exit 1; n=$((n + 1)); done; echo $n > count/$1")
    reader = (f"while ! [ -e stop ]; do {binary()} runs --json > /dev/null || exit 1; "
              f"{binary()} show > /dev/null 2>&1; done")
    writers = [helpers.popen([*around, "sh", "-c", script, "sh", str(i)]) for i in range(8)]
    readers = [helpers.popen([*around, "sh", "-c", reader], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert all(writer.wait() == 0 for writer in writers)
    Path("stop").touch()
    assert all(process.wait() == 0 for process in readers), [process.stderr.read() for process in readers]
    expected = {f"{i}.{n}" for i in range(8) for n in range(int((count / str(i)).read_text()))}
    runs = listed()
    assert {run["job_name"] for run in runs} == expected and len(runs) == len(expected)
    assert all(run["state"] == "finished" and run["exit_code"] == 0 for run in runs)


# ---- one figure, one function ----------------------------------------------------------------


def random_run(chance):
    """A snapshot with what any run may have or lack."""
    interval = chance.choice([0.1, 1, 5])
    start, rows, time_now = 1.7e9, [], 1.7e9
    for _ in range(chance.randint(1, 40)):
        is_last = chance.random() < 0.1
        time_now += interval * (chance.choice([0.01, 0.5]) if is_last else 1)
        rows.append({"timestamp": round(time_now, 3), "pid": 1, "children": 0, "utime": round(chance.random(), 3),
                     "stime": round(chance.random() / 3, 3), "cpu_usage": round(chance.random() * 4, 4),
                     "memory": chance.choice([None, chance.randint(1000, 4 << 20)]), "read_bytes": chance.randint(0, 1 << 20),
                     "write_bytes": 0, "gpu_usage": 0.0, "gpu_vram": 0.0, "gpu_utilized": 0})
        if is_last:
            break
    wall = round(time_now - start, 6)
    metadata = {"version": 1, "interval": interval, "start_time": start, "stop_time": time_now,
                "duration": round(wall + interval, 2), "wall_seconds": wall, "command": ["job"], "command_key": "job",
                "exit_code": 0, "samples": len(rows)}
    totals = {"cpu_seconds": {"value": round(sum(row["utime"] + row["stime"] for row in rows) * 1.02, 6), "source": "wait4"},
              "peak_memory_bytes": {"value": chance.choice([None, chance.randint(1 << 20, 1 << 32)]),
                                    "low": None, "high": chance.choice([None, 1 << 33])},
              "read_bytes": {"value": 5}, "write_bytes": {"value": 6}}
    run = {"metadata": metadata, "server_info": None, "cloud_info": None, "process_metrics": rows, "system_metrics": []}
    if chance.random() < 0.8:
        run["totals"] = totals
    return run


def page_data(path):
    done = tracker("report", "--alone", str(path))
    if "no report page" in done.stderr:
        pytest.skip("built without the report's page")
    assert done.returncode == 0, done.stderr
    return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', done.stdout, re.S).group(1))


@pytest.mark.parametrize("seed", range(int(os.environ.get("TRK_RANDOM_RUNS", "40"))))
def test_every_output_has_the_same_figures(seed, tmp_path):
    chance = random.Random(seed)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(random_run(chance), sort_keys=chance.random() < 0.5))
    run = shown(path)
    data = page_data(path)
    cpu = data["charts"]["columns"]["process_cpu"]["stats"]
    assert run["cpu_mean_cores"] == pytest.approx(cpu["mean"], abs=1e-6)
    assert run["cpu_peak_cores"] == pytest.approx(cpu["max"], abs=1e-6)
    memory = data["charts"]["columns"].get("process_memory", {"stats": {"mean": None}})["stats"]
    assert (run["mean_memory_bytes"] is None) == (memory["mean"] is None)
    if memory["mean"] is not None:
        assert run["mean_memory_bytes"] == pytest.approx(memory["mean"], abs=1)
    advice = json.loads(tracker("recommend", "--alone", "--json", str(path)).stdout)
    if run["peak_memory_bytes"] is not None:
        assert advice["peaks"]["memory"] == -(-run["peak_memory_bytes"] // 1048576)
        assert data["advice"]["peaks"] == advice["peaks"]
    assert data["advice"]["levels"] == advice["levels"]
    assert data["advice"]["rent"]["run"] == advice["rent"]["run"]
    assert [offer["server_id"] for offer in data["advice"]["rent"]["servers"]] == [
        offer["server_id"] for offer in advice["rent"]["servers"]]
    text = tracker("export", str(path), "--format", "hyperfine").stdout
    exported = json.loads(text)["results"][0]
    assert exported["mean"] == pytest.approx(run["wall_seconds"], abs=1e-6)
    assert exported["memory_usage_byte"][0] == run["peak_memory_bytes"]
    again = tmp_path / "again.json.gz"
    assert tracker("export", str(path), "-o", str(again)).returncode == 0
    second = shown(again)
    assert {key: value for key, value in second.items() if key != "id"} == {
        key: value for key, value in run.items() if key != "id"}

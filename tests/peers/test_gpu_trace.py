"""Figures of made-up GPUs, from the script of the driver to every output of the command."""

import csv
import itertools
import json
import os
import signal
import subprocess
import time
from statistics import median

import pytest
from conftest import skip_or_fail
from gpu_world import ROOT, TRACKER, World

MIB = 1 << 20
FIRST_PID_NAMESPACE = "pid:[4026531836]"


@pytest.fixture(autouse=True)
def pids_are_the_machines():
    """In a container the driver's pids are foreign, and this test's own would have to be, too."""
    if os.readlink("/proc/self/ns/pid") != FIRST_PID_NAMESPACE:
        skip_or_fail("not in the first PID namespace")


GPUS = f"""devices 3
gpu 0 utilization 42 17
gpu 0 memory {16384 * MIB} {400 * MIB} {3072 * MIB}
gpu 0 board 61 123456 777000
gpu 0 clock 1410 1215
gpu 0 throttle 4
gpu 1 utilization 8 1
gpu 1 memory {16384 * MIB} {400 * MIB} {1024 * MIB}
gpu 1 board 35 40000 100
gpu 2 utilization 0 0
gpu 2 memory {16384 * MIB} {400 * MIB} 0
gpu 2 board 30 20000 100
gpu 0 process 1 {1000 * MIB}
gpu 0 sample 1 12 0
"""
# The shell is the job and its own GPU user: it adds its pid to what the driver says.
SHOW = f"""{{ cat "$FAKE_NVML"; echo "gpu 0 process $$ {1500 * MIB}"; echo "gpu 0 sample $$ 30 0"
echo "gpu 1 process $$ {500 * MIB}"; echo "gpu 1 sample $$ 8 0"; }} >"$FAKE_NVML.new"
mv "$FAKE_NVML.new" "$FAKE_NVML"
"""
HOLD = "read -r line"  # until the test writes one
PATIENCE = 50  # seconds that a row may take on a loaded machine


def command(world, *options, job, interval):
    return [TRACKER, "--root", world.root, "-i", interval, *options, "--", "sh", "-c", job]


def track(world, *options, job, interval="0.25", kind="full", env=None):
    return subprocess.run(command(world, "--no-save", *options, job=job, interval=interval),
                          env={**world.environment(kind), **(env or {})}, capture_output=True, text=True, timeout=60,
                          check=False)


class Tracking:
    """A tracker whose job runs until the test has seen the rows that it waits for. How often the driver is asked until
    a row is written depends on the interval and on the load, so a number of questions says nothing about rows."""

    def __init__(self, world, out, *options, job=SHOW + HOLD, interval="0.25"):
        self.out = out
        self.process = subprocess.Popen(command(world, "-o", str(out), *options, job=job, interval=interval),
                                        env=world.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def wait_for(self, is_there):
        """`is_there` is a condition of all rows so far."""
        assert wait_until(lambda: is_there(rows_of(self.out)) or self.process.poll() is not None, PATIENCE) \
            and is_there(rows_of(self.out)), rows_of(self.out)

    def end(self):
        """What the tracker wrote to standard error."""
        _, errors = self.process.communicate("\n", timeout=PATIENCE)
        assert self.process.returncode == 0, errors
        return errors


def track_rows(world, out, count, *options, column="process_gpu_vram", **named):
    """Tracks until so many rows show what the job does; returns these and what is on standard error."""
    with Tracking(world, out, "--no-save", *options, **named) as tracking:
        tracking.wait_for(lambda rows: len(settled(rows, column)) > count)
        errors = tracking.end()
    return settled(rows_of(out), column), errors


def rows_of(path):
    """Also of a file that is being written: a last line without its end is not a row yet."""
    text = path.read_text() if path.exists() else ""
    lines = text[:text.rfind("\n") + 1].splitlines(keepends=True)
    return [json.loads(line) for line in lines] if path.suffix == ".jsonl" else list(csv.DictReader(lines))


def settled(rows, column="process_gpu_vram"):
    """Rows from the first one that shows what the job does on the GPUs; the closing row is left out."""
    first = next((place for place, row in enumerate(rows) if float(row[column] or 0) > 0), len(rows))
    return rows[first:-1]


def wait_until(condition, seconds=20):
    """Whether it became true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_columns_of_v2(tmp_path):
    world = World(str(tmp_path), GPUS)
    out = tmp_path / "rows.csv"
    rows, _ = track_rows(world, out, 2, "-q")
    for row in rows:
        assert row["system_gpu_usage"] == "0.5" and row["system_gpu_utilized"] == "2"
        assert row["system_gpu_vram"] == "4096.0"
        assert row["process_gpu_usage"] == "0.38" and row["process_gpu_utilized"] == "2"
        assert row["process_gpu_vram"] == "2000.0"


def test_columns_of_v3_and_v1(tmp_path):
    for schema, vram in (("v1", "gpu_vram"), ("v3", "gpu_vram_mib")):
        folder = tmp_path / schema
        folder.mkdir()
        world = World(str(folder), GPUS)
        [row, *_], _ = track_rows(world, folder / "rows.csv", 1, "-q", "--schema", schema, column="process_" + vram)
        assert row["process_" + vram] == "2000.0" and row["system_gpu_usage"] == "0.5"


def test_devices_of_full(tmp_path):
    world = World(str(tmp_path), GPUS)
    rows, _ = track_rows(world, tmp_path / "rows.jsonl", 2, "-q", "--schema", "full", column="process_gpu_vram_bytes")
    row = rows[1]  # energy is a difference of two
    expected = {"name": "0000:10:00.0", "utilization_ratio": 0.42, "memory_busy_ratio": 0.17,
                "memory_used_bytes": 3072 * MIB, "memory_total_bytes": 16384 * MIB, "temperature_celsius": 61.0,
                "power_watts": 123.456, "clock_hertz": 1410000000, "memory_clock_hertz": 1215000000,
                "throttle_reasons_mask": 4, "processes_count": 2, "job_utilization_ratio": 0.3,
                "job_memory_bytes": 1500 * MIB, "energy_joules": 0}
    assert {key: row["system_gpu0_" + key] for key in expected} == expected
    assert 0 <= min(row["system_gpu0_age_seconds"] for row in rows) < 0.3
    assert row["system_gpu1_job_memory_bytes"] == 500 * MIB
    assert row["system_gpu2_job_memory_bytes"] == 0
    assert row["process_gpu_vram_bytes"] == 2000 * MIB
    assert "system_gpu3_utilization_ratio" not in row


def test_columns_are_there_from_the_first_row_of_csv(tmp_path):
    world = World(str(tmp_path), GPUS + "slow nvmlInit_v2 30\n")
    out = tmp_path / "rows.csv"
    with Tracking(world, out, "-q", "--no-save", "--schema", "full", job=HOLD, interval="2") as tracking:
        tracking.wait_for(lambda rows: "30.0" in {row["system_gpu2_temperature_celsius"] for row in rows})
        tracking.end()


def test_summary(tmp_path):
    world = World(str(tmp_path), GPUS)
    _, errors = track_rows(world, tmp_path / "rows.csv", 1, "-s", str(tmp_path / "summary.json"))
    maxima = json.loads((tmp_path / "summary.json").read_text())["maxima"]
    assert maxima["process_gpu_usage_devices"] == 0.38
    assert maxima["process_gpu_vram_bytes"] == 2000 * MIB
    assert maxima["process_gpu_utilized_count"] == 2
    assert maxima["system_gpu_vram_bytes"] == 4096 * MIB
    assert "0.38 devices busy at the peak, 1.95 GiB of their memory" in errors


def test_summary_of_instances(tmp_path):
    """No driver tells how busy an instance is; its memory is worth a line all the same."""
    world = World(str(tmp_path), f"devices 1\ngpu 0 mig 1\ngpu 0.0 memory {4096 * MIB} 0 {512 * MIB}\n")
    job = f'echo "gpu 0.0 process $$ {512 * MIB}" >>"$FAKE_NVML"; {HOLD}'
    _, errors = track_rows(world, tmp_path / "rows.csv", 1, job=job)
    assert "busy: not measured, 512 MiB of their memory" in errors


def test_record(tmp_path):
    """The machine's facts, each GPU's peaks and its series."""
    world = World(str(tmp_path), GPUS)
    with Tracking(world, tmp_path / "rows.csv", "-q", "--cloud=off") as tracking:
        tracking.wait_for(lambda rows: len(settled(rows)) > 3)
        tracking.end()
    done = subprocess.run([TRACKER, "export", "--format", "snapshot"], check=True, timeout=60, capture_output=True)
    record = json.loads(done.stdout)
    server = record["server_info"]
    assert server["gpu_count"] == 3 and server["gpu_names"] == [f"NVIDIA Fake {i}" for i in range(3)]
    assert server["gpu_memory_mb"] == 3 * 16384
    assert [gpu["job_memory_peak_bytes"] for gpu in record["gpus"]] == [1500 * MIB, 500 * MIB, 0]
    assert [gpu["utilization_max_ratio"] for gpu in record["gpus"]] == [0.42, 0.08, 0]
    detail = record["detail_metrics"]
    assert len(detail["gpu0_utilization_ratio"]) == len(record["system_metrics"]) >= 4
    for name, value in (("gpu0_utilization_ratio", 0.42), ("gpu1_memory_used_bytes", 1024 * MIB)):
        answered = list(itertools.dropwhile(lambda figure: figure is None, detail[name]))
        assert len(answered) >= 4 and set(answered) == {value}


# The shell is the main process; a child of it uses a GPU as well, for a while and less. The test makes the files that
# they wait for.
GPU_TRACKER_JOB = f"""await() {{ until [ -e "$1" ]; do sleep 0.05; done; }}
{SHOW}await start_child
sh -c 'await() {{ until [ -e "$1" ]; do sleep 0.05; done; }}
{{ cat "$FAKE_NVML"; echo "gpu 1 process $$ {300 * MIB}"; }} >"$FAKE_NVML.new"
mv "$FAKE_NVML.new" "$FAKE_NVML"; await end_child; true'
await end
"""


def gpu_tracker_rows(folder):
    """Of a tracking file: below two lines with what does not change."""
    path = folder / "rows.csv"
    text = path.read_text() if path.exists() else ""
    return list(csv.DictReader(text[:text.rfind("\n") + 1].splitlines()[2:]))


def gpu_track(folder, script, *options, has_gpus=True):
    """The job takes its next step when the tracking file has the row that the last one leads to."""
    world = World(str(folder), script)
    (folder / "job.sh").write_text(GPU_TRACKER_JOB)
    tracker = subprocess.Popen([os.path.join(os.path.dirname(TRACKER), "gpu-tracker"), f"--root={world.root}",
                                "--compat=5", "-e", "sh job.sh", "--st=0.25", "--ru=bytes", "--gru=bytes", "-f", "json",
                                "--tf=rows.csv", *options],
                               env=world.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=folder)

    def step(mib, name):
        expected = float(mib * MIB) if has_gpus else 0
        is_seen = wait_until(lambda: any(float(row["combined_gpu_ram"] or 0) == expected
                                         for row in gpu_tracker_rows(folder)), PATIENCE)
        assert is_seen, gpu_tracker_rows(folder)
        (folder / name).touch()

    try:
        step(2000, "start_child")
        step(2300, "end_child")
        (folder / "end").touch()
        out, errors = tracker.communicate(timeout=PATIENCE)
    finally:
        tracker.kill()
        for name in ("start_child", "end_child", "end"):
            (folder / name).touch()  # the job outlives its tracker
    assert tracker.returncode == 0, errors
    return json.loads(out.partition("\n")[2])


def test_maxima_of_gpu_tracker(tmp_path):
    figures = gpu_track(tmp_path, GPUS)
    assert figures["max_gpu_ram"] == {"unit": "bytes", "system_capacity": 3.0 * 16384 * MIB, "system": 4096.0 * MIB,
                                      "main": 2000.0 * MIB, "descendants": 300.0 * MIB, "combined": 2300.0 * MIB}
    gpu = figures["gpu_utilization"]
    assert (gpu["system_gpu_count"], gpu["n_expected_gpus"]) == (3, 3)
    assert gpu["gpu_percentages"]["max_sum_percent"] == pytest.approx(50)
    assert gpu["gpu_percentages"]["mean_sum_percent"] == pytest.approx(50, rel=0.01)
    assert gpu["gpu_percentages"]["max_hardware_percent"] == pytest.approx(50 / 3)
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    static = dict(zip(lines[0].split(","), lines[1].split(",")))
    assert float(static["gpu_ram_system_capacity"]) == 3 * 16384 * MIB and static["system_gpu_count"] == "3"
    rows = gpu_tracker_rows(tmp_path)
    assert max(float(row["combined_gpu_ram"]) for row in rows) == 2300 * MIB
    assert max(float(row["descendants_gpu_ram"]) for row in rows) == 300 * MIB
    assert {float(row["system_gpu_ram"]) for row in rows[1:-1]} == {4096.0 * MIB}


def test_gpus_that_gpu_tracker_counts(tmp_path):
    """UUIDs choose whose utilization counts, as in the package; memory is of all. A brand chooses both."""
    figures = gpu_track(tmp_path / "a", GPUS, "--guuids=GPU-00000001,GPU-00000002")
    assert figures["gpu_utilization"]["n_expected_gpus"] == 2
    assert figures["gpu_utilization"]["gpu_percentages"]["max_sum_percent"] == pytest.approx(8)
    assert figures["gpu_utilization"]["gpu_percentages"]["max_hardware_percent"] == pytest.approx(4)
    assert figures["max_gpu_ram"]["combined"] == 2300.0 * MIB
    figures = gpu_track(tmp_path / "b", GPUS, "--gb=nvidia")
    assert figures["max_gpu_ram"]["combined"] == 2300.0 * MIB
    figures = gpu_track(tmp_path / "c", GPUS, "--gb=amd", has_gpus=False)
    assert figures["gpu_utilization"]["system_gpu_count"] == 0 and figures["max_gpu_ram"]["combined"] == 0


def test_names_that_no_gpu_has(tmp_path):
    world = World(str(tmp_path), GPUS)
    result = track(world, "--gpus", "1,7", job="echo it runs")
    assert result.returncode == 125 and result.stdout == ""
    assert "no GPU is called 7; there are 0 (GPU-00000000" in result.stderr
    result = track(world, "--gpus", "GPU-00000009", job="echo it runs")
    assert result.returncode == 125 and "no GPU is called GPU-00000009" in result.stderr
    assert track(world, "--gpus", "nvidia", job="true").returncode == 0


def test_a_short_job_is_seen(tmp_path):
    """Shorter than the interval: the looks before the first row have seen it."""
    world = World(str(tmp_path), GPUS)
    out = tmp_path / "rows.csv"
    assert track(world, "-q", "-o", str(out), job=SHOW + "sleep 2", interval="30").returncode == 0
    rows = rows_of(out)
    assert len(rows) == 1 and rows[0]["process_gpu_vram"] == "2000.0"


def test_chosen_gpus(tmp_path):
    world = World(str(tmp_path), GPUS)
    out = tmp_path / "rows.csv"
    rows, _ = track_rows(world, out, 2, "-q", "--gpus", "1,GPU-00000002")
    assert all(row["system_gpu_usage"] == "0.08" and row["process_gpu_vram"] == "500.0" for row in rows)


def test_what_cannot_be_read_is_empty_and_told(tmp_path):
    world = World(str(tmp_path), GPUS)
    out = tmp_path / "rows.csv"
    result = track(world, "-v", "-o", str(out), job="sleep 1", kind="broken", env={"PATH": "/usr/bin:/bin"})
    assert result.returncode == 0
    for row in rows_of(out):
        for column in ("usage", "vram", "utilized"):
            assert row["system_gpu_" + column] == "" and row["process_gpu_" + column] == ""
    assert "NVIDIA GPUs can't be read" in result.stderr


def test_no_device_is_zero(tmp_path):
    world = World(str(tmp_path), "devices 0\n")
    out = tmp_path / "rows.csv"
    with Tracking(world, out, "-q", "--no-save", job=HOLD) as tracking:
        tracking.wait_for(lambda rows: any(row["system_gpu_usage"] for row in rows))
        tracking.end()
    row = rows_of(out)[-2]
    assert row["system_gpu_usage"] == "0" and row["process_gpu_vram"] == "0"


@pytest.mark.parametrize("function", ["nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetUtilizationRates"])
def test_a_driver_that_hangs(tmp_path, function):
    world = World(str(tmp_path), GPUS + f"hang {function}\n")
    out = tmp_path / "rows.csv"
    started = time.monotonic()
    result = track(world, "-q", "-o", str(out), job="sleep 1.1; exit 7", interval="0.2")
    took = time.monotonic() - started
    assert result.returncode == 7
    assert took < 30, "the job's end was held up"  # the driver hangs for longer
    times = [float(row["timestamp"]) for row in rows_of(out)]
    assert len(times) >= 3
    assert median(after - before for before, after in zip(times, times[1:-1])) < 0.2 + 0.1, "samples were held up"


def test_a_driver_that_never_answered_is_told(tmp_path):
    world = World(str(tmp_path), GPUS + "hang nvmlInit_v2\n")
    result = track(world, "-v", job="sleep 4")
    assert "the GPU driver does not answer" in result.stderr, result.stderr


def test_a_driver_that_hangs_later(tmp_path):
    """Its last figures stand with their age, then they are absent."""
    world = World(str(tmp_path), GPUS)
    out = tmp_path / "rows.jsonl"

    def ages(rows):
        return [row.get("system_gpu0_age_seconds") for row in rows]

    with Tracking(world, out, "-q", "--no-save", "--schema", "full", job=HOLD) as tracking:
        tracking.wait_for(lambda rows: any(age is not None and age < 0.2 for age in ages(rows)))
        world.write(GPUS + "hang nvmlDeviceGetPowerUsage\n")
        tracking.wait_for(lambda rows: any(age is not None and age > 2.5 for age in ages(rows)))
        tracking.wait_for(lambda rows: ages(rows)[-1] is None)
        tracking.end()
    rows = rows_of(out)
    assert ages(rows)[-1] is None and rows[-1]["system_gpu_usage_devices"] is None
    assert {row["system_gpu0_utilization_ratio"] for row, age in zip(rows, ages(rows)) if age is not None} == {0.42}


@pytest.mark.parametrize("interval", ["0.25", "1"])
def test_a_device_that_falls_off_the_bus(tmp_path, interval):
    world = World(str(tmp_path), GPUS)
    out = tmp_path / "rows.jsonl"

    def powers(rows):
        return [tuple(row.get(f"system_gpu{i}_power_watts") for i in range(2)) for row in rows]

    with Tracking(world, out, "-v", "--no-save", "--schema", "full", job=HOLD, interval=interval) as tracking:
        tracking.wait_for(lambda rows: (123.456, 40) in powers(rows))
        world.write(GPUS + "gpu 0 lost\n")
        tracking.wait_for(lambda rows: (None, 40) in powers(rows))
        errors = tracking.end()
    shown = powers(rows_of(out))
    lost = shown.index((None, 40))
    assert set(shown[:lost]) <= {(None, None), (123.456, 40)}  # without figures until the driver first answers
    assert set(shown[lost:]) == {(None, 40)}
    assert "is lost" in errors


def test_nvidia_smi_where_there_is_no_library(tmp_path):
    """Kept running, no part of the job, and gone with the tracker."""
    world = World(str(tmp_path), GPUS)
    smi = tmp_path / "smi"
    smi.mkdir()
    (smi / "devices.head").write_text("index, utilization.gpu [%], memory.used [MiB], power.draw [W], name\n")
    (smi / "devices.rows").write_text("0, 42, 3072, 123.46, Tesla T4\n")
    (smi / "processes.head").write_text("# gpu  pid  type  sm  mem  enc  dec  fb  command\n")
    (smi / "processes.rows").write_text("0  -  -  -  -  -  -  -  -\n")
    job = f'echo "0 $$ C 30 1 - - 1500 sh" >{smi}/processes.rows; sleep 2.5'
    out = tmp_path / "rows.csv"
    result = track(world, "-q", "-o", str(out), "-s", str(tmp_path / "summary.json"), job=job, kind="broken",
                   env={"FAKE_SMI": str(smi), "PATH": os.path.join(ROOT, "tests", "gpu") + ":/usr/bin:/bin"})
    assert result.returncode == 0
    row = settled(rows_of(out))[1]
    assert row["system_gpu_usage"] == "0.42" and row["system_gpu_vram"] == "3072.0"
    assert row["process_gpu_usage"] == "0.3" and row["process_gpu_vram"] == "1500.0"
    assert json.loads((tmp_path / "summary.json").read_text())["totals"]["processes"]["value"] <= 4
    pids = [int(line.split()[0]) for line in (smi / "started").read_text().splitlines()]
    assert len(pids) == 2
    assert wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


def test_a_killed_tracker_leaves_no_program(tmp_path):
    world = World(str(tmp_path), GPUS)
    smi = tmp_path / "smi"
    smi.mkdir()
    (smi / "devices.head").write_text("index, utilization.gpu [%]\n")
    (smi / "devices.rows").write_text("0, 42\n")
    (smi / "processes.head").write_text("# gpu  pid  sm  fb\n")
    (smi / "processes.rows").write_text("0  -  -  -\n")
    tracker = subprocess.Popen([TRACKER, "system", "--root", world.root, "-i", "0.2", "-o", str(tmp_path / "o.csv")],
                               env={**world.environment("broken"), "FAKE_SMI": str(smi),
                                    "PATH": os.path.join(ROOT, "tests", "gpu") + ":/usr/bin:/bin"})
    def started():
        return (smi / "started").read_text().splitlines() if (smi / "started").exists() else []

    wait_until(lambda: len(started()) >= 2)
    tracker.send_signal(signal.SIGKILL)
    tracker.wait(30)
    pids = [int(line.split()[0]) for line in started()]
    assert len(pids) == 2
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))
    left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left

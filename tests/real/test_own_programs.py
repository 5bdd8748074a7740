"""Programs that the tracker itself runs (nvidia-smi where the library can't be loaded) are no part of the job."""

import json
import os
import subprocess
import time

import helpers
import pytest


@pytest.fixture
def smi(tmp_path):
    """A machine with an NVIDIA GPU, a library that can't be loaded, and a stand-in for nvidia-smi: (root, environment)."""
    root, library, files = tmp_path / "root", tmp_path / "library", tmp_path / "smi"
    for folder in (root / "dev", root / "sys", library, files):
        folder.mkdir(parents=True)
    (root / "proc").symlink_to("/proc")
    (root / "dev" / "nvidiactl").touch()
    (library / "libnvidia-ml.so.1").write_text("no library\n")
    (files / "devices.head").write_text("index, utilization.gpu [%], memory.used [MiB], name\n")
    (files / "devices.rows").write_text("0, 42, 3072, Tesla T4\n")
    (files / "processes.head").write_text("# gpu  pid  type  sm  mem  enc  dec  fb  command\n")
    (files / "processes.rows").write_text("0  -  -  -  -  -  -  -  -\n")
    stand_in = helpers.REPOSITORY / "tests" / "gpu"
    return root, {**os.environ, "FAKE_SMI": str(files), "LD_LIBRARY_PATH": str(library),
                  "PATH": f"{stand_in}:/usr/bin:/bin"}


def started(environment):
    file = os.path.join(environment["FAKE_SMI"], "started")
    return os.path.exists(file) and len(open(file, encoding="ascii").read().splitlines()) >= 2


def test_wait_ends_with_the_last_descendant(smi, tmp_path):
    """The job leaves a process behind, which is waited for; the tracker's own programs are not."""
    root, environment = smi
    first, go = tmp_path / "first", tmp_path / "go"
    left = f"until [ -e {go} ]; do sleep 0.05; done"
    summary = tmp_path / "summary.json"
    job = f"sh -c '{left}' & until [ -e {first} ]; do sleep 0.05; done"
    tracker = helpers.popen([helpers.binary(), "--root", root, "--no-save", "-q", "--wait", "-i", "0.2", "-s", summary,
                             "--", "sh", "-c", job], env=environment)
    helpers.wait_until(lambda: started(environment), "nvidia-smi")
    first.touch()
    with pytest.raises(subprocess.TimeoutExpired):
        tracker.wait(0.5)
    go.touch()
    assert tracker.wait(helpers.PATIENCE) == 0
    totals = json.loads(summary.read_text())["totals"]
    assert totals["cpu_seconds"]["source"].startswith("wait4")


def test_the_programs_are_gone_with_the_tracker(smi):
    root, environment = smi
    began = time.monotonic()
    helpers.run([helpers.binary(), "--root", root, "--no-save", "-q", "--wait", "-i", "0.2", "--", "sh", "-c",
                 "(sleep 0.7 &) ; sleep 0.3"], env=environment, check=True)
    assert time.monotonic() - began > 0.7, "what the job left was not waited for"
    assert started(environment)
    pids = [line.split()[0] for line in open(os.path.join(environment["FAKE_SMI"], "started"), encoding="ascii")]
    helpers.wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), "the end of nvidia-smi")


def test_info_says_how_gpus_are_read(smi):
    root, environment = smi
    facts = json.loads(helpers.tracker("--root", root, "info", "--json", env=environment).stdout)["server_info"]
    assert facts["gpu_count"] == 1 and facts["gpu_source"] == "nvidia-smi"
    assert "GPUs are read by     nvidia-smi" in helpers.tracker("--root", root, "info", env=environment).stdout
    assert json.loads(helpers.tracker("info", "--json").stdout)["server_info"]["gpu_source"] in (None, "nvml", "sysfs")

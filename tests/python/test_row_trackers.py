"""ProcessTracker and SystemTracker: CSV until the process ends or somebody interrupts."""

import csv
import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import run_python

from resource_tracker import PidTracker, ProcessTracker, SystemTracker, tracker
from resource_tracker.helpers import (
    aggregate_stats,
    cleanup_files,
    cleanup_processes,
    get_tracker_implementation,
    is_partition,
    is_psutil_available,
    render_csv_row,
)
from resource_tracker.tracker_procfs import get_process_stats, get_system_stats

from test_tracker_samples import PROCESS, SYSTEM


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "30"]) as process:
        yield process
        process.kill()


def end_after(process, seconds):
    threading.Timer(seconds, process.kill).start()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_process_until_it_ends(sleeper, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("what was there before")
    end_after(sleeper, 0.5)
    began = time.time()
    process = ProcessTracker(pid=sleeper.pid, interval=0.1, output_file=str(path))
    assert process.status == "exited" and process.cycle >= 3
    text = path.read_text()
    assert text.splitlines()[0] == ",".join(f'"{name}"' for name in PROCESS)
    rows = rows_of(text)
    assert len(rows) >= 3 and all(int(row["pid"]) == sleeper.pid for row in rows)
    assert float(rows[0]["timestamp"]) == pytest.approx(began + 0.1, abs=0.1)
    assert process() is None


def test_standard_output_without_a_header(sleeper, capsysbinary):
    end_after(sleeper, 0.3)
    ProcessTracker(pid=sleeper.pid, interval=0.1, autostart=False).start_tracking(print_header=False)
    lines = capsysbinary.readouterr().out.decode().splitlines()
    assert lines and all(line.split(",")[1] == str(sleeper.pid) for line in lines)


def test_standard_output_of_a_notebook(sleeper, monkeypatch):
    class Notebook(io.StringIO):
        buffer = None

    stream = Notebook()
    monkeypatch.setattr(sys, "stdout", stream)
    end_after(sleeper, 0.3)
    ProcessTracker(pid=sleeper.pid, interval=0.1)
    monkeypatch.undo()
    assert rows_of(stream.getvalue())[0]["pid"] == str(sleeper.pid)


def test_a_file_without_a_header_and_its_other_name(sleeper, tmp_path):
    path = tmp_path / "rows.csv"
    end_after(sleeper, 0.3)
    process = ProcessTracker(pid=sleeper.pid, interval=0.1, autostart=False)
    process.start_tracking(output_file=str(path), print_header=False)
    assert path.read_text().split(",")[1] == str(sleeper.pid)
    with pytest.raises(TypeError, match="another name"):
        ProcessTracker(output_file="a", csv_file_path="b")


def test_columns_of_other_releases(sleeper, tmp_path):
    end_after(sleeper, 0.2)
    ProcessTracker(pid=sleeper.pid, interval=0.1, csv_file_path=tmp_path / "v1.csv", schema="v1")
    assert "pss" in (tmp_path / "v1.csv").read_text().splitlines()[0]
    with pytest.raises(ValueError, match="schema must be one of"):
        ProcessTracker(schema="v9")


def test_one_that_is_gone(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    process = ProcessTracker(pid=gone.pid, interval=0.1, output_file=str(tmp_path / "rows.csv"))
    assert process.status == "exited" and process.stats["memory"] == 0


def test_it_may_begin_later(sleeper, tmp_path):
    end_after(sleeper, 0.7)
    start = time.time() + 0.3
    ProcessTracker(pid=sleeper.pid, start_time=start, interval=0.1, output_file=str(tmp_path / "rows.csv"))
    first = float(rows_of((tmp_path / "rows.csv").read_text())[0]["timestamp"])
    assert first == pytest.approx(start + 0.1, abs=0.08)


@pytest.mark.parametrize("kind", ["SystemTracker", "ProcessTracker"])
def test_ctrl_c_ends_it_at_once(kind, tmp_path):
    path = tmp_path / "rows.csv"
    with subprocess.Popen([sys.executable, "-c", f"""
from resource_tracker import {kind}
try:
    {kind}(interval=0.1, output_file={str(path)!r})
except KeyboardInterrupt:
    print("interrupted")
"""], stdout=subprocess.PIPE, text=True) as program:
        deadline = time.monotonic() + 10
        while (not path.exists() or path.read_text().count("\n") < 4) and time.monotonic() < deadline:
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert program.stdout.read().strip() == "interrupted"
        assert time.monotonic() - began < 2
    rows = rows_of(path.read_text())
    assert len(rows) >= 3
    assert list(rows[0]) == (SYSTEM if kind == "SystemTracker" else PROCESS)


def test_in_a_thread_it_lets_others_run(sleeper, tmp_path):
    thread = threading.Thread(target=ProcessTracker, kwargs={
        "pid": sleeper.pid, "interval": 0.05, "output_file": str(tmp_path / "rows.csv")})
    thread.start()
    count = 0
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        count += 1
    sleeper.kill()
    thread.join(5)
    assert not thread.is_alive() and count > 1000


def test_this_process_with_its_children(sleeper):
    process = ProcessTracker(interval=0.1, autostart=False)
    assert process.pid == os.getpid() and process.stats["children"] >= 1
    block = bytearray(30 << 20)
    block[::4096] = b"x" * len(block[::4096])
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    row = process.diff_stats()
    assert list(row) == PROCESS
    assert row["utime"] + row["stime"] == pytest.approx(0.2, abs=0.05)
    assert row["memory"] > 30 << 10 and process.cycle == 1
    assert process.stats["utime"] >= row["utime"]


def test_the_machine():
    machine = SystemTracker(autostart=False)
    time.sleep(0.1)
    row = machine.diff_stats()
    assert list(row) == SYSTEM
    assert row["processes"] == pytest.approx(len([n for n in os.listdir("/proc") if n.isdigit()]), abs=20)
    assert 0 <= row["cpu_usage"] <= os.cpu_count() + 0.2
    assert row["disk_space_total_gb"] == pytest.approx(row["disk_space_used_gb"] + row["disk_space_free_gb"], abs=0.1)


def test_the_old_name_warns():
    with pytest.warns(DeprecationWarning, match="PidTracker is deprecated .* Please use ProcessTracker"):
        old = PidTracker(autostart=False)
    assert isinstance(old, ProcessTracker)


def test_functions_of_the_first_releases(sleeper):
    assert sleeper.pid in tracker.get_pid_children(os.getpid())
    assert tracker.get_pid_children(sleeper.pid) == set()
    for function in (tracker.get_pid_rss, tracker.get_pid_pss_rollup):
        assert function(os.getpid()) > 1000 and function(99999999) == 0
    ticks = tracker.get_pid_proc_times(os.getpid(), children=False)
    assert (ticks["utime"] + ticks["stime"]) / os.sysconf("SC_CLK_TCK") == pytest.approx(time.process_time(), abs=0.1)
    assert tracker.get_pid_proc_times(99999999) == {"utime": 0, "stime": 0}
    assert tracker.get_pid_proc_io(os.getpid())["rchar"] > 0
    process = tracker.get_pid_stats(os.getpid())
    assert list(process) == ["timestamp", "pid", "children", "utime", "stime", "pss", "read_bytes", "write_bytes",
                             "gpu_usage", "gpu_vram", "gpu_utilized"]
    assert isinstance(process["utime"], int)
    machine = tracker.get_system_stats()
    assert machine["processes"] > get_system_stats()["processes"]  # forks since boot
    assert {"memory_active_anon", "memory_inactive_anon"} <= set(machine)
    assert all(set(disk) == {"read_sectors", "write_sectors"} for disk in machine["disk_stats"].values())


def test_functions_of_the_later_releases():
    assert get_tracker_implementation() == (get_process_stats, get_system_stats)
    process = get_process_stats(os.getpid(), children=False)
    assert process["children"] is None and isinstance(process["utime"], float)
    assert get_process_stats(99999999)["memory"] == 0


def test_helpers(tmp_path):
    assert render_csv_row(["a", 1, 2.5, None]) == b'"a",1,2.5,""\n'
    assert is_partition("no-such-disk1") is False
    disks = os.listdir("/sys/block")
    assert not any(is_partition(disk) for disk in disks)
    parts = [part for disk in disks for part in os.listdir(f"/sys/block/{disk}") if part.startswith(disk)]
    assert all(is_partition(part) for part in parts)
    assert is_psutil_available() in (True, False)
    path = tmp_path / "x"
    path.write_text("")
    cleanup_files([str(path), "/no/such/file"])
    assert not path.exists()
    assert aggregate_stats([]) == {}
    assert aggregate_stats([{"a": {"mean": 1, "max": 5}}, {"a": {"mean": 2, "max": None}, "b": {"sum": 3}}]) == {
        "a": {"mean": 1.5, "max": 5}, "b": {"sum": 3}}
    with pytest.raises(ValueError, match="Unsupported aggregation type: min"):
        aggregate_stats([{"a": {"min": 1}}])


def test_processes_are_ended():
    done = run_python("""
        import multiprocessing, signal, time
        from resource_tracker.helpers import cleanup_processes
        def stubborn():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            both = [context.Process(target=time.sleep, args=(60,)), context.Process(target=stubborn)]
            for process in both:
                process.start()
            time.sleep(0.2)
            cleanup_processes(both)
            print("ended")
    """)
    assert done.stdout.strip() == "ended"


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "resource_tracker", "--version"], capture_output=True, text=True,
                          check=True)
    assert done.stdout.startswith("resource-tracker ")

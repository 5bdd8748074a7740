"""ProcessTracker and SystemTracker: CSV until the process ends or somebody interrupts."""

import csv
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import lines_of, run_python, wait_until
from test_tracker_samples import PROCESS, SYSTEM

from resource_tracker import PidTracker, ProcessTracker, SystemTracker, tracker
from resource_tracker.helpers import (
    aggregate_stats,
    cleanup_files,
    get_tracker_implementation,
    is_partition,
    is_psutil_available,
    render_csv_row,
)
from resource_tracker.tracker_procfs import get_process_stats, get_system_stats


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "30"]) as process:
        yield process
        process.kill()


def end_when(process, condition):
    """Ends the process from beside as soon as the condition is true, at the latest after half a minute."""
    def end():
        wait_until(condition)
        process.kill()

    threading.Thread(target=end, daemon=True).start()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_process_until_it_ends(sleeper, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("what was there before")
    end_when(sleeper, lambda: lines_of(path) >= 4)
    began = time.time()
    process = ProcessTracker(pid=sleeper.pid, interval=0.1, output_file=str(path))
    assert process.status == "exited" and process.cycle >= 3
    text = path.read_text()
    assert text.splitlines()[0] == ",".join(f'"{name}"' for name in PROCESS)
    rows = rows_of(text)
    assert len(rows) >= 3 and all(int(row["pid"]) == sleeper.pid for row in rows)
    times = [float(row["timestamp"]) for row in rows]
    assert began + 0.099 <= times[0] and times == sorted(times) and times[-1] <= time.time() + 0.001
    assert process() is None


def test_standard_output_without_a_header(sleeper, capsysbinary):
    process = ProcessTracker(pid=sleeper.pid, interval=0.1, autostart=False)
    end_when(sleeper, lambda: process.cycle >= 3)
    process.start_tracking(print_header=False)
    lines = capsysbinary.readouterr().out.decode().splitlines()
    assert lines and all(line.split(",")[1] == str(sleeper.pid) for line in lines)


def test_standard_output_of_a_notebook(sleeper, monkeypatch):
    class Notebook(io.StringIO):
        buffer = None

    stream = Notebook()
    monkeypatch.setattr(sys, "stdout", stream)
    end_when(sleeper, lambda: stream.getvalue().count("\n") >= 2)
    ProcessTracker(pid=sleeper.pid, interval=0.1)
    monkeypatch.undo()
    assert rows_of(stream.getvalue())[0]["pid"] == str(sleeper.pid)


def test_a_file_without_a_header_and_its_other_name(sleeper, tmp_path):
    path = tmp_path / "rows.csv"
    end_when(sleeper, lambda: lines_of(path) >= 1)
    process = ProcessTracker(pid=sleeper.pid, interval=0.1, autostart=False)
    process.start_tracking(output_file=str(path), print_header=False)
    assert path.read_text().split(",")[1] == str(sleeper.pid)
    with pytest.raises(TypeError, match="another name"):
        ProcessTracker(output_file="a", csv_file_path="b")


def test_columns_of_other_releases(sleeper, tmp_path):
    end_when(sleeper, lambda: lines_of(tmp_path / "v1.csv") >= 2)
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
    end_when(sleeper, lambda: lines_of(tmp_path / "rows.csv") >= 2)
    start = time.time() + 0.5
    ProcessTracker(pid=sleeper.pid, start_time=start, interval=0.1, output_file=str(tmp_path / "rows.csv"))
    first = float(rows_of((tmp_path / "rows.csv").read_text())[0]["timestamp"])
    assert start + 0.099 <= first <= time.time()


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
        wait_until(lambda: lines_of(path) >= 4)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60)[0] == "interrupted\n"
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
    begin = time.process_time()
    process = ProcessTracker(interval=0.1, autostart=False)
    begun = time.process_time()
    assert process.pid == os.getpid() and process.stats["children"] >= 1
    block = bytearray(30 << 20)
    block[::4096] = b"x" * len(block[::4096])
    while time.process_time() < begun + 0.2:
        pass
    end = time.process_time()
    row = process.diff_stats()
    ended = time.process_time()
    assert list(row) == PROCESS
    ticks = 2 / os.sysconf("SC_CLK_TCK")  # user and system time are cut to ticks each
    assert end - begun - ticks <= row["utime"] + row["stime"] <= ended - begin + ticks
    assert row["memory"] > 30 << 10 and process.cycle == 1
    assert process.stats["utime"] >= row["utime"]


def test_the_machine():
    """Figures that others change meanwhile are held against what was true before and after."""
    def processes():
        return len([name for name in os.listdir("/proc") if name.isdigit()])

    begin = time.time()
    machine = SystemTracker(autostart=False)
    begun = time.time()
    time.sleep(0.3)
    forks, before, end = forks_of_the_machine(), processes(), time.time()
    row = machine.diff_stats()
    ended, after = time.time(), processes()
    changes = forks_of_the_machine() - forks
    assert list(row) == SYSTEM
    assert after - changes <= row["processes"] <= before + changes
    assert end - 0.001 <= row["timestamp"] <= ended + 0.001  # it is rounded to milliseconds
    # The kernel cuts user, nice and system time to ticks, and gives each core's tick to what runs just then.
    used, ticks = row["utime"] + row["stime"], (3 + os.cpu_count()) / os.sysconf("SC_CLK_TCK")
    assert 0 <= used <= os.cpu_count() * (ended - begin) + ticks
    assert used / (ended - begin) - 0.001 <= row["cpu_usage"] <= used / (end - begun) + 0.001
    assert row["disk_space_total_gb"] == pytest.approx(row["disk_space_used_gb"] + row["disk_space_free_gb"], abs=0.011)


def forks_of_the_machine():
    with open("/proc/stat", encoding="ascii") as file:
        return int(re.search(r"^processes (\d+)$", file.read(), re.MULTILINE).group(1))


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
            ready.set()
            time.sleep(60)
        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            ready = context.Event()
            both = [context.Process(target=time.sleep, args=(60,)), context.Process(target=stubborn)]
            for process in both:
                process.start()
            assert ready.wait(30)
            cleanup_processes(both)
            print("ended")
    """)
    assert done.stdout.strip() == "ended"


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "resource_tracker", "--version"], capture_output=True, text=True,
                          check=True)
    assert done.stdout.startswith("resource-tracker ")

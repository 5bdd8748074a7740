"""A tracker leaves no process and no file behind, however its owner ends."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import nothing_left, run_python, trackers_of, wait_until

from resource_tracker import ResourceTracker

START = """
    import os, sys, time
    from resource_tracker import ResourceTracker
    tracker = ResourceTracker(interval=0.05)
    print(os.getpid(), flush=True)
    tracker.wait_for_samples(2, timeout=60)
"""


def test_stop_ends_its_process_and_keeps_the_samples(temporary):
    tracker = ResourceTracker(interval=0.05)
    assert wait_until(lambda: trackers_of(os.getpid()))
    tracker.wait_for_samples(2, timeout=60)
    tracker.stop()
    assert not trackers_of(os.getpid())
    assert len(tracker.process_metrics) >= 2
    del tracker
    assert nothing_left(temporary, os.getpid())


def test_who_is_not_held_any_more_is_ended(temporary):
    ResourceTracker(interval=0.05)
    gc.collect()
    assert nothing_left(temporary, os.getpid())


def test_tables_outlive_their_tracker(temporary):
    tracker = ResourceTracker(interval=0.05)
    tracker.wait_for_samples(2, timeout=60)
    table = tracker.process_metrics
    del tracker
    gc.collect()
    assert wait_until(lambda: not trackers_of(os.getpid()))
    assert len(table["memory"]) == len(table) >= 2
    del table
    assert nothing_left(temporary, os.getpid())


def test_a_cycle_of_references_is_collected(temporary):
    tracker = ResourceTracker(interval=0.05)
    tracker.itself = tracker
    del tracker
    gc.collect()
    assert nothing_left(temporary, os.getpid())


@pytest.mark.parametrize("ending", [
    "",
    "sys.exit(3)",
    "raise ValueError('an end')",
    "sys.modules['held'] = tracker",
    "os.kill(os.getpid(), 2)",
    "os.kill(os.getpid(), 9)",
    "os._exit(0)",
    "os.abort()",
], ids=["plain", "exit", "exception", "held", "interrupt", "kill", "_exit", "abort"])
def test_the_end_of_the_interpreter(temporary, ending):
    done = run_python(START + "\n    " + ending, check=False)
    assert nothing_left(temporary, int(done.stdout.split()[0])), done.stderr


def test_ctrl_c_of_a_terminal_reaches_the_program_alone(temporary):
    ready = temporary.with_name(temporary.name + "-ready")
    program = subprocess.Popen([sys.executable, "-c", """
import pathlib, sys, time
from resource_tracker import ResourceTracker
tracker = ResourceTracker(interval=0.05)
tracker.wait_for_samples(1, timeout=30)
try:
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(60)
except KeyboardInterrupt:
    seen = tracker.n_samples
    tracker.wait_for_samples(seen + 2, timeout=60)
    tracker.stop()
    print("still measured", flush=True)
""", ready], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert wait_until(ready.exists)
        os.killpg(program.pid, signal.SIGINT)
        assert program.communicate(timeout=60)[0] == "still measured\n"
        assert program.returncode == 0
    finally:
        program.kill()
        ready.unlink(missing_ok=True)
    assert nothing_left(temporary, program.pid)


def test_a_child_born_by_fork_ends_nothing(temporary):
    done = run_python(START + """
    seen = tracker.n_samples
    child = os.fork()
    if child == 0:
        assert tracker.n_samples >= seen
        del tracker
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    tracker.wait_for_samples(tracker.n_samples + 2, timeout=60)
    tracker.stop()
    print(tracker.n_samples > seen)
    """)
    assert done.stdout.split()[-1] == "True"
    assert nothing_left(temporary, int(done.stdout.split()[0]))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(temporary, tmp_path, method):
    script = tmp_path / "job.py"
    script.write_text("""
import multiprocessing, os, sys
from resource_tracker import ResourceTracker

def inner(sent):
    tracker = ResourceTracker(interval=0.05, method=multiprocessing.get_start_method())
    tracker.wait_for_samples(1, timeout=60)
    assert tracker.pid == os.getpid()
    return sent.n_samples, tracker.process_metrics[-1]["pid"] == os.getpid()

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    tracker = ResourceTracker(interval=0.05)
    tracker.wait_for_samples(2, timeout=60)
    with multiprocessing.Pool(1) as pool:
        print(os.getpid(), pool.apply(inner, [tracker]), tracker.running)
""")
    done = subprocess.run([sys.executable, script, method], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    pid, _, rest = done.stdout.partition(" ")
    assert rest.rstrip().endswith("True) True")
    assert nothing_left(temporary, int(pid)), method


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_stopped_one_that_a_process_of_multiprocessing_still_holds(temporary, tmp_path, method):
    script = tmp_path / "job.py"
    script.write_text("""
import multiprocessing, os, sys
from resource_tracker import ResourceTracker

def inner():
    global held
    with ResourceTracker(interval=0.05) as held:
        held.wait_for_samples(1, timeout=60)

if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[1]).Process(target=inner)
    process.start()
    process.join()
    print(os.getpid(), process.exitcode)
""")
    done = subprocess.run([sys.executable, script, method], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split()[1:] == ["0"], done.stderr
    assert nothing_left(temporary, int(done.stdout.split()[0])), method


def test_pickling_gives_what_was_measured():
    with ResourceTracker(interval=0.05, method="spawn") as tracker:
        tracker.wait_for_samples(2, timeout=60)
    copy = pickle.loads(pickle.dumps(tracker))
    assert copy.stats() == tracker.stats()
    assert copy.totals == tracker.totals
    assert copy.processes == tracker.processes
    assert (copy.method, copy.pid, copy.running) == ("spawn", tracker.pid, False)


def test_many_threads_share_a_tracker():
    tracker = ResourceTracker(interval=0.02)
    tracker.wait_for_samples(1, timeout=60)
    failures = []

    def look():
        try:
            for _ in range(50):
                combined = tracker.get_combined_metrics()
                assert len(combined["timestamp"]) == len(combined)
                tracker.stats()
                tracker.server_info
                tracker.latest
        except Exception as e:  # told in the main thread
            failures.append(e)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tracker.stop()
    assert not failures


def test_a_tracker_started_in_a_thread_goes_on_without_it():
    box = []
    thread = threading.Thread(target=lambda: box.append(ResourceTracker(interval=0.05)))
    thread.start()
    thread.join()
    box[0].wait_for_samples(4, timeout=60)
    box[0].stop()


def test_errors_of_start_and_stop(caplog):
    tracker = ResourceTracker(interval=0.1, autostart=False)
    assert not tracker.running and not hasattr(tracker, "start_time")
    with pytest.raises(RuntimeError, match=r"already stopped with 0 sample\(s\), cannot wait .* 1 sample\(s\)"):
        tracker.wait_for_samples(timeout=60)
    with pytest.raises(RuntimeError, match=r"No metrics collected \(yet\)"):
        tracker.stats()
    tracker.start()
    with pytest.raises(RuntimeError, match="Resource tracker already running, cannot start again."):
        tracker.start()
    with pytest.raises(RuntimeError, match="Timed out waiting for resource tracker to collect 1000 samples"):
        tracker.wait_for_samples(1000, timeout=0.3)
    tracker.stop()
    tracker.stop()
    with pytest.raises(RuntimeError, match="Resource tracker already stopped. Create a new instance"):
        tracker.start()
    with pytest.raises(RuntimeError, match="already stopped with"):
        tracker.wait_for_samples(1000, timeout=60)


def test_a_record_without_times_is_that_of_a_stopped_tracker():
    row = {"timestamp": 10.0, "cpu_usage": 1.0, "memory": 1024, "gpu_usage": 0, "gpu_vram": 0, "gpu_utilized": 0}
    for rows in ([], [row]):
        tracker = ResourceTracker.from_snapshot({"metadata": {"track_system": False}, "process_metrics": rows})
        assert not tracker.running and "stopped" in repr(tracker)
        tracker.stop()
    assert tracker.recommend_server()["min_price_ondemand"] > 0
    with pytest.raises(RuntimeError, match="already stopped with 1 sample"):
        tracker.wait_for_samples(2, timeout=60)


def test_one_that_was_cleaned_up_is_over(temporary):
    with ResourceTracker(interval=0.05) as tracker:
        tracker.cleanup()
        assert not tracker.running and nothing_left(temporary, os.getpid())
        assert "cleaned up" in repr(tracker)
    with pytest.raises(OSError, match="the tracker was closed"):
        tracker.stats()


def test_bad_arguments():
    with pytest.raises(ValueError, match="cannot find context"):
        ResourceTracker(method="teleport")
    with pytest.raises(ValueError, match="0.001 to 3600 seconds"):
        ResourceTracker(interval=0)
    with pytest.raises(ValueError, match="neither processes nor the system"):
        ResourceTracker(track_processes=False, track_system=False)
    with pytest.raises(TypeError):
        ResourceTracker(pid="me")
    for pid in (-5, 0):
        with pytest.raises(ValueError, match=f"{pid} is no process's number"):
            ResourceTracker(pid=pid)


def test_a_process_that_is_not_there_is_told(caplog):
    gone = subprocess.Popen(["true"])
    gone.wait()
    tracker = ResourceTracker(pid=gone.pid, interval=0.05)
    tracker.stop()
    assert "Resource tracker subprocess failed!" in caplog.text
    assert "no process with pid" in caplog.text


def test_waiting_for_samples_of_a_process_that_is_gone_ends_at_once():
    gone = subprocess.Popen(["true"])
    gone.wait()
    started = time.monotonic()
    with pytest.raises(RuntimeError, match=f"no process with pid {gone.pid}"):
        ResourceTracker(pid=gone.pid, interval=0.05).wait_for_samples(timeout=100)
    with subprocess.Popen(["sleep", "100"]) as short:
        tracker = ResourceTracker(pid=short.pid, interval=0.05)
        tracker.wait_for_samples(2, timeout=30)
        short.kill()
    with pytest.raises(RuntimeError, match=f"process {short.pid} has ended, .*there are [0-9]+$"):
        tracker.wait_for_samples(1_000_000, timeout=100)
    assert time.monotonic() - started < 50  # and not the 100 seconds that are waited at most
    tracker.wait_for_samples(2, timeout=60)  # those are there


def test_without_its_program_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setenv("TRACKER_BIN", "/no/such/program")
    with pytest.raises(FileNotFoundError, match="TRACKER_BIN"):
        ResourceTracker()

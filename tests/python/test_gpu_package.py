"""gpu_tracker: states, figures, files, and the exchange with the package before."""

import json
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing

import pytest
from conftest import lines_of, nothing_left, run_python, trackers_of, wait_until
from gpu_machine import run_with_gpus

import gpu_tracker as gput
from gpu_tracker.tracker import ComputeTime, MaxGPURAM, MaxRAM, ResourceUsage, RSSValues

ORIGINAL = "gpu-tracker-5.0.1"
NO_COMMAND = "Neither the nvidia-smi command nor the amd-smi command is installed."


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A run with a tracking file and a log of two code blocks."""
    folder = tmp_path_factory.mktemp("work")
    tracking, log = str(folder / "tracking.csv"), str(folder / "log.csv")
    began = time.monotonic()
    with gput.Tracker(sleep_time=0.05, ram_unit="megabytes", time_unit="seconds", tracking_file=tracking) as tracker:
        begun = time.monotonic()
        for _ in range(3):
            with gput.SubTracker("load", sub_tracking_file=log):
                wait_for_rows(tracking, 2)
            with gput.SubTracker("fit", sub_tracking_file=log):
                block = bytearray(20_000_000)
                wait_for_rows(tracking, 2)
                del block
        end = time.monotonic()
    tracker.seconds = end - begun, time.monotonic() - began  # it tracked at least and at most
    return tracker, tracking, log


def wait_for_rows(path, count):
    """So many more rows of a tracking file that begin after this call; one may be on its way."""
    wanted = lines_of(path) + count + 1
    assert wait_until(lambda: lines_of(path) >= wanted)


def test_states_and_their_errors():
    tracker = gput.Tracker(sleep_time=0.1)
    assert repr(tracker) == "State: NEW" and tracker.state is gput.Tracker.State.NEW
    for show in (str, gput.Tracker.to_json, lambda tracker: tracker.max_ram):
        with pytest.raises(RuntimeError, match="Cannot display the tracker in string or JSON format before tracking"):
            show(tracker)
    with pytest.raises(RuntimeError, match="Cannot stop tracking when tracking has not started yet."):
        tracker.stop()
    tracker.start()
    with pytest.raises(RuntimeError, match="Cannot start tracking when tracking has already started."):
        tracker.start()
    tracker.stop()
    assert repr(tracker) == "State: STOPPED"
    with pytest.raises(RuntimeError, match="Cannot stop tracking when tracking has already stopped."):
        tracker.stop()
    with pytest.raises(RuntimeError, match="Cannot start tracking when tracking has already stopped."):
        tracker.start()
    assert not trackers_of(os.getpid())


@pytest.mark.parametrize("arguments, message", [
    ({"ram_unit": "milibytes"}, '"milibytes" is not a valid RAM unit. Valid values are '),
    ({"gpu_ram_unit": "x"}, '"x" is not a valid GPU RAM unit'),
    ({"time_unit": "years"}, '"years" is not a valid time unit'),
    ({"sleep_time": 0}, "Sleep time of 0 is invalid"),
    ({"gpu_brand": "voodoo"}, '"voodoo" is not a valid GPU brand. Supported values are "nvidia" and "amd".'),
    ({"gpu_uuids": set()}, "gpu_uuids is not None but the set is empty"),
    ({"tracking_file": "rows.txt"}, "rows.txt"),
])
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        gput.Tracker(**arguments)


def test_figures(work):
    tracker = work[0]
    assert tracker.compute_time.unit == "seconds"
    assert tracker.seconds[0] - 0.01 <= tracker.compute_time.time <= tracker.seconds[1] + 0.01
    ram = tracker.max_ram
    assert ram.main.private_rss > 20 and ram.combined.total_rss >= ram.main.total_rss
    assert ram.main.total_rss == pytest.approx(ram.main.private_rss + ram.main.shared_rss, rel=0.05)
    assert ram.descendents is ram.descendants
    ram.descendants = RSSValues(1.0)
    assert ram.descendents.total_rss == 1.0
    ram.descendents = RSSValues()
    assert tracker.cpu_utilization.system_core_count == os.cpu_count()
    assert isinstance(tracker.resource_usage, ResourceUsage) and tracker.resource_usage.max_ram is ram
    copy = pickle.loads(pickle.dumps(tracker))
    assert copy.to_json() == tracker.to_json()


def test_descendants_are_seen(tmp_path):
    rows = tmp_path / "rows.csv"
    with gput.Tracker(sleep_time=0.05, ram_unit="megabytes", tracking_file=str(rows)) as tracker:
        with subprocess.Popen([sys.executable, "-c", "b = bytearray(30_000_000); print(1, flush=True); input()"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            wait_for_rows(rows, 2)
            child.stdin.write(b"\n")
    assert tracker.max_ram.descendents.private_rss > 30
    assert tracker.max_ram.combined.total_rss > tracker.max_ram.main.total_rss


def test_another_process_and_one_that_is_gone(caplog, tmp_path):
    rows = tmp_path / "rows.csv"
    with subprocess.Popen(["sleep", "60"]) as process:
        with gput.Tracker(sleep_time=0.05, ram_unit="kilobytes", process_id=process.pid, tracking_file=str(rows)) as tracker:
            wait_for_rows(rows, 2)
        process.kill()
    assert 0 < tracker.max_ram.main.total_rss < 20_000
    with gput.Tracker(process_id=process.pid) as tracker:
        pass
    assert "ended before tracking could begin" in caplog.text
    assert tracker.max_ram.main.total_rss == 0.0
    caplog.clear()
    with gput.Tracker(process_id=process.pid, disable_logs=True):
        pass
    assert not caplog.text


def test_a_machine_without_gpus_is_told(caplog, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with gput.Tracker(sleep_time=0.1):
        pass
    assert NO_COMMAND in caplog.text
    caplog.clear()
    for arguments in ({"disable_logs": True}, {"gpu_brand": "nvidia"}):
        with gput.Tracker(sleep_time=0.1, **arguments):
            pass
    assert not caplog.text
    command = tmp_path / "nvidia-smi"
    command.write_text("#!/bin/sh\nexit 9\n")
    command.chmod(0o755)
    with gput.Tracker(sleep_time=0.1):
        pass
    assert "The nvidia-smi command is installed but cannot connect to a GPU." in caplog.text


def test_text_and_json_are_the_same_figures(work):
    tracker = work[0]
    text = str(tracker)
    assert text.splitlines()[:4] == ["Max RAM:", "   Unit: megabytes",
                                     f"   System capacity: {float(f'{tracker.max_ram.system_capacity:.3f}')}",
                                     f"   System: {float(f'{tracker.max_ram.system:.3f}')}"]
    assert "   Descendents:\n      Total RSS: 0.0" in text
    assert text.splitlines()[-3:-1] == ["Compute time:", "   Unit: seconds"]
    assert list(tracker.to_json()) == ["max_ram", "max_gpu_ram", "compute_time"]
    assert list(tracker.to_json()["max_gpu_ram"]) == ["unit", "main", "descendents", "combined"]
    assert json.dumps(tracker.to_json(), indent=1).startswith('{\n "max_ram": {\n  "unit": "megabytes",')


def test_representations():
    ram = MaxRAM("megabytes", 1.5, 0.5)
    assert repr(ram) == (
        "MaxRAM(unit='megabytes', system_capacity=1.5, system=0.5, main=RSSValues(total_rss=0.0, private_rss=0.0, "
        "shared_rss=0.0), descendents=RSSValues(total_rss=0.0, private_rss=0.0, shared_rss=0.0), "
        "combined=RSSValues(total_rss=0.0, private_rss=0.0, shared_rss=0.0))")
    assert repr(MaxGPURAM("kilobytes")) == "MaxGPURAM(unit='kilobytes', main=0.0, descendents=0.0, combined=0.0)"
    assert repr(ComputeTime("seconds", 0.5)) == "ComputeTime(unit='seconds', time=0.5)"


SHOW_5 = """
    import gpu_tracker.tracker as t, json, sys
    percentages = t.ProcessingUnitPercentages(150.5, 75.25, 12.0, 6.0)
    usage = t.ResourceUsage(
        t.MaxRAM("gigabytes", 67.2541, 4.5, t.RSSValues(0.061, 0.05, 0.011)), t.MaxGPURAM("gigabytes", 16.0, 2.0, 1.25),
        t.CPUUtilization(8, 4, percentages, percentages, main_n_threads=12, combined_n_threads=13),
        t.GPUUtilization(2, 1, percentages), t.ComputeTime("hours", 0.00012))
    tracker = t.Tracker(disable_logs=True)
    tracker.resource_usage = usage
    print(json.dumps([str(tracker), tracker.to_json(), repr(usage)]))
"""


def test_the_form_of_release_5_is_that_of_the_original(in_original, monkeypatch):
    theirs = in_original(SHOW_5, package=ORIGINAL)
    monkeypatch.setenv("GPU_TRACKER_COMPAT", "5")
    assert json.loads(run_python(SHOW_5).stdout) == theirs


def test_tracking_files(work, tmp_path):
    lines = open(work[1], encoding="utf-8").read().splitlines()
    assert lines[0].startswith("ram_unit,gpu_ram_unit,time_unit,ram_system_capacity")
    assert lines[1].startswith("megabytes,gigabytes,seconds,")
    assert lines[2].startswith("main_ram,descendants_ram,combined_ram,system_ram") and len(lines) > 8
    with pytest.raises(FileExistsError, match="Set overwrite to True to overwrite the existing file"):
        gput.Tracker(tracking_file=work[1])
    path = str(tmp_path / "rows.sqlite")
    for overwrite in (False, True):
        with gput.Tracker(sleep_time=0.05, tracking_file=path, overwrite=overwrite):
            assert wait_until(lambda: rows_of_database(path) >= 2)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT ram_unit FROM static_data").fetchone() == ("gigabytes",)
    assert rows_of_database(path) >= 2


def rows_of_database(path):
    try:
        with closing(sqlite3.connect(path)) as database:
            return database.execute("SELECT COUNT(*) FROM data").fetchone()[0]
    except sqlite3.OperationalError:  # it has no table yet, or is just being written
        return 0


def test_code_blocks(work):
    analyzer = gput.SubTrackingAnalyzer(*work[1:])
    assert analyzer.load_code_block_names() == ["fit", "load"]
    pairs = analyzer.load_timestamp_pairs("fit")
    assert len(pairs) == 3 and all(stop - start > 0.05 for start, stop in pairs)
    assert sum(stop - start for start, stop in pairs) < work[0].seconds[1]
    points = analyzer.load_timepoints(pairs)
    assert len(points) >= 3 and all(any(a <= t <= b for a, b in pairs) for t in points["timestamp"])
    assert analyzer.read_static_data()["ram_unit"] == "megabytes"
    assert list(analyzer.overall_timepoint_results().columns) == ["min", "max", "mean", "std"]
    results = analyzer.sub_tracking_results()
    fit, load = results.code_block_results
    assert (fit.name, fit.num_calls, fit.num_timepoints) == ("fit", 3, len(points))
    assert fit.resource_usage["max"]["main_ram"] > load.resource_usage["mean"]["main_ram"]
    assert fit.compute_time["total"] == pytest.approx(sum(stop - start for start, stop in pairs))


def test_names_by_default_and_the_decorator(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    @gput.sub_track(sub_tracking_file="calls.csv")
    def named(n):
        return n + 1

    assert named(1) + named(2) == 5 and named.__name__ == "named"
    with gput.SubTracker() as sub:
        pass
    assert sub.code_block_name.startswith(os.path.relpath(__file__)) and sub.code_block_name.rpartition(":")[2].isdigit()
    assert sub.sub_tracking_file == f"{os.getpid()}.csv" and os.path.exists(sub.sub_tracking_file)
    analyzer = gput.SubTrackingAnalyzer(None, "calls.csv")
    assert analyzer.load_code_block_names() == [f"{os.path.abspath(__file__)}:named"]
    gput.SubTrackingAnalyzer(None, "both.csv").combine_sub_tracking_files(["calls.csv", sub.sub_tracking_file])
    assert len(gput.SubTrackingAnalyzer(None, "both.csv").load_code_block_names()) == 2
    with pytest.raises(ValueError, match="File already exists"):
        gput.SubTrackingAnalyzer(None, "both.csv").combine_sub_tracking_files(["calls.csv"])
    with pytest.raises(ValueError, match='Must end in ".sqlite"'):
        gput.SubTrackingAnalyzer(None, "x.sqlite").combine_sub_tracking_files(["calls.csv"])
    with pytest.raises(ValueError, match="Valid file extensions"):
        gput.SubTrackingAnalyzer("a.txt", "b.csv")


def test_a_log_of_another_run_is_not_touched(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="already exists. Set overwrite"):
        with gput.SubTracker("x", sub_tracking_file=str(path)):
            pass
    assert path.read_text() == "mine"
    with gput.SubTracker("x", sub_tracking_file=str(path), overwrite=True):
        pass
    with gput.SubTracker("y", sub_tracking_file=str(path), overwrite=True):
        pass
    assert len(path.read_text().splitlines()) == 5


ANALYZE = """
    import sys
    sys.modules["pyarrow"] = None  # it would show in the pickle, and the other side may not have it
    import gpu_tracker as gput, json, pickle
    results = gput.SubTrackingAnalyzer(sys.argv[1], sys.argv[2]).sub_tracking_results()
    with open(sys.argv[3], "wb") as file:
        pickle.dump(results, file)
    comparison = gput.TrackingComparison({"one": sys.argv[3], "two": sys.argv[4] if len(sys.argv) > 4 else sys.argv[3]})
    compared = comparison.compare("max")
    print(json.dumps([str(results), results.to_json(), str(compared), compared.to_json()]))
"""


def test_analysis_and_comparison_are_those_of_the_original(work, in_original, tmp_path):
    theirs_file, ours_file = str(tmp_path / "theirs.pkl"), str(tmp_path / "ours.pkl")
    theirs = in_original(ANALYZE, *work[1:], theirs_file, package=ORIGINAL)
    ours = json.loads(run_python(ANALYZE, *work[1:], ours_file).stdout)
    assert ours[0] == theirs[0]
    assert near(ours[1], theirs[1]) and near(ours[3], theirs[3])
    assert ours[2] == theirs[2]
    # Pickles go both ways.
    mixed = json.loads(run_python(ANALYZE, *work[1:], ours_file, theirs_file).stdout)
    assert near(mixed[3], theirs[3])
    theirs_again = in_original("""
        import gpu_tracker as gput, json, sys
        print(json.dumps(gput.TrackingComparison({"one": sys.argv[1], "two": sys.argv[2]}).compare("max").to_json()))
        """, theirs_file, ours_file, package=ORIGINAL)
    assert near(theirs_again, theirs[3])


def near(ours, theirs):
    """The same figures; sums of floats may differ in the last digits."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and list(ours) == list(theirs) and all(near(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(near, ours, theirs))
    if isinstance(theirs, float):
        return (theirs != theirs and ours != ours) or ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    return ours == theirs


def test_the_original_reads_our_tracking_files_and_we_its(in_original, tmp_path):
    theirs = str(tmp_path / "theirs.csv")
    in_original("""
        import gpu_tracker as gput, sys, time
        with gput.Tracker(sleep_time=0.1, tracking_file=sys.argv[1], disable_logs=True):
            with gput.SubTracker("block", sub_tracking_file=sys.argv[2]):
                time.sleep(1)
        print("null")
        """, theirs, str(tmp_path / "log.csv"), package=ORIGINAL)
    results = gput.SubTrackingAnalyzer(theirs, str(tmp_path / "log.csv")).sub_tracking_results()
    assert results.code_block_results[0].num_calls == 1
    assert results.static_data["system_core_count"] == os.cpu_count()


def test_comparison_that_can_not_be_made(work, tmp_path, caplog):
    results = gput.SubTrackingAnalyzer(*work[1:]).sub_tracking_results()
    paths = {}
    for name, block in (("a", "x.py:7"), ("b", "x.py:12"), ("c", "y.py:7")):
        results.code_block_results[0].name = block
        paths[name] = str(tmp_path / name)
        with open(paths[name], "wb") as file:
            pickle.dump(results, file)
    comparison = gput.TrackingComparison({"a": paths["a"], "b": paths["b"]})
    assert "differ by line number" in caplog.text
    assert "x.py:12 -> x.py:7" in comparison.compare().code_block_compute_time
    with pytest.raises(ValueError, match="does not match code block name"):
        gput.TrackingComparison({"a": paths["a"], "c": paths["c"]})
    with pytest.raises(ValueError, match="Invalid summary statistic 'median'. Valid values are min max mean std."):
        comparison.compare("median")
    del results.code_block_results[0]
    with open(paths["c"], "wb") as file:
        pickle.dump(results, file)
    with pytest.raises(ValueError, match="must have the same number of code blocks"):
        gput.TrackingComparison({"a": paths["a"], "c": paths["c"]})


def test_without_pandas(work, tmp_path):
    done = run_python("""
        import sys
        sys.modules["pandas"] = None
        import gpu_tracker as gput
        results = gput.SubTrackingAnalyzer(*sys.argv[1:]).sub_tracking_results()
        print(type(results.overall).__name__, results.code_block_results[0].compute_time["max"] > 0)
        print(str(results).splitlines()[0])
        """, *work[1:])
    assert done.stdout.splitlines() == ["dict True", "Overall:"]


def test_the_end_of_the_program(temporary, tmp_path):
    done = run_python("""
        import gpu_tracker as gput, os, sys
        tracker = gput.Tracker(sleep_time=0.1, resource_usage_file=sys.argv[1])
        tracker.start()
        print(os.getpid())
        sys.exit(0)
        """, tmp_path / "usage.pkl")
    assert nothing_left(temporary, int(done.stdout))
    usage = pickle.loads((tmp_path / "usage.pkl").read_bytes())
    assert isinstance(usage, ResourceUsage) and usage.max_ram.main.total_rss > 0


def test_pickles_of_either_spelling(in_original, tmp_path):
    path = tmp_path / "usage.pkl"
    in_original("""
        import gpu_tracker.tracker as t, pickle, sys
        with open(sys.argv[1], "wb") as file:
            pickle.dump(t.MaxRAM("bytes", 1.0, descendants=t.RSSValues(3.0)), file)
        print("null")
        """, path, package=ORIGINAL)
    assert pickle.loads(path.read_bytes()).descendents.total_rss == 3.0


def test_made_up_gpus(tmp_path):
    """Two GPUs, one of which this process uses: both packages see them."""
    script = textwrap.dedent("""\
        devices 2
        gpu 0 utilization 60 10
        gpu 0 memory 16000000000 0 3000000000
        gpu 0 process PID 2000000000
        gpu 0 sample PID 50 0
        gpu 1 utilization 0 0
        gpu 1 memory 16000000000 0 0
        """)
    out = run_with_gpus(tmp_path, script, """
        import json, logging, sys, time
        import gpu_tracker as gput
        from resource_tracker import ResourceTracker, get_server_info
        logging.basicConfig(stream=sys.stdout)  # a warning would be no JSON
        with gput.Tracker(sleep_time=0.2) as tracker, ResourceTracker(interval=0.2) as sampler:
            sampler.wait_for_samples(3, timeout=60)
        info = get_server_info()
        print(json.dumps([tracker.to_json()["max_gpu_ram"], sampler.latest, info["gpu_count"], info["gpu_memory_mb"],
                          sampler.recommend_resources(), tracker.gpu_utilization.system_gpu_count]))
        """)
    ram, row, count, memory, needs, gpus = json.loads(out)
    assert ram["main"] == ram["combined"] == 2.0 and ram["descendents"] == 0.0
    assert row["process_gpu_vram"] == pytest.approx(2e9 / 2**20, rel=0.01)
    assert row["system_gpu_vram"] == pytest.approx(3e9 / 2**20, rel=0.01)
    assert row["system_gpu_usage"] == pytest.approx(0.6) and row["system_gpu_utilized"] == 1
    assert (count, gpus) == (2, 2) and memory == pytest.approx(2 * 16e9 / 2**20, rel=0.01)
    assert needs["gpu"] == 1 and needs["vram"] >= 2048


@pytest.mark.parametrize("words, message", [
    ("analyze -f pickle -o out.pkl", "name the tracking file with --tf"),
    ("analyze -f pickle --tf gone.csv --stf gone.csv -o out.pkl", "can't read gone.csv"),
    ("compare -m a", "-m takes NAME=FILE, not a"),
    ("compare -m a=junk b=junk", "gpu-tracker: junk: no pickle of results, or a damaged one"),
    ("compare -m a=empty b=empty", "gpu-tracker: empty: no pickle of results, or a damaged one"),
    ("compare -m a=other.json b=other.json", "gpu-tracker: other.json: no results of sub-tracking"),
    ("compare --cconfig gone.json", "gone.json"),
    ("compare --cconfig empty", "gpu-tracker: "),
    ("compare", "name what is compared"),
])
def test_what_the_module_is_asked_wrongly(tmp_path, words, message):
    (tmp_path / "junk").write_bytes(b"\x80\x04junk")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "other.json").write_text('{"a": 1}')
    done = subprocess.run([sys.executable, "-m", "gpu_tracker", "sub-track", *words.split()], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr

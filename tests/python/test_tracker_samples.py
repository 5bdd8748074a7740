"""What a tracker measures, and the forms in which it gives it."""

import json
import os
import re
import resource
import subprocess
import time
from statistics import median

import pytest

from resource_tracker import ResourceTracker, track
from resource_tracker.dummy_workloads import cpu_multi, cpu_single
from resource_tracker.tiny_data_frame import StatSpec
from resource_tracker.tracker import _DEFAULT_STATS

PROCESS = ["timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory", "read_bytes", "write_bytes",
           "gpu_usage", "gpu_vram", "gpu_utilized"]
SYSTEM = ["timestamp", "processes", "utime", "stime", "cpu_usage", "memory_free", "memory_used", "memory_buffers",
          "memory_cached", "memory_active", "memory_inactive", "disk_read_bytes", "disk_write_bytes",
          "disk_space_total_gb", "disk_space_used_gb", "disk_space_free_gb", "net_recv_bytes", "net_sent_bytes",
          "gpu_usage", "gpu_vram", "gpu_utilized"]


def used_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@pytest.fixture(scope="module")
def busy():
    """A tracker of a second of work in two processes, stopped."""
    os.environ["TRACKER_CLOUD"] = "off"
    before = used_seconds()
    with ResourceTracker(interval=0.1) as tracker:
        cpu_multi(duration=0.8, ncores=2)
        tracker.used_seconds = used_seconds() - before
    return tracker


def test_columns(busy):
    assert busy.process_metrics.columns == PROCESS
    assert busy.system_metrics.columns == SYSTEM
    combined = busy.get_combined_metrics()
    assert combined.columns == (["timestamp"] + ["system_" + name for name in SYSTEM[1:]]
                                + ["process_" + name for name in PROCESS[1:]])
    assert len(combined) == len(busy.process_metrics) == len(busy.system_metrics) == busy.n_samples


def test_the_work_is_seen(busy):
    totals = busy.totals
    assert totals["cpu_seconds"]["value"] == pytest.approx(busy.used_seconds, rel=0.1, abs=0.03)
    assert sum(busy.process_metrics["utime"]) > totals["cpu_seconds"]["value"] / 2
    assert max(busy.process_metrics["children"]) >= 2
    assert totals["processes"]["value"] >= 3
    assert len(busy.processes) >= 3
    ended = [p for p in busy.processes if p["pid"] != os.getpid()]
    assert all(p["end_time"] >= p["start_time"] for p in ended) and len(ended) >= 2
    assert busy.snapshot()["processes"] == busy.processes  # what a page makes its table of
    assert busy.processes[0]["cpu_seconds"] >= busy.processes[-1]["cpu_seconds"]
    assert totals["peak_memory_bytes"]["value"] >= 1024 * max(busy.process_metrics["memory"]) * 0.99


def test_rows_fall_on_the_grid(busy):
    times = busy.process_metrics["timestamp"]
    assert busy.start_time == pytest.approx(round(busy.start_time, 1))
    # No row is early. A busy machine makes some of them late, and rows of intervals that have passed are left out.
    late = [(moment - busy.start_time + 0.001) % 0.1 for moment in times]
    assert times[0] >= busy.start_time + 0.099
    assert all(after - before >= 0.099 - lateness for before, after, lateness in zip(times, times[1:], late))
    assert median(late) < 0.05


def test_names_and_units_for_people(busy):
    plain, people = busy.get_combined_metrics(), busy.get_combined_metrics(bytes=True, human_names=True)
    assert people.columns[0] == "Timestamp"
    assert {"System used memory", "Process memory usage", "Process disk read", "System VRAM used"} <= set(people.columns)
    assert people["Process memory usage"] == [kib * 1024 for kib in plain["process_memory"]]
    assert people["System disk space used"][0] == pytest.approx(plain["system_disk_space_used_gb"][0] * 1024**3)
    other = busy.get_combined_metrics(system_prefix="s.", process_prefix="p.")
    assert other.columns[1] == "s.processes" and other.columns[-1] == "p.gpu_utilized"


def test_statistics_equal_those_of_plain_python(busy):
    stats, rows = busy.stats(), busy.get_combined_metrics()
    assert len([1 for kinds in stats.values() for _ in kinds]) == 14
    memory = rows["process_memory"]
    assert stats["process_memory"] == {"mean": round(sum(memory) / len(memory), 2), "max": round(max(memory), 2)}
    assert stats["system_net_recv_bytes"]["sum"] == sum(rows["system_net_recv_bytes"])
    times = rows["timestamp"]
    assert stats["timestamp"]["duration"] == pytest.approx(max(times) - min(times) + 0.1)
    own = busy.stats([StatSpec("process_memory", agg=min), StatSpec("process_memory", agg=len, agg_name="rows"),
                      StatSpec("no_such_column", agg=max)])
    assert own == {"process_memory": {"min": min(memory), "rows": len(memory)}}


def test_usual_statistics_are_those_of_the_default_argument(busy):
    """The library computes them from a list of its own; the original's callers see that of Python."""
    by_list = busy.stats(list(_DEFAULT_STATS))
    assert list(busy.stats()) == list(by_list)
    for column, values in busy.stats().items():
        assert values == {name: None if value is None else pytest.approx(value) for name, value in by_list[column].items()}


def test_the_classic_recommendation(busy):
    needs = busy.recommend_resources()
    assert list(needs) == ["cpu", "memory", "gpu", "vram"]
    assert needs["cpu"] == max(1, round(busy.stats()["process_cpu_usage"]["mean"]))
    assert (needs["gpu"], needs["vram"]) == (0, 0)
    earlier = json.loads(json.dumps(busy.stats()))
    earlier["process_memory"]["max"] = 3000 * 1024
    earlier["process_cpu_usage"]["mean"] = 21.0
    more = busy.recommend_resources(historical_stats=[earlier])
    assert more["memory"] == 4096
    assert more["cpu"] == round((busy.stats()["process_cpu_usage"]["mean"] + 21) / 2)


def test_snapshot(busy, tmp_path):
    snapshot = busy.snapshot()
    metadata = snapshot["metadata"]
    assert metadata["resource_tracker"]["implementation"] == "native"
    assert (metadata["pid"], metadata["interval"], metadata["method"]) == (os.getpid(), 0.1, None)
    assert metadata["duration"] == pytest.approx(busy.stop_time - busy.start_time + 0.1, abs=0.011)
    assert len(snapshot["process_metrics"]) == busy.n_samples
    path = tmp_path / "run.json.gz"
    busy.dump(str(path))
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    for copy in (ResourceTracker.load(str(path)), ResourceTracker.loads(busy.dumps()),
                 ResourceTracker.from_snapshot(snapshot)):
        assert copy.stats() == busy.stats()
        assert copy.process_metrics.to_dict() == busy.process_metrics.to_dict()
        assert copy.server_info == busy.server_info
        assert (copy.start_time, copy.pid, copy.running) == (pytest.approx(busy.start_time), busy.pid, False)
        with pytest.raises(RuntimeError, match="already stopped"):
            copy.start()


def test_server_info_tells_who_else_is_there(busy):
    info = busy.server_info
    assert info["os"] == "Linux" and info["vcpus"] == os.cpu_count()
    assert info["allocation"] in ("shared", "dedicated")
    assert ResourceTracker(autostart=False).server_info is None


@pytest.mark.parametrize("kept, left_out", [("track_processes", "track_system"), ("track_system", "track_processes")])
def test_one_alone(kept, left_out):
    with ResourceTracker(interval=0.05, **{left_out: False}) as tracker:
        tracker.wait_for_samples(2, timeout=60)
    assert tracker.n_samples >= 2
    prefix = "process_" if kept == "track_processes" else "system_"
    assert all(name == "timestamp" or name.startswith(prefix) for name in tracker.get_combined_metrics().columns)
    assert tracker.stats()["timestamp"]["duration"] > 0
    empty = tracker.system_metrics if kept == "track_processes" else tracker.process_metrics
    assert len(empty) == 0 and empty.columns == []


def test_children_are_left_out_when_asked():
    with subprocess.Popen(["sleep", "30"]) as child:
        with ResourceTracker(interval=0.05, children=False) as tracker:
            tracker.wait_for_samples(2, timeout=60)
        child.kill()
    assert tracker.latest["process_children"] is None


def test_latest_and_totals_while_it_runs():
    with ResourceTracker(interval=0.05) as tracker:
        assert tracker.totals is None and tracker.processes is None
        tracker.wait_for_samples(1, timeout=60)
        first = tracker.latest
        tracker.wait_for_samples(3, timeout=60)
        assert tracker.latest["timestamp"] > first["timestamp"]
        assert first["process_pid"] == os.getpid()
    assert tracker.totals["cpu_seconds"]["source"]


def test_a_short_block_is_told_as_long_as_it_was():
    created = time.monotonic()
    with ResourceTracker(interval=0.5) as tracker:
        assert "wall_seconds" not in tracker.snapshot()["metadata"]
        tracker.wait_for_samples(1, timeout=30)  # it counts from before that
        begin = time.monotonic()
        while time.monotonic() - begin < 1.2:  # of which samples see a part
            pass
    stopped = time.monotonic()
    metadata = tracker.snapshot()["metadata"]
    assert 1.2 <= metadata["wall_seconds"] <= stopped - created
    data = re.search(r'id="run-data">(.*?)</script>', tracker.report(), re.S).group(1)
    cores = json.loads(data)["charts"]["columns"]["process_cpu"]["stats"]["mean"]
    assert cores == pytest.approx(tracker.totals["cpu_seconds"]["value"] / metadata["wall_seconds"], rel=1e-3)


def test_marks_are_in_the_record():
    with ResourceTracker(interval=0.05) as tracker:
        tracker.mark("loaded")
        tracker.wait_for_samples(1, timeout=60)
    assert [event["name"] for event in tracker.snapshot()["events"]] == ["loaded"]


def test_the_decorator():
    @track
    def plain(n):
        """Doubles."""
        return n * 2

    @track(interval=0.05, track_system=False)
    def fails():
        cpu_single(0.2)
        raise KeyError("x")

    assert plain.tracker is None
    assert plain(4) == 8 and plain.__doc__ == "Doubles."
    assert plain.tracker.totals["cpu_seconds"]["value"] >= 0
    with pytest.raises(KeyError):
        fails()
    assert not fails.tracker.running and fails.tracker.trackers == ["process_tracker"]


def test_the_time_to_wait_counts_from_the_start():
    tracker = ResourceTracker(interval=30)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="Timed out"):
        tracker.wait_for_samples(1, timeout=tracker.start_time and time.time() - tracker.start_time + 0.3)
    assert time.monotonic() - began < 5
    tracker.stop()

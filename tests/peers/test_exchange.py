"""Snapshots of the Python releases load here and ours load there, with the same statistics."""

import gzip
import json
import os
import subprocess

import pytest
from gpu_world import BUILD
from releases import library, peer  # noqa: F401 (fixtures)

TRACKER = os.environ.get("TRK_BIN", os.path.join(BUILD, "resource-tracker"))

MAKE = """
import json, sys, time
from resource_tracker import ResourceTracker
tracker = ResourceTracker(interval=0.1, discover_cloud=False)
if not tracker.running:
    tracker.start()
held = bytearray(20 << 20)
deadline = time.time() + 20
while tracker.n_samples < 5 and time.time() < deadline:
    sum(range(20000))
tracker.stop()
tracker.dump(sys.argv[1])
print(json.dumps([tracker.stats(), tracker.recommend_resources(), tracker.n_samples]))
"""

READ = """
import json, sys
from resource_tracker import ResourceTracker
tracker = ResourceTracker.load(sys.argv[1])
print(json.dumps([tracker.stats(), tracker.recommend_resources(), tracker.n_samples]))
"""


def read_gzip(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for column in theirs:
        assert ours[column] == pytest.approx(theirs[column], rel=1e-12), column


def write_gzip(path, whole):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(whole, file)


def tracker(*words):
    done = subprocess.run([TRACKER, *map(str, words)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def for_release(peer, path):
    """0.5.0 reads its own names: the record in schema v3."""
    if peer.release == "0.4.2":
        return path
    converted = path.with_name("v3-" + path.name)
    tracker("convert", "--schema", "v3", path, converted)
    return converted


def round_memory(mib):
    return next((step for step in (128, 256, 512, 1024, 2048) if mib <= step), -(-mib // 1024) * 1024)


def assert_same_needs(path, stats, theirs):
    """Ours are theirs; 0.5.0 divides the memory by 1024 once too often, so there it is worked out here."""
    ours = json.loads(tracker("recommend", "--json", "--alone", path))["classic"]
    if "process_memory_mib" in stats:
        theirs = {**theirs, "memory": round_memory(stats["process_memory_mib"]["max"] * 1.2)}
    assert ours == theirs


def test_theirs_loads_here(peer, library, tmp_path):
    path = tmp_path / "theirs.json.gz"
    stats, needs, samples = json.loads(peer(MAKE, path))
    loaded = library.load(path)
    assert library.n_samples(loaded) == samples
    assert_same(library.stats(loaded), stats)
    assert_same_needs(path, stats, needs)
    library.free(loaded)


def test_theirs_is_kept_on_a_round_trip(peer, library, tmp_path):
    path, again, changed = (tmp_path / name for name in ("a.json.gz", "b.json.gz", "c.json.gz"))
    stats, needs, samples = json.loads(peer(MAKE, path))
    whole = read_gzip(path)
    whole["of_the_future"] = {"nested": [1, None, "ü"]}
    whole["metadata"]["note"] = "kept"
    write_gzip(changed, whole)
    loaded = library.load(changed)
    library.save(loaded, again)
    library.free(loaded)
    assert read_gzip(again) == whole
    assert json.loads(peer(READ, again)) == [stats, needs, samples]


def test_ours_loads_there(peer, library, tmp_path):
    path = tmp_path / "ours.json.gz"
    own = library.new(0.1)
    library.wait(own, 4)
    library.stop(own)
    ours = library.stats(own)
    assert library.n_samples(own) >= 4
    library.save(own, path)
    library.free(own)
    path = for_release(peer, path)
    theirs, needs, samples = json.loads(peer(READ, path))
    loaded = library.load(path)
    assert library.n_samples(loaded) == samples
    assert_same(library.stats(loaded), theirs)
    assert_same_needs(path, theirs, needs)
    library.free(loaded)
    if peer.release == "0.4.2":
        assert_same(ours, theirs)


def test_a_run_of_the_command_loads_there(peer, library, tmp_path):
    """As it is exported; its closing row has no memory, which only a row of ours may say, so that one is left out."""
    tracker("-q", "-i", "0.1", "sleep", "0.6")
    whole = json.loads(tracker("export", "--format", "snapshot"))
    for table in ("process_metrics", "system_metrics"):
        whole[table] = [row for row, process in zip(whole[table], whole["process_metrics"])
                        if process["memory"] is not None]
    assert len(whole["process_metrics"]) >= 4
    path = tmp_path / "run.json.gz"
    write_gzip(path, whole)
    path = for_release(peer, path)
    theirs, needs, _ = json.loads(peer(READ, path))
    loaded = library.load(path)
    assert_same(library.stats(loaded), theirs)
    assert_same_needs(path, theirs, needs)
    library.free(loaded)


def test_absent_values_of_ours_where_statistics_do_not_look(peer, library, tmp_path):
    path = tmp_path / "alone.json.gz"
    own = library.new(0.1, children=False)
    library.wait(own, 3)
    library.stop(own)
    library.save(own, path)
    library.free(own)
    path = for_release(peer, path)
    assert {row["children"] for row in read_gzip(path)["process_metrics"]} == {None}
    theirs, needs, _ = json.loads(peer(READ, path))
    loaded = library.load(path)
    assert_same(library.stats(loaded), theirs)
    assert_same_needs(path, theirs, needs)
    library.free(loaded)


def test_absent_values_where_statistics_do_not_look(peer, library, tmp_path):
    path = tmp_path / "absent.json.gz"
    _, needs, _ = json.loads(peer(MAKE, path))
    whole = read_gzip(path)
    for row in whole["process_metrics"]:
        row["children"] = None
    whole["system_metrics"][0]["processes"] = None
    write_gzip(path, whole)
    theirs, again, _ = json.loads(peer(READ, path))
    assert again == needs
    loaded = library.load(path)
    assert_same(library.stats(loaded), theirs)
    assert_same_needs(path, theirs, needs)
    assert library.snapshot(loaded)["process_metrics"][0]["children"] is None
    library.free(loaded)


def test_absent_values_where_statistics_look_are_skipped_here(peer, library, tmp_path):
    """A row without a figure counts as if the figure were of the rows beside it: not at all. The package can't do
    sums with it."""
    path, less = tmp_path / "absent.json.gz", tmp_path / "less.json.gz"
    peer(MAKE, path)
    whole = read_gzip(path)
    memory = "memory" if peer.release == "0.4.2" else "memory_mib"
    kept = [row[memory] for row in whole["process_metrics"][1:]]
    cpu = [row["cpu_usage"] for row in whole["process_metrics"]]
    whole["process_metrics"][0][memory] = None
    write_gzip(less, whole)
    loaded = library.load(less)
    stats = library.stats(loaded)
    assert stats[f"process_{memory}"]["max"] == round(max(kept), 2)
    assert stats[f"process_{memory}"]["mean"] == pytest.approx(sum(kept) / len(kept), abs=0.006)
    assert stats["process_cpu_usage"]["mean"] == pytest.approx(sum(cpu) / len(cpu), abs=0.006)
    needs = json.loads(tracker("recommend", "--json", "--alone", less))["classic"]
    assert needs["memory"] == round_memory(max(kept) / (1024 if memory == "memory" else 1) * 1.2)
    assert read_gzip(less)["process_metrics"][0][memory] is None
    library.free(loaded)

"""Snapshots of the Python releases load here and ours load there, with the same statistics."""

import gzip
import json

import pytest

from releases import library, peer  # noqa: F401 (fixtures)

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


def in_schema_of(peer, snapshot):
    """0.5.0 reads its own names; the rows are ours all the same."""
    if peer.release == "0.4.2":
        return snapshot
    names = {"memory": "memory_mib", "gpu_vram": "gpu_vram_mib", "read_bytes": "disk_read_bytes",
             "write_bytes": "disk_write_bytes"}
    for row in snapshot["process_metrics"]:
        for old, new in names.items():
            value = row.pop(old)
            row[new] = round(value / 1024, 4) if old == "memory" else value
    return snapshot


def test_theirs_loads_here(peer, library, tmp_path):
    path = tmp_path / "theirs.json.gz"
    stats, _, samples = json.loads(peer(MAKE, path))
    tracker = library.load(path)
    assert library.n_samples(tracker) == samples
    assert_same(library.stats(tracker), stats)
    library.free(tracker)


def test_theirs_is_kept_on_a_round_trip(peer, library, tmp_path):
    path, again, changed = (tmp_path / name for name in ("a.json.gz", "b.json.gz", "c.json.gz"))
    stats, needs, samples = json.loads(peer(MAKE, path))
    whole = read_gzip(path)
    whole["of_the_future"] = {"nested": [1, None, "ü"]}
    whole["metadata"]["note"] = "kept"
    with gzip.open(changed, "wt", encoding="utf-8") as file:
        json.dump(whole, file)
    tracker = library.load(changed)
    library.save(tracker, again)
    library.free(tracker)
    assert read_gzip(again) == whole
    assert json.loads(peer(READ, again)) == [stats, needs, samples]


def test_ours_loads_there(peer, library, tmp_path):
    path = tmp_path / "ours.json.gz"
    tracker = library.new(0.1)
    library.wait(tracker, 4)
    library.stop(tracker)
    ours = library.stats(tracker)
    assert library.n_samples(tracker) >= 4
    snapshot = in_schema_of(peer, library.snapshot(tracker))
    library.free(tracker)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(snapshot, file)
    theirs, _, _ = json.loads(peer(READ, path))
    loaded = library.load(path)
    assert_same(library.stats(loaded), theirs)
    library.free(loaded)
    if peer.release == "0.4.2":
        assert_same(ours, theirs)


def test_absent_values_where_statistics_do_not_look(peer, library, tmp_path):
    path = tmp_path / "absent.json.gz"
    peer(MAKE, path)
    whole = read_gzip(path)
    for row in whole["process_metrics"]:
        row["children"] = None
    whole["system_metrics"][0]["processes"] = None
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(whole, file)
    theirs, _, _ = json.loads(peer(READ, path))
    tracker = library.load(path)
    assert_same(library.stats(tracker), theirs)
    assert library.snapshot(tracker)["process_metrics"][0]["children"] is None
    library.free(tracker)

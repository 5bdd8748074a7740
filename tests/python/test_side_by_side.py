"""The same work measured by the package before and by this one."""

import json
import os

import pytest
from conftest import run_python

from resource_tracker import ResourceTracker

WORK = """
    import json, os, sys, time
    from resource_tracker import ResourceTracker
    from resource_tracker.tiny_data_frame import StatSpec
    tracker = ResourceTracker(interval=0.5)
    block = bytearray(150 << 20)
    block[::4096] = b"x" * len(block[::4096])
    tracker.wait_for_samples(1, timeout=60)
    seen = time.time() - tracker.start_time
    end = time.process_time() + 1.2
    while time.process_time() < end:
        sum(range(1000))
    tracker.wait_for_samples(2, timeout=60)
    tracker.stop()
    combined = tracker.get_combined_metrics()
    human = tracker.get_combined_metrics(bytes=True, human_names=True)
    print(json.dumps({
        "process": tracker.process_metrics.columns, "system": tracker.system_metrics.columns,
        "combined": combined.columns, "human": human.columns,
        "types": {name: sorted({type(value).__name__ for value in combined[name]}) for name in combined.columns},
        "stats": tracker.stats(), "needs": tracker.recommend_resources(), "rows": len(combined),
        "first": combined[0]["timestamp"] - tracker.start_time, "seen": seen,
        "memory": max(tracker.process_metrics["memory"]), "csv": combined.head(1).to_csv(),
        "ratio": human["Process memory usage"][0] / combined["process_memory"][0],
        "own": tracker.stats([StatSpec("process_memory", max), StatSpec("timestamp", len, agg_name="duration")])
               ["process_memory"],
        "snapshot": tracker.dumps(), "str": str(tracker.process_metrics).splitlines()[1].split()}))
"""


@pytest.fixture(scope="module")
def both():
    from conftest import python_of

    os.environ["TRACKER_CLOUD"] = "off"
    theirs = run_python(WORK, python=python_of("original-resource-tracker-0.4.2"), timeout=90)
    ours = run_python(WORK, timeout=90)
    return json.loads(theirs.stdout.splitlines()[-1]), json.loads(ours.stdout.splitlines()[-1])


def test_columns_types_and_names(both):
    theirs, ours = both
    for part in ("process", "system", "combined", "human", "types", "str"):
        assert ours[part] == theirs[part], part
    assert ours["csv"].splitlines()[0] == theirs["csv"].splitlines()[0]


def test_figures_are_near(both):
    theirs, ours = both
    assert ours["memory"] == pytest.approx(theirs["memory"], rel=0.25) and ours["memory"] > 150 << 10
    assert {c: sorted(v) for c, v in ours["stats"].items()} == {c: sorted(v) for c, v in theirs["stats"].items()}
    assert ours["ratio"] == theirs["ratio"] == 1024
    assert ours["needs"] == theirs["needs"]
    assert ours["own"]["max"] == ours["memory"]
    assert ours["rows"] >= 2 and 0.499 <= ours["first"] <= ours["seen"] + 0.001


def test_snapshots_go_both_ways(both, in_original, tmp_path):
    theirs, ours = both
    loaded = ResourceTracker.loads(theirs["snapshot"])
    # A sum of floats in another order differs in the last digit.
    assert loaded.stats() == {c: pytest.approx(v) for c, v in theirs["stats"].items()}
    assert loaded.recommend_resources() == theirs["needs"]
    assert loaded.get_combined_metrics().columns == theirs["combined"]
    path = tmp_path / "ours.json"
    path.write_text(ours["snapshot"])
    there = in_original("""
        import json, sys
        from resource_tracker import ResourceTracker
        tracker = ResourceTracker.loads(open(sys.argv[1]).read())
        print(json.dumps([tracker.stats(), tracker.recommend_resources(), tracker.get_combined_metrics().columns]))
        """, path)
    assert there[0] == {c: pytest.approx(v) for c, v in ours["stats"].items()}
    assert there[1:] == [ours["needs"], ours["combined"]]

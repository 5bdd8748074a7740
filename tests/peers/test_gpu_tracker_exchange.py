"""Files exchanged with the Python package gpu-tracker, in both directions, and the same figures made of them."""

import ctypes
import json
import math
import os
import subprocess

import pytest
from gpu_world import BUILD
from releases import environment_of

GPU_TRACKER = os.path.join(os.path.dirname(os.environ.get("TRK_BIN", os.path.join(BUILD, "resource-tracker"))), "gpu-tracker")
LIBRARY = os.path.join(os.path.dirname(GPU_TRACKER), "include", "libresource-tracker.so.0")
RELEASE = "5.0.1"

MAKE = """
import contextlib, json, os, pickle, sqlite3, time
import gpu_tracker
def count(path):
    try:
        if path.endswith(".csv"):
            with open(path) as file:
                return file.read().count("\\n")
        with contextlib.closing(sqlite3.connect(path, timeout=10)) as database:
            return database.execute("SELECT COUNT(*) FROM data").fetchone()[0]
    except (OSError, sqlite3.Error):
        return 0
def wait_for_rows(path):
    wanted, end = count(path) + 3, time.monotonic() + 60
    while count(path) < wanted and time.monotonic() < end:
        time.sleep(0.05)
for kind in ("csv", "sqlite"):
    tracker = gpu_tracker.Tracker(sleep_time=0.1, tracking_file="t." + kind, disable_logs=True, ram_unit="megabytes")
    tracker.start()
    for i in range(2):
        with gpu_tracker.SubTracker('first, "block"', sub_tracking_file="s." + kind):
            held = bytearray(10_000_000)
            wait_for_rows("t." + kind)
    with gpu_tracker.SubTracker("second", sub_tracking_file="s." + kind):
        wait_for_rows("t." + kind)
    tracker.stop()
    with gpu_tracker.SubTracker("empty", sub_tracking_file="e." + kind):
        pass  # behind the last row, however long the two marks take
    results = gpu_tracker.SubTrackingAnalyzer("t." + kind, "s." + kind).sub_tracking_results()
    with open("theirs.txt." + kind, "w") as file:
        file.write(str(results))
    with open("theirs.json." + kind, "w") as file:
        json.dump(results.to_json(), file)
    with open("theirs.pkl." + kind, "wb") as file:
        pickle.dump(results, file)
with open("theirs.txt.empty", "w") as file:
    file.write(str(gpu_tracker.SubTrackingAnalyzer("t.csv", "e.csv").sub_tracking_results()))
comparison = gpu_tracker.TrackingComparison({"one": "theirs.pkl.csv", "two": "theirs.pkl.sqlite"})
for statistic in ("min", "max", "mean", "std"):
    results = comparison.compare(statistic)
    with open("compared.txt." + statistic, "w") as file:
        file.write(str(results))
    with open("compared.json." + statistic, "w") as file:
        json.dump(results.to_json(), file)
print(json.dumps(tracker.to_json()))
print(str(tracker))
"""

READ = """
import json, sys
import gpu_tracker
analyzer = gpu_tracker.SubTrackingAnalyzer(*sys.argv[1:3])
results = analyzer.sub_tracking_results()
print(json.dumps([results.to_json(), str(results), analyzer.load_code_block_names(),
                  analyzer.load_timestamp_pairs("block")]))
"""

COMBINE = """
import sys
import gpu_tracker
gpu_tracker.SubTrackingAnalyzer(None, sys.argv[1]).combine_sub_tracking_files(sys.argv[2:])
"""


@pytest.fixture(scope="session")
def package():
    python = environment_of(RELEASE, "gpu-tracker")
    if python is None:
        message = f"gpu-tracker=={RELEASE} can't be fetched"
        pytest.fail(message) if os.environ.get("TRK_MUST_WORK") else pytest.skip(message)

    def run(folder, script, *arguments):
        done = subprocess.run([python, "-c", script, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run


@pytest.fixture(scope="session")
def theirs(package, tmp_path_factory):
    """A folder with what the package wrote; and what its tracker printed."""
    folder = tmp_path_factory.mktemp("theirs")
    return folder, package(folder, MAKE)


def call(folder, *arguments):
    done = subprocess.run([GPU_TRACKER, *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_same(ours, theirs, place=""):
    """Numbers but for the last digits; theirs say NaN where ours say null."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), place
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{place}/{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), place
        for i, (left, right) in enumerate(zip(ours, theirs)):
            assert_same(left, right, f"{place}/{i}")
    elif isinstance(theirs, float) and math.isnan(theirs):
        assert ours is None, place
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), place
    else:
        assert ours == theirs, place


@pytest.mark.parametrize("kind", ["csv", "sqlite"])
def test_theirs_are_analyzed_alike(theirs, kind):
    folder, _ = theirs
    files = [f"--tf=t.{kind}", f"--stf=s.{kind}"]
    ours = json.loads(call(folder, "sub-track", "analyze", *files, "-f", "json"))
    assert_same(ours, json.loads((folder / f"theirs.json.{kind}").read_text()))
    assert call(folder, "sub-track", "analyze", *files) == (folder / f"theirs.txt.{kind}").read_text()


def test_block_without_rows(theirs):
    """With SQLite the package fails here."""
    folder, _ = theirs
    ours = call(folder, "sub-track", "analyze", "--tf=t.csv", "--stf=e.csv")
    assert ours == (folder / "theirs.txt.empty").read_text()
    assert "NaN" in call(folder, "sub-track", "analyze", "--tf=t.sqlite", "--stf=e.sqlite")


@pytest.mark.parametrize("statistic", ["min", "max", "mean", "std"])
def test_theirs_are_compared_alike(theirs, statistic):
    folder, _ = theirs
    for kind in ("csv", "sqlite"):
        call(folder, "sub-track", "analyze", f"--tf=t.{kind}", f"--stf=s.{kind}", "-f", "json", "-o", f"ours.{kind}.json")
    words = ["sub-track", "compare", "-m", "one=ours.csv.json", "two=ours.sqlite.json", f"--stat={statistic}"]
    ours = json.loads(call(folder, *words, "-f", "json"))
    assert_same(ours, json.loads((folder / f"compared.json.{statistic}").read_text()))


def shape_of_text(text):
    return [line.split(":")[0] for line in text.splitlines()]


def shape_of_json(node):
    return {key: shape_of_json(value) for key, value in node.items()} if isinstance(node, dict) else type(node)


def test_same_lines_and_keys(theirs):
    """What --compat 5 prints has every line and key of the package, in its order and of its kind."""
    folder, printed = theirs
    as_json, _, as_text = printed.partition("\n")
    figures = json.loads(call(folder, "--compat=5", "-e", "sleep 0.1", "-f", "json").partition("\n")[2])
    text = call(folder, "--compat=5", "-e", "sleep 0.1").partition("\n")[2]
    assert shape_of_json(figures) == shape_of_json(json.loads(as_json))
    assert json.dumps(shape_of_json(figures), default=str) == json.dumps(shape_of_json(json.loads(as_json)), default=str)
    assert shape_of_text(text) == shape_of_text(as_text)


@pytest.fixture
def write_log():
    """Writes a sub-tracking file through the library: (pid, name, position, time) each."""
    library = ctypes.CDLL(LIBRARY)
    library.trk_sub_track_log.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_double,
                                          ctypes.c_void_p]

    def write(path, rows):
        log = ctypes.c_void_p()
        assert library.trk_sub_track_new(str(path).encode(), False, ctypes.byref(log), None) == 0
        for pid, name, position, stamp in rows:
            assert library.trk_sub_track_log(log, pid, name.encode(), position, stamp, None) == 0
        library.trk_sub_track_free(log)
    return write


@pytest.mark.parametrize("kind", ["csv", "sqlite"])
def test_ours_are_read_there(package, tmp_path, write_log, kind):
    call(tmp_path, "--compat=5", "-e", "sleep 0.2", "--st=0.1", f"--tf=t.{kind}")
    call(tmp_path, "--compat=5", "-e", "sleep 0.7", "--st=0.1", f"--tf=t.{kind}", "--overwrite", "--ru=kilobytes")
    first = float(os.path.getmtime(tmp_path / f"t.{kind}"))
    blocks = [(1, "block", 0, first - 0.5), (1, "block", 1, first - 0.1), (2, "block", 0, first - 0.35),
              (2, "block", 1, first - 0.3), (1, 'other, "one"', 0, first - 0.6), (1, 'other, "one"', 1, first + 9)]
    write_log(tmp_path / f"s.{kind}", blocks)
    theirs, text, names, pairs = json.loads(package(tmp_path, READ, f"t.{kind}", f"s.{kind}"))
    assert names == sorted({"block", 'other, "one"'})
    assert pairs == [[first - 0.5, first - 0.1], [first - 0.35, first - 0.3]]
    assert theirs["static_data"]["ram_unit"] == "kilobytes"
    assert theirs["code_block_results"][0]["num_timepoints"] > 0
    files = [f"--tf=t.{kind}", f"--stf=s.{kind}"]
    assert_same(json.loads(call(tmp_path, "sub-track", "analyze", *files, "-f", "json")), theirs)
    assert call(tmp_path, "sub-track", "analyze", *files) == text


@pytest.mark.parametrize("kind", ["csv", "sqlite"])
def test_combined_alike(package, tmp_path, write_log, kind):
    write_log(tmp_path / f"1.{kind}", [(1, "block", 0, 1.25), (1, "block", 1, 2.0)])
    write_log(tmp_path / f"2.{kind}", [(2, "block", 0, 1794785904.8621027), (2, "block", 1, 1794785905.0)])
    call(tmp_path, "sub-track", "combine", f"--stf=ours.{kind}", "-p", f"1.{kind}", f"2.{kind}")
    package(tmp_path, COMBINE, f"theirs.{kind}", f"1.{kind}", f"2.{kind}")
    call(tmp_path, "--compat=5", "-e", "sleep 0.2", "--st=0.1", "--tf=t.csv")
    both = [call(tmp_path, "sub-track", "analyze", "--tf=t.csv", f"--stf={who}.{kind}", "-f", "json")
            for who in ("ours", "theirs")]
    assert both[0] == both[1]
    theirs = json.loads(package(tmp_path, READ, "t.csv", f"ours.{kind}"))
    assert theirs[3] == [[1.25, 2.0], [1794785904.8621027, 1794785905.0]]

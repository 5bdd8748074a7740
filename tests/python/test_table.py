"""TinyDataFrame: its own ways, and its memory in the hands of other libraries."""

import gc
import http.server
import struct
import threading
import time
import zlib

import pytest

from resource_tracker import ResourceTracker
from resource_tracker.tiny_data_frame import StatSpec, TinyDataFrame

CARS = {"name": ["a", "b", "c"], "hp": [93.0, 110.0, 175.0]}


@pytest.fixture
def cars():
    return TinyDataFrame(data={name: list(values) for name, values in CARS.items()})


@pytest.fixture(scope="module")
def samples():
    with ResourceTracker(interval=0.02, children=False, discover_cloud=False) as tracker:
        tracker.wait_for_samples(20, timeout=60)
    return tracker


def test_made_of_columns_rows_and_csv(cars, tmp_path):
    rows = [{"name": "a", "hp": 93.0}, {"name": "b", "hp": 110.0, "extra": 1}, {"hp": 175.0}]
    df = TinyDataFrame(rows)
    assert df.columns == ["name", "hp", "extra"]
    assert df["name"] == ["a", "b", None] and df["extra"] == [None, 1, None]
    path = tmp_path / "cars.csv"
    assert cars.to_csv(str(path)) is None
    for again in (TinyDataFrame(csv_file_path=str(path)), TinyDataFrame(csv_file_path=path), TinyDataFrame(cars.to_csv())):
        assert again.to_dict() == cars.to_dict()


def test_empty_cells_are_absent():
    df = TinyDataFrame('"a","b","c"\n1,,3\n,"",\n4,5,6\n"x,y",,7\n')
    assert df.to_dict() == [{"a": 1.0, "b": None, "c": 3.0}, {"a": None, "b": None, "c": None},
                            {"a": 4.0, "b": 5.0, "c": 6.0}, {"a": "x,y", "b": None, "c": 7.0}]
    assert df.stats([StatSpec("b", agg=max), StatSpec("c", agg=sum)]) == {"b": {"max": 5.0}, "c": {"sum": 16.0}}


def test_what_is_no_data_is_refused():
    for arguments in ({}, {"data": {}, "csv_file_path": "x"}, {"data": 3}, {"csv_file_path": 3}):
        with pytest.raises(AssertionError):
            TinyDataFrame(**arguments)


def test_a_file_that_comes_later(tmp_path):
    path = tmp_path / "late.csv"
    thread = threading.Timer(0.1, lambda: path.write_text('"a"\n1\n'))
    thread.start()
    df = TinyDataFrame(csv_file_path=str(path), retries=10, retry_delay=0.05)
    thread.join()
    assert df["a"] == [1.0]
    with pytest.raises(RuntimeError, match="Failed to read CSV file after 2 attempts"):
        TinyDataFrame(csv_file_path=str(tmp_path / "never.csv"), retries=1, retry_delay=0.001)
    path.write_text('"a"\n1,2\n')
    with pytest.raises(RuntimeError, match="after 1 attempts"):
        TinyDataFrame(csv_file_path=str(path))


def test_an_address_of_the_web(tmp_path, monkeypatch):
    (tmp_path / "cars.csv").write_text('"hp"\n93\n')
    monkeypatch.chdir(tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        assert TinyDataFrame(csv_file_path=f"http://127.0.0.1:{server.server_port}/cars.csv")["hp"] == [93.0]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_parts(cars):
    assert cars[1] == {"name": "b", "hp": 110.0} and cars[-1]["name"] == "c"
    assert cars[1:]["hp"] == [110.0, 175.0]
    assert cars[["hp"]].columns == ["hp"]
    assert cars[::2]["name"] == ["a", "c"]
    assert (len(cars.head(2)), len(cars.tail(2)), cars.tail(1)[0]["name"]) == (2, 2, "c")
    assert [row["hp"] for row in cars] == CARS["hp"]
    with pytest.raises(KeyError, match="Column 'no' not found"):
        cars["no"]
    with pytest.raises(TypeError, match="Invalid key type"):
        cars[1.5]
    with pytest.raises(IndexError):
        cars[3]


def test_changes(cars):
    cars["kw"] = [69.0, 82.0, 130.0]
    assert cars.columns[-1] == "kw"
    with pytest.raises(ValueError, match=r"Length of values \(1\) must match dataframe length \(3\)"):
        cars["kw"] = [1.0]
    with pytest.raises(TypeError, match="Column name must be a string"):
        cars[3] = [1, 2, 3]
    assert cars.rename({"hp": "power"}) is cars and cars.columns == ["name", "power", "kw"]
    with pytest.raises(KeyError, match="Column 'hp' not found in dataframe"):
        cars.rename({"hp": "x"})


def test_texts(cars):
    assert repr(cars) == ("TinyDataFrame with 3 rows and 2 columns. First row as a dict: {'name': 'a', 'hp': 93.0}")
    assert str(cars).splitlines() == ["TinyDataFrame with 3 rows and 2 columns:", "name | hp   ", "-----+------",
                                      "a    |  93.0", "b    | 110.0", "c    | 175.0"]
    assert "Empty dataframe" in str(TinyDataFrame(data=[])) and "0 rows" in repr(TinyDataFrame(data=[]))
    assert str(TinyDataFrame({"n": list(range(30))})).splitlines()[-1].startswith("...")
    assert cars.to_csv() == '"name","hp"\r\n"a",93.0\r\n"b",110.0\r\n"c",175.0\r\n'
    assert cars.to_csv(quote_strings=False).startswith("name,hp\r\na,93.0")
    assert "<td>a</td>" in cars._repr_html_()


def test_statistics_that_fail_are_logged(cars, caplog):
    stats = cars.stats([StatSpec("hp", agg=max, round=1), StatSpec("name", agg=sum), StatSpec("no", agg=max)])
    assert stats == {"hp": {"max": 175.0}}
    assert caplog.text.count("Error collecting statistic on") == 2


def test_samples_are_read_when_they_are_asked_for(samples):
    df = samples.process_metrics
    assert df._lists is None and len(df) == samples.n_samples
    assert df[-1]["timestamp"] == df.tail(1)[0]["timestamp"] == samples.latest["timestamp"]
    assert df._lists is None
    assert df[2:5].head(2)[1] == df[3]
    assert df[5:2].to_dict() == []
    assert len(df["memory"]) == len(df) and df._lists is not None
    with pytest.raises(IndexError):
        samples.process_metrics[10**6]
    renamed = samples.process_metrics.rename({"memory": "kB"})
    assert renamed[0]["kB"] == df[0]["memory"]


def test_pandas(samples, cars):
    pandas = pytest.importorskip("pandas")
    df = samples.process_metrics
    native = df._table()
    frame = df.to_pandas()
    assert list(frame.columns) == df.columns and frame["memory"].tolist() == df["memory"]
    assert frame["children"].isna().all()
    assert cars.to_pandas()["name"].tolist() == ["a", "b", "c"]
    del native, df
    gc.collect()
    assert frame["memory"].sum() > 0
    with_absent = TinyDataFrame({"a": [1.0, None, 3.0], "t": ["x", None, "z"]})
    through = pandas.api.interchange.from_dataframe(with_absent)
    assert through["a"].isna().tolist() == [False, True, False]
    assert through["t"].isna().tolist() == [False, True, False] and through["t"][2] == "z"


def test_polars_and_arrow(samples, cars):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    df = samples.get_combined_metrics()
    frame, table = df.to_polars(), df.to_arrow()
    del df
    gc.collect()
    plain = samples.get_combined_metrics()
    assert frame.columns == table.column_names == plain.columns
    assert frame["system_memory_used"].to_list() == table["system_memory_used"].to_pylist() == plain["system_memory_used"]
    assert frame["process_children"].null_count() == table["process_children"].null_count == len(plain)
    assert pyarrow.table(cars).to_pylist() == cars.to_dict()
    assert polars.DataFrame(cars).rows() == list(zip(*CARS.values()))
    assert pyarrow.record_batch(cars).num_rows == 3
    absent = TinyDataFrame({"a": [1.0, None] * 9, "t": [None, "é"] * 9})
    assert pyarrow.table(absent).to_pylist() == absent.to_dict()
    assert pyarrow.table(TinyDataFrame(data=[])).num_columns == 0


def test_arrow_reads_the_memory_of_the_samples(samples):
    pytest.importorskip("pyarrow")
    import pyarrow

    native = samples.process_metrics._table()
    address = native.memory(6)[1]
    column = pyarrow.table(native).column(6).chunk(0)
    assert column.buffers()[1].address == address


def test_capsules_that_nobody_takes_are_released():
    table = TinyDataFrame({"a": [1.0] * 1000})._table()
    before = __import__("sys").getrefcount(table)
    for _ in range(100):
        table.__arrow_c_stream__()
        table.__arrow_c_array__()
        table.__arrow_c_schema__()
    assert __import__("sys").getrefcount(table) == before


COLUMNS, ROWS = 2, 3  # types of blocks of a run file


def block(kind, payload):
    """Type, length, checksum, then the payload, padded to 8 bytes: src/run/run_file.h."""
    head = struct.pack("II", kind, len(payload))
    return head + struct.pack("II", zlib.crc32(payload, zlib.crc32(head)), 0) + payload + b"\0" * (-len(payload) % 8)


def test_rows_of_a_long_run_cost_the_same(temporary):
    """Rows are put into the file that a tracker writes: first ten, then a million."""
    rows = struct.pack("3d", 1, 2, 3)
    with ResourceTracker(interval=30, discover_cloud=False) as tracker, open(wait_for_file(temporary), "ab") as file:
        file.write(block(COLUMNS, b"timestamp\nsystem_cpu_usage_cores\nprocess_memory_bytes\n") + block(ROWS, rows * 10))
        file.flush()
        assert tracker.n_samples == 10
        few = least_time_of(tracker)
        for _ in range(100):
            file.write(block(ROWS, rows * 10_000))
        file.flush()
        assert tracker.n_samples == 1_000_010
        assert len(tracker.get_combined_metrics()) == 1_000_010
        assert least_time_of(tracker) < 3 * few


def wait_for_file(folder):
    for _ in range(200):
        for path in folder.glob("*/run"):
            return path
        time.sleep(0.02)
    raise AssertionError("the tracker writes no file")


def least_time_of(tracker):
    """To look at the last row: the CPU time of the best of some calls."""
    def once():
        begin = time.thread_time()
        assert tracker.n_samples and tracker.latest and tracker.process_metrics[-1]
        return time.thread_time() - begin

    return min(once() for _ in range(50))

"""What rows look like in each format and schema, as readers find them."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from helpers import (
    csv_header,
    finish,
    parse_csv,
    popen,
    read_csv,
    row_count,
    state_of,
    tracker,
    until_lines,
    wait_until,
    workload,
)

SCHEMAS = ["v1", "v2", "v3"]
ROWS = ["process", "system", "both"]
LONG = "3600"  # an interval that no job here reaches, however loaded the machine: one row


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("rows", ROWS)
def test_csv_header(schema, rows):
    tracker("-q", "-i", LONG, "--schema", schema, "--rows", rows, "-o", "rows.csv", "true", check=True)
    header, row = Path("rows.csv").read_text().splitlines()
    plain = csv_header(schema, rows)
    assert header == plain
    assert '"' not in row and row.count(",") == header.count(",")


def test_defaults_are_combined_rows_of_v2():
    tracker("-q", "-o", "rows.csv", "true", check=True)
    assert Path("rows.csv").read_text().splitlines()[0] == csv_header("v2", "both")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_csv_of_attach_and_system(started, schema):
    for words, rows in ((["attach", str(os.getpid())], "process"), (["system"], "system")):
        process = started(words[0], "-i", "0.02", "--schema", schema, *words[1:])
        assert process.stdout.readline() == csv_header(schema, rows) + "\n"
        process.stdout.readline()
        process.terminate()
        finish(process)


def test_full_schema_has_units_and_no_doubles():
    tracker("-q", "--schema", "full", "-o", "rows.csv", "true", check=True)
    header = Path("rows.csv").read_text().splitlines()[0]
    names = [name.strip('"') for name in header.split(",")]
    assert len(set(names)) == len(names)
    assert {"timestamp", "process_cpu_user_seconds", "process_memory_bytes",
            "system_memory_free_bytes"} <= set(names)


NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
DECIMALS = {"timestamp": 3, "utime": 6, "stime": 6, "cpu_usage": 4}


def test_numbers_are_short_and_bounded():
    tracker("-q", "-i", "0.05", "-o", "rows.csv", workload("burn"), "0.3", check=True)
    header, *lines = Path("rows.csv").read_text().splitlines()
    names = [name.strip('"') for name in header.split(",")]
    for line in lines:
        for name, cell in zip(names, line.split(",")):
            assert cell == "" or NUMBER.fullmatch(cell), (name, cell)
            plain = name.replace("system_", "").replace("process_", "")
            if plain in DECIMALS and "." in cell:
                digits = cell.partition(".")[2]
                assert len(digits) <= DECIMALS[plain], (name, cell)
                assert digits == "0" or not digits.endswith("0"), (name, cell)


@pytest.mark.parametrize("schema", [*SCHEMAS, "full"])
def test_json_lines(schema):
    tracker("-q", "--schema", schema, "-i", "0.05", "-o", "rows.jsonl", *until_lines("rows.jsonl", 2), check=True)
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert len(rows) >= 2
    for row in rows:
        assert (row["schema"], row["schema_version"]) == (schema, 1)
        assert all(value is None or isinstance(value, (int, float, str)) for value in row.values())
    if schema != "full":
        names = [name.strip('"') for name in csv_header(schema, "both").split(",")]
        assert [name for name in rows[0] if not name.startswith("schema")] == names


def test_formats_by_suffix_and_by_option():
    tracker("-q", "-o", "rows.txt", "true", check=True)
    assert Path("rows.txt").read_text().startswith('"timestamp"')
    tracker("-q", "-i", LONG, "-f", "jsonl", "-o", "rows.other", "true", check=True)
    json.loads(Path("rows.other").read_text())
    for name in ("rows.sqlite", "rows.db"):
        tracker("-q", "-o", name, "true", check=True)
        assert Path(name).read_bytes().startswith(b"SQLite format 3\0")


def table(path):
    """Column names and rows, of a file that may be in use."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as base:
        names = [column[1] for column in base.execute("pragma table_info(samples)")]
        return names, base.execute("select * from samples").fetchall() if names else []


@pytest.mark.parametrize("schema", SCHEMAS)
def test_sqlite_afterwards(started, schema):
    process = started("-q", "--schema", schema, "-i", "0.01", "-o", "rows.sqlite", "sh", "-c", "read line",
                      stdin=subprocess.PIPE)
    wait_until(lambda: os.path.exists("rows.sqlite") and len(table("rows.sqlite")[1]) > 20, "rows", pause=0.1)
    finish(process)
    assert process.returncode == 0
    names, rows = table("rows.sqlite")
    assert names == [name.strip('"') for name in csv_header(schema, "both").split(",")]
    assert len(rows) > 20
    times = [row[0] for row in rows]
    assert times == sorted(times)
    with sqlite3.connect("rows.sqlite") as base:
        assert base.execute("pragma integrity_check").fetchone() == ("ok",)
        tables = base.execute("select name from sqlite_master where type = 'table'").fetchall()
    assert tables == [("samples",)]


def test_sqlite_while_it_is_written(started):
    process = started("-q", "-i", "0.002", "-o", "rows.sqlite", "sh", "-c", "read line",
                      stdin=subprocess.PIPE)
    wait_until(lambda: os.path.exists("rows.sqlite") and table("rows.sqlite")[0], "the table")
    wait_until(lambda: len(table("rows.sqlite")[1]) > 5, "rows")
    seen = [len(table("rows.sqlite")[1]) for _ in range(300)]
    assert seen == sorted(seen)
    wait_until(lambda: len(table("rows.sqlite")[1]) > seen[0] + 100, "more rows")
    finish(process)
    names, rows = table("rows.sqlite")
    assert len(rows) >= seen[-1]
    assert all(len(row) == len(names) for row in rows)


def test_sqlite_of_many_rows_is_sound(started):
    """Enough for inner pages of the tree."""
    process = started("-q", "-i", "0.001", "--rows", "process", "-o", "rows.sqlite", "sh", "-c", "read line",
                      stdin=subprocess.PIPE)
    wait_until(lambda: os.path.exists("rows.sqlite") and len(table("rows.sqlite")[1]) > 500, "rows", pause=0.2)
    finish(process)
    assert process.returncode == 0
    with sqlite3.connect("rows.sqlite") as base:
        assert base.execute("pragma integrity_check").fetchone() == ("ok",)
        query = "select count(*), min(rowid), max(rowid) from samples"
        count, first, last = base.execute(query).fetchone()
    assert count > 500 and last - first == count - 1


def test_output_on_stdout():
    with open("out", "w") as out:
        tracker("-q", "-i", "0.05", "-o", "-", *until_lines("out", 3), stdout=out, check=True)
    assert len(read_csv("out")) >= 2
    done = tracker("-q", "-i", LONG, "-f", "jsonl", "-o", "-", "true")
    assert json.loads(done.stdout)["schema"] == "v2"


def test_sqlite_on_stdout_is_refused():
    done = tracker("-q", "-f", "sqlite", "-o", "-", "touch", "started")
    assert done.returncode == 125 and not os.path.exists("started")


def test_summary_on_stdout():
    done = tracker("-q", "-s", "-", "true")
    assert json.loads(done.stdout)["exit_code"] == 0


def test_output_to_a_named_pipe():
    """No file to be overwritten, so no --force either."""
    os.mkfifo("pipe")
    reader = popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
    done = tracker("-q", "-i", LONG, "-o", "pipe", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(parse_csv(reader.stdout.read())) == 1


def test_output_to_a_named_pipe_whose_reader_comes_later(started):
    os.mkfifo("pipe")
    process = started("-q", "-i", LONG, "-o", "pipe", "true")
    wait_until(lambda: state_of(process.pid) == "S", "the tracker to wait for a reader")
    assert process.poll() is None
    reader = popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
    assert len(parse_csv(reader.stdout.read())) == 1
    assert process.wait() == 0


def test_a_named_pipe_without_a_reader_is_refused():
    os.mkfifo("pipe")
    done = tracker("-q", "-o", "pipe", "touch", "started")
    assert done.returncode == 125 and not os.path.exists("started")
    assert "no reader has opened the pipe pipe" in done.stderr


def test_waiting_for_a_reader_ends_with_a_signal(started):
    os.mkfifo("pipe")
    process = started("-q", "-o", "pipe", "touch", "started")
    # Blocked and pending, not ignored: else the signal would come before the tracker can have it.
    wait_until(lambda: state_of(process.pid) == "S", "the tracker to wait for a reader")
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait() in (125, -signal.SIGTERM)
    assert time.monotonic() - begin < 4 and not os.path.exists("started")


def test_existing_file_is_refused_in_every_format():
    for name in ("rows.csv", "rows.jsonl", "rows.db"):
        Path(name).write_text("precious")
        done = tracker("-o", name, "true")
        assert done.returncode == 125 and "--force" in done.stderr
        assert Path(name).read_text() == "precious"
        assert tracker("-q", "--force", "-o", name, "true").returncode == 0
        assert "precious" not in Path(name).read_bytes().decode(errors="replace")


def test_rows_are_on_disk_as_they_fall(started):
    for name in ("rows.csv", "rows.jsonl"):
        process = started("-q", "-i", "0.05", "-o", name, "sleep", "60")
        wait_until(lambda name=name: row_count(name) >= 3, f"rows in {name}")
        process.terminate()
        finish(process)
    assert len(read_csv("rows.csv")) >= 3

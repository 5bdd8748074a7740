"""Records of any size: a million rows in little more memory than they need, and files that mean harm."""

import gzip
import json
import os
import subprocess

import helpers
import pytest

COLUMNS = ("timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory", "read_bytes", "write_bytes",
           "gpu_usage", "gpu_vram", "gpu_utilized")
BLOCK = 1000
HEAD = b'{"metadata":{"version":1,"interval":1,"start_time":1,"stop_time":2,"duration":3},"process_metrics":['


def rows_text(first):
    rows = [dict(zip(COLUMNS, (1.7e9 + first + i, 1, 0, 0.25, 0.125, 0.375, 123456 + i, 0, 4096, 0.0, 0.0, 0)))
            for i in range(BLOCK)]
    return json.dumps(rows, separators=(",", ":"))[1:-1].encode()


def write_record(path, rows):
    text = rows_text(0)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(HEAD)
        for block in range(rows // BLOCK):
            file.write((b"," if block else b"") + text)
        file.write(b'],"system_metrics":[]}')


def ended(pid):
    found = os.wait4(pid, os.WNOHANG)
    return found if found[0] else None


def run(*words):
    """Exit status, standard error, and the largest resident size in bytes."""
    process = helpers.popen([helpers.binary(), *map(str, words)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    message = process.stderr.read().decode()
    _, status, usage = helpers.wait_until(lambda: ended(process.pid), "the end of the command")
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, message, usage.ru_maxrss * 1024


@pytest.mark.cost
def test_a_million_rows_take_little_more_than_their_size(tmp_path):
    path, rows = tmp_path / "large.json.gz", 1_000_000
    write_record(path, rows)
    data_bytes = rows * len(COLUMNS) * 8
    status, message, peak_bytes = run("convert", "--max-rows", 1000, path, tmp_path / "small.csv")
    assert (status, message) == (0, "")
    assert peak_bytes < 1.25 * data_bytes + (8 << 20), peak_bytes / data_bytes
    assert len((tmp_path / "small.csv").read_text().splitlines()) == 1001


def test_a_cut_file_is_told_with_its_place(tmp_path):
    path, cut = tmp_path / "whole.json.gz", tmp_path / "cut.json.gz"
    write_record(path, 20_000)
    cut.write_bytes(path.read_bytes()[:-1000])
    status, message, _ = run("recommend", cut)
    assert status == 1 and "cut.json.gz: line 1, byte " in message and "cut off or damaged" in message


HOSTILE = {
    "zeros": lambda file: [file.write(bytes(1 << 20)) for _ in range(300)],
    "deep": lambda file: file.write(b'{"metadata":' + b"[" * 1_000_000),
    "long text": lambda file: [file.write(b'{"metadata":{"x":"')] + [file.write(b"a" * (1 << 20)) for _ in range(70)],
    "long name": lambda file: [file.write(HEAD + b'{"')] + [file.write(b"a" * (1 << 20)) for _ in range(100)],
    "many columns": lambda file: file.write(HEAD + b"{" + b",".join(b'"c%d":1' % i for i in range(100_000)) + b"}]}"),
    "sparse": lambda file: file.write(HEAD + b",".join(b'{"c%d":1}' % (i % 4000) for i in range(300_000)) + b"]}"),
    "not JSON": lambda file: file.write(b"\x00\xff\xfe{}"),
    "empty": lambda file: None,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("packed", (False, True))
def test_files_that_mean_harm(kind, packed, tmp_path):
    path = tmp_path / "bad.json"
    with (gzip.open(path, "wb", compresslevel=1) if packed else open(path, "wb")) as file:
        HOSTILE[kind](file)
    status, message, peak_bytes = run("recommend", path)
    assert status == 1 and message.startswith("resource-tracker: ") and "byte" in message, message
    assert peak_bytes < 200 << 20 or helpers.is_sanitized()

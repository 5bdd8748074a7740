"""A suite that hangs reports nothing: every process is started by helpers.run or helpers.popen, whose waits have limits."""

import re
import time

import helpers
import pytest

SUITES = ("real", "truth")
# Calls that may wait for good.
UNLIMITED = re.compile(r"subprocess\.(run|Popen|call|check_call|check_output)\(|\bos\.(system|popen|wait|wait3)\(|"
                       r"\bos\.wait(pid|4)\([^\n]*, 0\)")


def source_lines():
    for suite in SUITES:
        for path in sorted((helpers.HERE.parent / suite).glob("*.py")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                yield path, number, line


def test_every_wait_has_a_limit():
    inside_jobs = ("'", '"', "for pid in children")  # lines of a script that a job runs, which its tracker's limit ends
    found = [f"{path.name}:{number}: {line.strip()}" for path, number, line in source_lines()
             if UNLIMITED.search(line) and not line.strip().startswith(inside_jobs)
             and path.name not in ("helpers.py", "test_limits.py", "space_of_mounts.py")]
    assert found == []


@pytest.mark.parametrize("wait", [lambda process: process.stdout.readline(), lambda process: process.stdout.read(),
                                  lambda process: process.wait(0.2), lambda process: helpers.finish(process)])
def test_waits_end_at_the_limit(monkeypatch, wait):
    monkeypatch.setattr(helpers, "PATIENCE", 0.2)
    process = helpers.popen(["sleep", "60"], stdout=helpers.subprocess.PIPE)
    begin = time.monotonic()
    with pytest.raises((AssertionError, helpers.subprocess.TimeoutExpired)):
        wait(process)
    assert time.monotonic() - begin < 30


def test_what_is_ended_ends_with_its_descendants():
    process = helpers.popen(["sh", "-c", "sleep 61 & echo $!; wait"], stdout=helpers.subprocess.PIPE, text=True)
    descendant = int(process.stdout.readline())
    helpers.end_process(process)
    helpers.wait_until(lambda: not helpers.is_running(descendant), "the end of the descendant")

"""Runs the scripts in cases/ and compares what they did with the files beside them:

    NAME.sh            run by sh in an empty folder, with `resource-tracker` in PATH
    NAME.exit          its exit status; 0 without the file
    NAME.stdout        what it must print, to the letter; nothing without the file
    NAME.stdout.glob   the same where figures vary: * stands for any text within one line
    NAME.stderr.glob   standard error, likewise

TRK_RECORD=1 writes the expectations from what happens now; a glob that still fits stays. Read the diff before it is
committed. The temporary folder reads as FOLDER in the output; the script starts in FOLDER/work. Exit status 77 skips a case;
its output says why. Scripts find the source tree in $SOURCE and the build folder in $BUILD. TRK_BIN selects the program
(build/resource-tracker); a report of a sanitizer that it was built with fails the case."""

import difflib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
CASES = SOURCE / "tests" / "cli" / "cases"
TRACKER = Path(os.environ.get("TRK_BIN") or SOURCE / "build" / "resource-tracker").absolute()
NAMES = sorted(path.stem for path in CASES.glob("*.sh"))
SKIPPED = 77
TIMEOUT_SECONDS = 100
SUFFIXES = (".sh", ".exit", ".stdout", ".stdout.glob", ".stderr.glob")


def read(path):
    """Nothing is expected where there is no file."""
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def write(path, text):
    """An empty expectation is no file."""
    if text:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    else:
        path.unlink(missing_ok=True)


def fits(pattern, text):
    return re.fullmatch("[^\n]*".join(map(re.escape, pattern.split("*"))), text) is not None


def execute(case, folder):
    """(exit status, stdout, stderr). No variable of the caller is passed on but PATH: none of them may decide a test."""
    for name in ("bin", "home", "work", "sanitizer"):
        (folder / name).mkdir()
    (folder / "bin" / "resource-tracker").symlink_to(TRACKER)
    reports = f"log_path={folder}/sanitizer/report"
    process = subprocess.Popen(
        ["sh", CASES / f"{case}.sh"], cwd=folder / "work", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
        env={"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": f"{folder}/home", "LC_ALL": "C", "TERM": "dumb",
             "SOURCE": str(SOURCE), "BUILD": str(TRACKER.parent), "ASAN_OPTIONS": f"detect_leaks=1:{reports}",
             "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:{reports}"})
    try:
        outputs = process.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        try:  # what the script left behind
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return process.returncode, *(output.decode("utf-8", "surrogateescape").replace(str(folder), "FOLDER")
                                 for output in outputs)


def record(case, status, stdout, stderr):
    write(CASES / f"{case}.exit", f"{status}\n" if status else "")
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        glob = CASES / f"{case}.{name}.glob"
        if name == "stderr" or glob.exists():
            if not fits(read(glob), text):
                write(glob, text)
        else:
            write(CASES / f"{case}.{name}", text)


@pytest.mark.parametrize("case", NAMES)
def test_case(case, tmp_path):
    assert os.access(TRACKER, os.X_OK), f"{TRACKER} does not exist; build it with make"
    status, stdout, stderr = execute(case, tmp_path.resolve())
    reports = "".join(read(path) for path in (tmp_path / "sanitizer").iterdir())
    assert not reports, reports
    if status == SKIPPED:
        reason = stdout.strip() or "no reason given"
        assert os.environ.get("TRK_MUST_WORK") != "1", f"must work here, but: {reason}"
        pytest.skip(reason)
    if os.environ.get("TRK_RECORD") == "1":
        record(case, status, stdout, stderr)
    assert status == int(read(CASES / f"{case}.exit") or "0"), stdout + stderr
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        glob = CASES / f"{case}.{name}.glob"
        expected = read(glob if glob.exists() else CASES / f"{case}.{name}")
        if not (fits(expected, text) if glob.exists() else text == expected):
            pytest.fail("\n".join(difflib.unified_diff(expected.split("\n"), text.split("\n"), f"expected {name}", name)))


def test_every_expectation_belongs_to_a_case():
    known = {f"{name}{suffix}" for name in NAMES for suffix in SUFFIXES}
    assert not {path.name for path in CASES.iterdir()} - known
    assert not [name for name in NAMES if (CASES / f"{name}.stdout").exists() and (CASES / f"{name}.stdout.glob").exists()]

"""Fuzzing for TRK_FUZZ_SECONDS (60), shared by all targets; pytest -n 2 fuzzes two at a time. The targets are built first,
in build-fuzz. They start from the stored corpus; inputs that reach new code stay in build-fuzz/corpus, and an input that breaks
something in build-fuzz/findings: make it smaller, store it in tests/fuzz/corpus, and it is a test from then on."""

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BUILD = SOURCE / "build-fuzz"
NAMES = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.c"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
SECONDS = max(3, int(os.environ.get("TRK_FUZZ_SECONDS", "60")) * WORKERS // len(NAMES))
PROBE = "int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d || n > 9 ? 0 : 0; }"


def has_fuzzer():
    try:
        return subprocess.run(["clang", "-fsanitize=fuzzer,address", "-x", "c", "-", "-o", "/dev/null"],
                              input=PROBE.encode(), capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="session", name="programs")
def build_programs():
    """Every object is instrumented, so it is a folder of its own; only the targets are built in it. One process builds at
    a time; to the others nothing is left to do."""
    if not has_fuzzer():
        assert os.environ.get("TRK_MUST_WORK") != "1", "must work here, but clang has no libFuzzer"
        pytest.skip("no clang with libFuzzer")
    with open(SOURCE / "tests" / "fuzz" / "meson.build", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = subprocess.run(
            ["tools/build", BUILD.name, "-Dfuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false",
             "-Dc_args=-fsanitize=fuzzer-no-link", "--", "fuzz"], cwd=SOURCE, env={**os.environ, "CC": "clang"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=900)
    assert built.returncode == 0, built.stdout[-6000:]
    return BUILD / "tests" / "fuzz"


@pytest.mark.timeout(1000 + SECONDS)
@pytest.mark.parametrize("name", NAMES)
def test_fuzz(name, programs):
    stored = HERE / "corpus" / name
    assert any(stored.iterdir()), f"no seeds in {stored}"
    found, grown = BUILD / "findings" / name, BUILD / "corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    grown.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(
        [programs / f"fuzz_{name}", f"-max_total_time={SECONDS}", "-max_len=4096", "-timeout=5", "-rss_limit_mb=1024",
         "-print_final_stats=1", f"-artifact_prefix={found}/", grown, stored],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=SECONDS + 120,
        env={**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})
    text = result.stdout.decode(errors="replace")
    assert result.returncode == 0, f"a finding in {found}\n{text[-6000:]}"
    inputs = re.search(r"number_of_executed_units:\s*(\d+)", text)
    print(f"{inputs[1]} inputs, {re.findall(r'cov: ([0-9]+)', text)[-1]} edges, {SECONDS} s")
    assert int(inputs[1]) > len(list(stored.iterdir()))

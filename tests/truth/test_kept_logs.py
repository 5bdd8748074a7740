"""Kept logs of jobs that know what they used, replayed without a kernel: totals stay within the bounds of the suite."""

import gzip
import json
from pathlib import Path

import pytest
from test_cpu_truth import ALSO_SECONDS, JOBS
from test_memory_truth import MIB, PEAKS, PROGRAM_MIB
from test_replay import replay

KEPT = Path(__file__).resolve().parent.parent / "data" / "observations"
KNOWN = json.loads((KEPT / "known.json").read_text())


@pytest.fixture
def replayed(request, tmp_path):
    log = tmp_path / "observations.log"
    log.write_bytes(gzip.decompress((KEPT / request.param).read_bytes()))
    return KNOWN[request.param], replay(log)


def kept(key):
    return [name for name, known in KNOWN.items() if key in known]


def test_every_workload_has_a_log_of_each_half():
    workloads = {(known["workload"], known["half"]) for known in KNOWN.values()}
    assert workloads == {(name, half) for name in [*JOBS, *PEAKS] for half in ("root", "user")}


@pytest.mark.parametrize("replayed", kept("cpu_seconds"), indirect=True)
def test_cpu_time(replayed):
    known, figures = replayed
    value, source = float(figures["cpu_seconds"][0]), figures["cpu_seconds"][1]
    tolerance = JOBS[known["workload"]][2][known["half"]]
    assert source == known["source"]
    assert figures["cpu_is_lower_bound"] == ["0"]
    assert value == pytest.approx(known["cpu_seconds"], rel=tolerance, abs=ALSO_SECONDS)


@pytest.mark.parametrize("replayed", kept("peak_bytes"), indirect=True)
def test_peak_memory(replayed):
    known, figures = replayed
    low, value, high = (figures[f"peak_memory_{part}bytes"][0] for part in ("low_", "", "high_"))
    _, peak_mib, width = PEAKS[known["workload"]]
    assert float(low) <= (peak_mib + PROGRAM_MIB) * MIB
    assert float(low) <= float(value)
    if high is None:
        assert width is None
        return
    assert float(high) >= known["peak_bytes"] * 0.999
    if width is not None:
        assert float(high) - float(low) <= width * known["peak_bytes"]

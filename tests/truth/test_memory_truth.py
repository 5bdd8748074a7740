"""The job's peak memory as a bracket, and bytes through exits."""

import pytest
from known import MIB, Run, available

# workload: (words, truth in MiB, widest bracket as a share of the truth; None: any)
PEAKS = {
    "spike of 50 ms": (("spike", 1024, 50, 1), 1024, 0.05),
    "spike of 240 ms": (("spike", 1024, 240, 1), 1024, 0.05),
    "spike of a child": (("child_spike", 1024, 50), 1024, 0.05),
    "overlapping": (("overlap", 150, 3, 200), 450, None),
    "huge pages": (("huge_zombies", 64, 4, 50), 256, None),
    "copies": (("copies", 300, 4, 300), 300, None),
    "before an exec": (("big_before_exec", 300), 300, 0.05),
}
# A program's own pages, beside what it says to hold.
PROGRAM_MIB = 4


CASES = [(name, None) for name in PEAKS] + [(name, ("wait4", "hwm")) for name in ("spike of 240 ms", "copies")]


@pytest.mark.parametrize("name,sources", CASES,
                         ids=[name.replace(" ", "-") + ("-hwm" if sources else "") for name, sources in CASES])
def test_peak_is_in_its_bracket(half, folder, name, sources):
    words, truth_mib, width = PEAKS[name]
    peak = Run(half, folder, *words, sources=sources).peak
    assert peak["low"] <= (truth_mib + PROGRAM_MIB) * MIB
    assert peak["low"] <= peak["value"]
    if peak["high"] is None:
        assert width is None or sources, "nothing bounds it"
        return
    assert peak["high"] >= truth_mib * MIB * 0.999, peak
    assert peak["value"] <= peak["high"]
    if width is not None and not sources:
        assert peak["high"] - peak["low"] <= width * truth_mib * MIB, peak


@pytest.mark.parametrize("name", ["spike of 50 ms", "spike of a child"])
def test_a_spike_between_samples_is_found(half, folder, name):
    """At an interval in which no sample falls into it."""
    words, truth_mib, _ = PEAKS[name]
    run = Run(half, folder, *words, interval=30)
    assert run.peak["value"] == pytest.approx(truth_mib * MIB, rel=0.01), run.peak


@pytest.mark.parametrize("reaping", ["reap", "ignore"])
def test_bytes_of_children_that_end(half, folder, reaping):
    run = Run(half, folder, "writers", 6, 4, reaping)
    written = run.totals["write_bytes"]
    if reaping == "ignore" and "taskstats" not in available(half):
        assert written["value"] <= run.said["written_bytes"] * 1.01
        assert written["source"] == "sampled"
    else:
        assert written["value"] == pytest.approx(run.said["written_bytes"], rel=0.01), written

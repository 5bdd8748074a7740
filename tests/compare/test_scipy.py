"""The statistics beside scipy's on the same numbers: 2,000 pairs of groups with and without a difference of 5 %, small and
large, with and without ties."""

import itertools
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / (os.environ.get("TRK_BUILD") or "build")
if os.environ.get("TRK_MUST_WORK") == "1":
    import numpy as np
    from scipy import stats
else:
    np = pytest.importorskip("numpy")
    stats = pytest.importorskip("scipy.stats")

EXACT_MAX = 60  # src/compare/rank_test.h


def compare(pairs):
    lines = "".join(f"{' '.join(map(repr, base))} | {' '.join(map(repr, new))}\n" for base, new in pairs)
    done = subprocess.run([BUILD / "tests/compare/compare_pairs"], input=lines, capture_output=True, text=True, check=True,
                          timeout=100)
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


def draw(seed, count, ratio, sizes, decimals=None):
    random = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        noise = random.uniform(0.01, 0.04)
        base, new = (scale * np.exp(random.normal(0, noise, random.integers(*sizes, endpoint=True)))
                     for scale in (1, ratio))
        pairs.append(tuple((group if decimals is None else group.round(decimals)).tolist() for group in (base, new)))
    return pairs


def permutation_p(base, new):
    """By the definition: midranks, all ways to choose the base's places."""
    ranks = stats.rankdata([*base, *new])
    sums = np.array([sum(chosen) for chosen in itertools.combinations(ranks, len(base))])
    found = ranks[:len(base)].sum()
    return min(1, 2 * min((sums <= found + 1e-9).mean(), (sums >= found - 1e-9).mean()))


@pytest.mark.parametrize("ratio", [1, 1.05])
def test_same_verdicts_without_ties(ratio):
    pairs = draw(22, 1000, ratio, (4, 20))
    theirs = [stats.mannwhitneyu(*pair, method="exact").pvalue for pair in pairs]
    ours = [found[0] for found in compare(pairs)]
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert [p < 0.05 for p in ours] == [p < 0.05 for p in theirs]


@pytest.mark.parametrize("ratio", [1, 1.05])
def test_same_verdicts_of_large_groups(ratio):
    pairs = draw(23, 200, ratio, (31, 300)) + draw(24, 50, ratio, (31, 100), decimals=2)
    theirs = [stats.mannwhitneyu(*pair, method="asymptotic").pvalue for pair in pairs]
    ours = [found[0] for found in compare(pairs)]
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-300)
    assert [p < 0.05 for p in ours] == [p < 0.05 for p in theirs]


def test_exact_with_ties():
    pairs = draw(25, 200, 1.02, (2, 6), decimals=2)
    assert any(len({*base, *new}) < len(base) + len(new) for base, new in pairs)
    assert [found[0] for found in compare(pairs)] == pytest.approx([permutation_p(*pair) for pair in pairs], rel=1e-9)


def test_the_approximation_continues_the_exact_values():
    """Where one replaces the other no verdict jumps: both are near each other."""
    pairs = draw(26, 100, 1.01, (30, 30))
    assert all(len(base) + len(new) == EXACT_MAX for base, new in pairs)
    theirs = [stats.mannwhitneyu(*pair, method="asymptotic").pvalue for pair in pairs]
    assert [found[0] for found in compare(pairs)] == pytest.approx(theirs, abs=0.005)


def test_the_interval_is_the_inverse_of_the_test():
    """A ratio lies inside exactly where the groups, brought together by it, do not differ."""
    for (base, new), (_, value, low, high, confidence) in zip(pairs := draw(27, 300, 1.05, (4, 12)), compare(pairs)):
        assert low <= value <= high
        assert confidence >= 0.95
        for ratio, is_inside in ((low * 0.9999, False), (low * 1.0001, True), (high * 0.9999, True), (high * 1.0001, False)):
            p = stats.mannwhitneyu(base, [figure / ratio for figure in new], method="exact").pvalue
            assert (p > 0.05) == is_inside

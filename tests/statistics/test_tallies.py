"""The evidence of many runs at once: that of `evidence(clustered(…))`, run by run, however the clusters came in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.statistics.evidence import evidence
from contrapose.tasks.statistics.shares import clustered
from contrapose.tasks.statistics.tallies import NOTHING, Tally, missed, reached

RUNS = 20
GATES = (0.0, 0.05, 0.65, 0.7, 0.95, 1.0)


def tallied(true: np.ndarray, sizes: np.ndarray, *, portion: int) -> Tally:
    """Clusters that come in so many at a time."""
    tally = NOTHING
    for first in range(0, len(sizes), portion):
        tally = tally.plus(true[:, first : first + portion], sizes[first : first + portion])
    return tally


def alone(true: np.ndarray, sizes: np.ndarray, gate: float) -> tuple[list[float], list[float]]:
    """The same, one run after the other, by the functions that judge a run."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for run in true:
        rows = np.concatenate([np.arange(size) < one for size, one in zip(sizes, run, strict=True)])
        found.append(evidence(clustered(rows, cluster), gate))
    return [one.reached for one in found], [one.missed for one in found]


def drawn(sizes: np.ndarray, rate: float, *, alike: bool) -> np.ndarray:
    rng = np.random.default_rng(5)
    own = rng.beta(2 * rate, 2 * (1 - rate), (RUNS, len(sizes))) if alike else rate
    return rng.binomial(sizes, own, (RUNS, len(sizes)))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=30).map(np.array),
    st.sampled_from((0.03, 0.5, 0.7, 0.97)),
    st.sampled_from(GATES),
    st.integers(1, 8),
    st.booleans(),
)
def test_each_run_has_the_evidence_that_it_has_by_itself(
    sizes: np.ndarray, rate: float, gate: float, portion: int, alike: bool
) -> None:
    true = drawn(sizes, rate, alike=alike)
    tally = tallied(true, sizes, portion=portion)
    for once, one_by_one in zip((reached(tally, gate), missed(tally, gate)), alone(true, sizes, gate), strict=True):
        assert once == pytest.approx(np.array(one_by_one), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("sizes", [[1] * 40, [3] * 15, [500, 3, 3, 90, 1], [7]], ids=str)
@pytest.mark.parametrize("share", [0.0, 1 / 3, 1.0])
def test_runs_whose_clusters_are_all_alike_are_no_exception(sizes: list[int], share: float) -> None:
    true = np.round(share * np.tile(sizes, (2, 1))).astype(int)
    tally = tallied(true, np.array(sizes), portion=4)
    up, down = alone(true, np.array(sizes), 0.7)
    assert reached(tally, 0.7) == pytest.approx(np.array(up), rel=1e-9, abs=1e-12)
    assert missed(tally, 0.7) == pytest.approx(np.array(down), rel=1e-9, abs=1e-12)


def test_runs_that_are_left_out_change_no_other() -> None:
    sizes = np.array([1, 4, 2, 2, 5])
    true = drawn(sizes, 0.6, alike=True)
    some = np.arange(RUNS) % 3 == 0
    assert reached(tallied(true, sizes, portion=2).of(some), 0.5).tolist() == [
        *reached(tallied(true[some], sizes, portion=2), 0.5)
    ]

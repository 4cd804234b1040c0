"""The evidence of many runs at once: that of `evidence(clustered(…))`, run by run, however the clusters came in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.shares import clustered_share, evidence
from contrapose.tasks.statistics.tallies import NOTHING, Evidences, Tally, compute_evidences

RUNS = 20
GATES = (0.0, 0.05, 0.65, 0.7, 0.95, 1.0)


def tallied(true: np.ndarray, sizes: np.ndarray, *, portion: int) -> Tally:
    """Clusters that come in so many at a time."""
    tally = NOTHING
    for first in range(0, len(sizes), portion):
        tally = tally.plus(true[:, first : first + portion], sizes[first : first + portion])
    return tally


def alone(true: np.ndarray, sizes: np.ndarray, gate: float) -> Evidences:
    """The same, one run after the other, by the functions that judge a run."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for run in true:
        rows = np.concatenate([np.arange(size) < one for size, one in zip(sizes, run, strict=True)])
        share = clustered_share(rows, cluster)
        found.append((*evidence(share, gate)[1:], share.freedom))
    return Evidences(*np.array(found).T)


def agree(once: Evidences, one_by_one: Evidences) -> None:
    for all_at_once, single in zip(once, one_by_one, strict=True):
        assert all_at_once == pytest.approx(single, rel=1e-8, abs=1e-12)


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
    agree(compute_evidences(tallied(true, sizes, portion=portion), gate), alone(true, sizes, gate))


@pytest.mark.parametrize("sizes", [[1] * 40, [3] * 15, [500, 3, 3, 90, 1], [7]], ids=str)
@pytest.mark.parametrize("share", [0.0, 1 / 3, 1.0])
def test_runs_whose_clusters_are_all_alike_are_no_exception(sizes: list[int], share: float) -> None:
    true = np.round(share * np.tile(sizes, (2, 1))).astype(int)
    agree(compute_evidences(tallied(true, np.array(sizes), portion=4), 0.7), alone(true, np.array(sizes), 0.7))


def test_runs_that_are_left_out_change_no_other() -> None:
    sizes = np.array([1, 4, 2, 2, 5])
    true = drawn(sizes, 0.6, alike=True)
    some = np.arange(RUNS) % 3 == 0
    agree(compute_evidences(tallied(true, sizes, portion=2).of(some), 0.5), alone(true[some], sizes, 0.5))


@pytest.mark.parametrize("sizes", [[1] * 60, [1, 2, 3, 4] * 12, [20] * 5], ids=str)
def test_a_look_among_several_decides_as_it_does_in_a_run(sizes: list[int]) -> None:
    looks, one_by_one = Looks(shares=(0.3, 0.6)), alone(drawn(np.array(sizes), 0.9, alike=True), np.array(sizes), 0.6)
    for value, thick, freedom in zip(
        one_by_one.reached, one_by_one.at_looks().reached, one_by_one.freedom, strict=True
    ):
        assert looks.overall(float(value), freedom=float(freedom)) == pytest.approx(looks.overall(float(thick)))
        for level in (0.05, 0.0125):
            assert (value <= looks.level(level, freedom=float(freedom))) == (thick <= looks.level(level))


def test_runs_may_differ_in_the_sizes_of_their_clusters() -> None:
    sizes = [[1, 4, 2, 2, 5], [3, 3, 1], [6], [1, 1, 1, 9]]
    runs = [np.array(one) for one in sizes]
    true = [drawn(one, 0.6, alike=True)[0] for one in runs]
    tallies = [NOTHING.plus(own[None], one) for own, one in zip(true, runs, strict=True)]
    kinds = np.unique(np.concatenate(runs))
    places = [tally.sizes.searchsorted(kinds).clip(max=len(tally.sizes) - 1) for tally in tallies]
    there = [tally.sizes[place] == kinds for tally, place in zip(tallies, places, strict=True)]
    together = Tally(
        sizes=kinds,
        clusters=np.array([t.clusters[p] * own for t, p, own in zip(tallies, places, there, strict=True)]),
        sums=np.concatenate([t.sums[:, :, p] * own for t, p, own in zip(tallies, places, there, strict=True)]),
        most_false=np.concatenate([tally.most_false for tally in tallies]),
        most_true=np.concatenate([tally.most_true for tally in tallies]),
    )
    single = [alone(own[None], one, 0.5) for own, one in zip(true, runs, strict=True)]
    agree(compute_evidences(together, 0.5), Evidences(*(np.concatenate(part) for part in zip(*single, strict=True))))

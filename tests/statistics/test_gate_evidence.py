"""Evidence for and against a gate: exact, and never weaker because one more row is true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

from contrapose.tasks.statistics.shares import Evidence, clustered_share, evidence, make_independent


def test_bounds_are_exact() -> None:
    # 9 of 10 at a true rate of 0.65: 0.65^10 + 10 x 0.65^9 x 0.35.
    assert evidence(make_independent(9, 10), 0.65).reached == pytest.approx(0.65**10 + 10 * 0.65**9 * 0.35)


@pytest.mark.parametrize("rows", [10, 50, 99, 100, 373])
@pytest.mark.parametrize("gate", [0.0, 0.3, 0.65, 0.95, 1.0])
def test_a_bound_reaches_the_gate_where_the_p_value_says_so(rows: int, gate: float) -> None:
    for true in range(rows + 1):
        found = evidence(make_independent(true, rows), gate)
        if gate > 0:
            assert (found.bounds.low >= gate) == (found.reached <= 0.05)
        if 0 < gate < 1:
            assert (found.bounds.high < gate) == (found.missed < 0.05)


@pytest.mark.parametrize("rows", [100, 118, 373])
@pytest.mark.parametrize("gate", [0.5, 0.95])
def test_a_gate_at_its_boundary_is_passed_and_failed_in_at_most_one_of_twenty(rows: int, gate: float) -> None:
    chances = binom.pmf(np.arange(rows + 1), rows, gate)
    bounds = [evidence(make_independent(true, rows), gate).bounds for true in range(rows + 1)]
    assert chances @ np.array([low >= gate for low, _ in bounds]) <= 0.05
    assert chances @ np.array([high < gate for _, high in bounds]) <= 0.05


def told(sizes: Sequence[int], false: Sequence[int], gate: float) -> Evidence:
    """Evidence of clusters of such sizes, with so many false rows in the first of them."""
    true = [np.arange(size) >= few for size, few in zip(sizes, [*false, *[0] * len(sizes)], strict=False)]
    return evidence(clustered_share(np.concatenate(true), np.repeat(np.arange(len(sizes)), sizes)), gate)


@pytest.mark.parametrize("gate", [0.5, 0.7, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("sizes", [[5] * 20, [3] * 50, [4, 2, 1] * 12, [1] * 50 + [30]])
@pytest.mark.parametrize("whole", [False, True])
def test_one_more_true_row_never_weakens_the_evidence(sizes: list[int], gate: float, whole: bool) -> None:
    most = [size if whole else 1 for size in sizes[:8]]
    found = [told(sizes, most[:count], gate) for count in range(9)]
    assert sorted(found, key=lambda each: each.reached) == found
    assert sorted(found, key=lambda each: -each.bounds.low) == found


def test_one_more_false_row_never_weakens_the_evidence_against_a_gate() -> None:
    true = np.zeros((4, 100), dtype=bool)
    for count in range(4):
        true[count, 5 * np.arange(count)] = True
    found = [evidence(clustered_share(row, np.repeat(np.arange(20), 5)), 0.1) for row in true]
    assert sorted(found, key=lambda each: each.missed) == found
    assert sorted(found, key=lambda each: each.bounds.high) == found


def test_no_result_passes_what_as_many_copies_could_not() -> None:
    # 20 clusters, all true: 0.9^20.
    for false in ([], [1], [1, 1], [1, 1, 1]):
        assert told([5] * 20, false, 0.9).reached >= 0.9**20 * (1 - 1e-9)


def test_a_gate_of_zero_is_reached_by_whatever_there_is() -> None:
    found = evidence(make_independent(0, 10), 0.0)
    assert (found.reached, found.missed, found.bounds.low) == (0.0, 1.0, 0.0)

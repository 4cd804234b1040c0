"""The rate: over the last seconds, not since the start."""

from __future__ import annotations

import pytest

from contrapose.flows.orchestration.progress import Pace


def paced(total: int, *looks: tuple[float, int]) -> Pace:
    pace = Pace(total)
    for seconds, done in looks:
        pace.look(seconds, done)
    return pace


def test_a_steady_pace_tells_what_is_left() -> None:
    pace = paced(100, *((float(second), 2 * second) for second in range(1, 26)))
    assert (pace.rate, pace.left) == (2.0, 25.0)


def test_what_was_found_at_once_is_forgotten() -> None:
    pace = paced(2000, (0.1, 1000), *((float(second), 1000 + second) for second in range(1, 101)))
    assert pace.rate == pytest.approx(1.0)


@pytest.mark.parametrize("looks", [(), ((0.0, 5),), ((1.0, 0),), ((1.0, 5), (50.0, 5), (90.0, 5))])
def test_where_nothing_moves_nothing_is_told(looks: tuple[tuple[float, int], ...]) -> None:
    pace = paced(10, *looks)
    assert (pace.rate, pace.left) == (None, None)


def test_more_than_was_expected_leaves_nothing() -> None:
    assert paced(10, (1.0, 12)).left == 0

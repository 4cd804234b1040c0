"""Shares that differ read differently."""

from __future__ import annotations

import pytest

from contrapose.tasks.text.wording import distinct_percentages


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((0.7, 0.214), ("70.0%", "21.4%")),
        ((0.54363, 0.544), ("54.36%", "54.40%")),
        ((0.2459, 0.24594, 0.7), ("24.590%", "24.594%", "70.000%")),
        ((0.544, 0.54400001), ("54.400000%", "54.400001%")),
    ],
)
def test_shares_that_differ_have_as_many_decimals_as_tell_them_apart(
    shares: tuple[float, ...], told: tuple[str, ...]
) -> None:
    assert distinct_percentages(*shares) == told


def test_equal_shares_stay_equal_and_so_do_those_that_arithmetic_alone_parts() -> None:
    assert distinct_percentages(0.544, 0.544) == ("54.4%", "54.4%")
    assert distinct_percentages(0.1 + 0.2, 0.3, 0.7) == ("30.0%", "30.0%", "70.0%")

"""A p value that shows nothing reads so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.statistics.families import format_p_over_level


@pytest.mark.parametrize(
    ("p", "told"),
    [(0.0801, "0.080"), (0.0502, "0.0502"), (0.050004, "0.050004"), (0.0511, "0.051"), (1.0, "1.000")],
)
def test_a_p_value_has_as_many_decimals_as_it_takes(p: float, told: str) -> None:
    assert format_p_over_level(p) == told


@given(p=st.floats(0.05 + 1e-12, 1))
def test_what_is_over_the_level_reads_as_over_it(p: float) -> None:
    assert float(format_p_over_level(p)) > 0.05

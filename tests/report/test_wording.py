"""Figures in words: what is rounded does not say more than the figure."""

from __future__ import annotations

import pytest

from contrapose.tasks.text.wording import percent, tokens_text


@pytest.mark.parametrize(
    ("share", "told"),
    [
        *((1, "100%"), (0.9996, ">99.9%"), (0.999, "99.9%"), (0.767, "76.7%")),
        *((0.7, "70%"), (0.0004, "<0.1%"), (0, "0%"), (None, "–"), (float("nan"), "–")),
    ],
)
def test_only_all_is_a_hundred_percent_and_only_nothing_zero(share: float | None, told: str) -> None:
    assert percent(share) == told


def test_tokens_that_nobody_counted_are_not_said() -> None:
    assert tokens_text(0, 0) == ""
    assert tokens_text(1_200, 0) == "1,200 tokens read, 0 written"

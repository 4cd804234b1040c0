"""Forms of replies by authors who knew no rule, in ten styles: what is unmistakable is read, and nothing wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from places import golden_rows

from bench.replies import read

LEAST_READ = {"tune": 0.95, "tune_2": 0.77, "seen": 0.97, "seen_2": 0.91, "scored": 0.93}
"""Share of the unmistakable answers of a split that must be read. The second split is made of corrections, denials and
texts in unusual words. Splits called `seen` were scored once before they were looked at; the last one was scored when
all rules stood."""
MISREAD = {"答案是A,秋天。", "The inequality becomes $x \\le 2$.\n\n**Answer: D**"}
"""Replies that are known to be read wrongly: both hold a letter and, in other words, the text of another option."""

MOST_WRONG = {"scored": 3}
"""Of 372: two answers that are taken back in words that no rule knows, and one whose text holds that of another."""


@cache
def forms(split: str) -> list[tuple[Mapping[str, Any], str | None]]:
    """Each form of a split, and the letter that is read."""
    return [(row, read(row)) for row in golden_rows("replies_forms", split)]


@pytest.mark.parametrize(("split", "least"), LEAST_READ.items())
def test_unmistakable_answers_are_read(split: str, least: float) -> None:
    sure = [(row["choice"], letter) for row, letter in forms(split) if row["sure"]]
    assert sum(choice == letter for choice, letter in sure) / len(sure) >= least


@pytest.mark.parametrize("split", LEAST_READ)
def test_no_form_is_read_as_what_it_does_not_choose(split: str) -> None:
    wrong = {row["reply"] for row, letter in forms(split) if letter not in (None, row["choice"])}
    assert len(wrong - MISREAD) <= MOST_WRONG.get(split, 0)

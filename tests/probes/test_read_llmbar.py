"""Recorded replies of six models are read as their data set has them, and by the same rules for both letters."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from bench.llmbar import FILE, Row, by_letter, missed_bars, rows
from contrapose.tasks.probes.known_errors import BARE, EXPLAINED, Measured
from contrapose.tasks.probes.order_bias import read_choice


@cache
def recorded(folder: Path, form: str) -> tuple[Row, ...]:
    if not (folder / FILE).exists():
        pytest.skip(f"{FILE} is not in ../shared/data")
    return tuple(row for row in rows(folder, form) if not row.apart)


@pytest.mark.parametrize("form", ["as_summary", pytest.param("reply", marks=pytest.mark.slow)])
def test_replies_that_explain_are_read_within_the_bars(form: str, shared_data: Path) -> None:
    explained = [row for row in recorded(shared_data, form) if row.explains]
    assert missed_bars(by_letter(explained)) == []


def test_bare_replies_are_all_read(shared_data: Path) -> None:
    counts = by_letter(row for row in recorded(shared_data, "as_summary") if not row.explains)
    assert {letter: set(each) for letter, each in counts.items()} == {"A": {"right"}, "B": {"right"}}


@pytest.mark.parametrize(("measured", "explains"), [(EXPLAINED, True), (BARE, False)])
def test_the_known_error_is_what_is_measured(measured: Measured, explains: bool, shared_data: Path) -> None:
    counts = by_letter(row for row in recorded(shared_data, "as_summary") if row.explains is explains)
    for known in measured.by_letter:
        found = counts[known.letter]
        assert (known.replies, known.missed, known.misread) == (found.total(), found["missed"], found["wrong"])


@pytest.mark.slow
def test_with_the_letters_swapped_the_reading_swaps(shared_data: Path) -> None:
    swapped = {"Summary A": "Summary B", "Summary B": "Summary A"}
    other = {"A": "B", "B": "A", None: None}
    explained = [row for row in recorded(shared_data, "as_summary") if row.explains]
    uneven = [
        row.reply
        for row in explained
        if read_choice(re.sub("Summary [AB]", lambda found: swapped[found[0]], row.reply)).choice != other[row.read]
    ]
    assert uneven == []

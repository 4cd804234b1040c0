"""Cases in portions: the cases of a sample stay together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asked_case import case
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.chunks import chunks, portions
from contrapose.tasks.tables.table import read_rows, write


def made(*counts: int) -> list[Case]:
    """As many cases of each sample as the counts say."""
    return [
        case(f"{sample}/{number}", sample_id=str(sample))
        for sample, count in enumerate(counts)
        for number in range(count)
    ]


def samples(*counts: int) -> list[tuple[str, int]]:
    """Sample and row of those cases."""
    return [(case.sample_id, row) for row, case in enumerate(made(*counts))]


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [((1, 1, 1, 1, 1), [2, 2, 1]), ((3, 3), [3, 3]), ((1, 2, 1), [1, 2, 1]), ((5, 1), [5, 1]), ((), [])],
)
def test_a_portion_never_parts_a_sample(counts: tuple[int, ...], sizes: list[int]) -> None:
    assert [len(portion) for portion in portions(samples(*counts), 2)] == sizes


@given(counts=st.lists(st.integers(1, 7), max_size=30), size=st.integers(1, 9))
def test_portions_hold_every_case_once_in_order(counts: list[int], size: int) -> None:
    cases = made(*counts)
    rows = list(portions(samples(*counts), size))
    assert [row for portion in rows for row in portion] == list(range(len(cases)))
    for portion in rows:
        assert len(portion) <= size or len({cases[row].sample_id for row in portion}) == 1


def test_labels_tell_which_cases_a_portion_holds() -> None:
    table = write(made(3, 2, 1), Case)
    portions_of_three = list(chunks("p", table, 4))
    assert [chunk.label for chunk in portions_of_three] == ["p 1-3 of 6", "p 4-6 of 6"]
    assert [len(read_rows(table, Case, first=chunk.first, end=chunk.end)) for chunk in portions_of_three] == [3, 3]


def test_skipped_cases_are_counted_by_row_and_not_by_label() -> None:
    cases = [replace(case, skip_reason="too short") if case.sample_id in "02" else case for case in made(1, 2, 3, 1)]
    chunk, last = chunks("p", write(cases, Case), 2)
    assert (chunk.label, chunk.first, chunk.end) == ("p 1-2 of 3", 1, 3)
    assert (last.label, last.first, last.end) == ("p 3-3 of 3", 6, 7)


def test_very_many_cases_make_no_more_than_so_many_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.chunks.MOST_CHUNKS", 3)
    table = write(made(*[1] * 12), Case)
    assert [(chunk.first, chunk.end) for chunk in chunks("p", table, 2)] == [(0, 4), (4, 8), (8, 12)]

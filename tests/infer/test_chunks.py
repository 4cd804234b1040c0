"""Cases in portions: the cases of a sample stay together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.chunks import chunks, portions
from contrapose.tasks.tables.table import read, write


def made(*counts: int) -> list[Case]:
    """As many cases of each sample as the counts say."""
    return [
        Case(
            id=f"p/{sample}/{number}",
            sample_id=str(sample),
            probe="p",
            version="1",
            original="x",
            perturbed="y",
            original_prompt="x",
            perturbed_prompt="y",
            scorer="s",
            asks="generate",
        )
        for sample, count in enumerate(counts)
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [((1, 1, 1, 1, 1), [2, 2, 1]), ((3, 3), [3, 3]), ((1, 2, 1), [1, 2, 1]), ((5, 1), [5, 1]), ((), [])],
)
def test_a_portion_never_parts_a_sample(counts: tuple[int, ...], sizes: list[int]) -> None:
    assert [len(portion) for portion in portions(made(*counts), 2)] == sizes


@given(counts=st.lists(st.integers(1, 7), max_size=30), size=st.integers(1, 9))
def test_portions_hold_every_case_once_in_order(counts: list[int], size: int) -> None:
    cases = made(*counts)
    found = list(portions(cases, size))
    assert [case for portion in found for case in portion] == cases
    for portion in found:
        assert len(portion) <= size or len({case.sample_id for case in portion}) == 1


def test_labels_tell_which_cases_a_portion_holds() -> None:
    found = list(chunks("p", write(made(3, 2, 1), Case), 4))
    assert [chunk.label for chunk in found] == ["p 1-3 of 6", "p 4-6 of 6"]
    assert [len(read(chunk.table, Case)) for chunk in found] == [3, 3]


def test_very_many_cases_make_no_more_than_so_many_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.chunks.MOST_CHUNKS", 3)
    found = list(chunks("p", write(made(*[1] * 12), Case), 2))
    assert [chunk.table["rows"] for chunk in found] == [4, 4, 4]

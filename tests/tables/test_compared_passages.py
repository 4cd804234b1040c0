"""Passages of two replies are the same, reordered or others; results tell so where there are any, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from contrapose.tasks.core.records import Completion, Score, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.tables.passages import compare_passages, has_known_passages, parse_passages
from contrapose.tasks.tables.results import make_result_schema, make_result_table
from contrapose.tasks.tables.table import join_tables, read, read_arrow, write, write_arrow
from tests.tables.test_results import TRIAL

PROBE = probe("add_toxic_words")


@pytest.mark.parametrize(
    ("before", "after", "alike", "kept"),
    [
        (["a", "b"], ["a", "b"], "same", 1.0),
        (["a", "b"], ["b", "a"], "reordered", 1.0),
        (["a", "b"], ["a", "c"], "other", 0.5),
        (["a", "b"], ["c"], "other", 0.0),
        (["a"], ["a", "b"], "other", 1.0),
        (["a", "b", "a"], ["a", "b"], "same", 1.0),
        (["a"], [], "other", 0.0),
        ([], ["a"], "other", None),
        ([], [], "same", None),
        (None, ["a"], None, None),
        (["a"], None, None, None),
        (None, None, None, None),
    ],
)
def test_passages_are_compared(
    before: Sequence[str] | None, after: Sequence[str] | None, alike: str | None, kept: float | None
) -> None:
    assert compare_passages(before, after) == (alike, kept)


def trial(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Trial:
    return replace(
        TRIAL, expected=Completion(text="first", passages=before), actual=Completion(text="second", passages=after)
    )


def results(trials: Sequence[Trial], *, passages: bool) -> pa.Table:
    scores = [Score(value=1.0, passed=True, reason="So.") for _ in trials]
    return make_result_table(trials, scores, probe=PROBE, model="m", passages=passages)


def test_a_row_tells_of_its_passages_and_holds_them() -> None:
    [row] = results([trial(("a", 'with "quotes"\n'), ("a",))], passages=True).to_pylist()
    assert (row["passages"], row["passages_kept"]) == ("other", 0.5)
    assert parse_passages(row["expected_passages"]) == ["a", 'with "quotes"\n']
    assert parse_passages(row["actual_passages"]) == ["a"]


def test_without_passages_the_columns_are_those_that_they_were() -> None:
    assert results([TRIAL], passages=False).schema.equals(make_result_schema(PROBE))
    assert not [name for name in make_result_schema(PROBE).names if "passage" in name]
    assert (
        make_result_schema(PROBE, passages=True).names[: len(make_result_schema(PROBE).names)]
        == make_result_schema(PROBE).names
    )


def test_passages_travel_in_tables_of_trials() -> None:
    trials = [trial(("a", "b"), ()), trial(None, None)]
    stored = write(trials, Trial)
    assert read(stored, Trial) == trials
    assert has_known_passages(stored)


@pytest.mark.parametrize("trials", [[], [TRIAL]])
def test_trials_without_any_are_told(trials: list[Trial]) -> None:
    assert not has_known_passages(write(trials, Trial))


def test_portions_of_which_one_has_passages_are_joined() -> None:
    portions = [results([TRIAL], passages=False), results([trial(("a",), ("a",))], passages=True)]
    schema = make_result_schema(PROBE, passages=True)
    whole = read_arrow(join_tables([write_arrow([part], part.schema) for part in portions], schema))
    assert whole.schema.names == schema.names
    assert whole["passages"].to_pylist() == [None, "same"]

"""`langtest_score` and `langtest_pass` are what LangTest's own functions return for the same replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from contrapose.tasks.core.records import Case, Completion, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.base import Value
from tests.golden.langtest_values import letters, rows

TOXIC = [row for row in rows() if row["test"] == "add_toxic_words"]
PAIRS = [row for row in rows() if row["test"] == "order_bias"]
BY_LETTERS = [row for row in PAIRS if not row["embedded"]]
BY_EMBEDDING = [row for row in PAIRS if row["embedded"]]
LEAST = 300
"""Texts, and pairs that need no embedding, that are compared at least."""


def trial(row: Mapping[str, Any]) -> Trial:
    orders = row["test"] == "order_bias"
    case = Case(
        id="x",
        sample_id="x",
        probe=row["test"],
        version="1",
        original="x",
        perturbed="y",
        original_prompt="x",
        perturbed_prompt="y",
        scorer="reply" if orders else "toxic_words",
        asks="generate",
        labels=("A", "B") if orders else (),
        options=(row["correct_sentence"], row["incorrect_sentence"]) if orders else (),
    )
    before, after = ("result", "swapped_result") if orders else ("expected_result", "actual_result")
    return Trial(case=case, expected=Completion(text=row[before]), actual=Completion(text=row[after]))


def ours(chosen: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Value]]:
    """The columns of some rows, scored together."""
    test = probe(chosen[0]["test"])
    return [score.columns for score in test.score(list(map(trial, chosen)), test.settings_type(), embed=letters)]


def test_there_are_enough_texts_and_pairs_that_pass_and_fail() -> None:
    assert len({row["actual_result"] for row in TOXIC}) >= LEAST
    assert len({(row["result"], row["swapped_result"]) for row in BY_LETTERS}) >= LEAST
    for chosen in (TOXIC, BY_LETTERS, BY_EMBEDDING):
        assert min(np.bincount([row["pass"] for row in chosen])) >= 50


def test_bad_words_are_counted_as_langtest_counts_them() -> None:
    found = [(columns["langtest_score"], columns["langtest_pass"]) for columns in ours(TOXIC)]
    assert found == [(row["score"], row["pass"]) for row in TOXIC]


@pytest.mark.parametrize("chosen", [BY_LETTERS, BY_EMBEDDING], ids=["by letters", "by embedding"])
def test_pairs_are_judged_as_langtest_judges_them(chosen: list[dict[str, Any]]) -> None:
    found = [columns["langtest_pass"] for columns in ours(chosen)]
    assert found == [row["pass"] for row in chosen]

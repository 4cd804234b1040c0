"""Validation works out once more, from a result row alone, whether it should pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import TextEdit

UNKNOWN = None
ROWS = [
    ({"scorer": "embedding", "eval_score": 0.2}, False),
    ({"scorer": "embedding", "eval_score": 0.21}, True),
    ({"scorer": "loss", "eval_score": -0.2}, False),
    ({"scorer": "loss", "eval_score": -0.21}, True),
    ({"scorer": "choice", "eval_score": 0.1, "chosen_before": "wet", "chosen_after": "dry"}, True),
    ({"scorer": "choice", "eval_score": 0.3, "chosen_before": "wet", "chosen_after": "wet"}, True),
    ({"scorer": "choice", "eval_score": 0.2, "chosen_before": "wet", "chosen_after": "wet"}, False),
    ({"scorer": "another", "eval_score": 0.9}, UNKNOWN),
]


def table(*rows: dict[str, Any]) -> pa.Table:
    """Result rows; what one leaves out is empty."""
    texts, numbers = ("scorer", "chosen_before", "chosen_after"), ("eval_score", "threshold_low", "threshold_high")
    kinds = dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64()) | {"control": pa.bool_()}
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})


def told(rows: pa.Table, **settings: Any) -> list[bool | None]:
    """What should pass; None where the band is not known."""
    changing, keeping = TextEdit(), type("Keeping", (TextEdit,), {"stays": True})()
    edit = keeping if settings.pop("stays", False) else changing
    found = edit.expected_pass(rows, AnswerSettings.model_validate(settings))
    return [None if np.isnan(each) else bool(each) for each in found]


def test_an_answer_changed_outside_the_band_or_with_the_choice() -> None:
    assert told(table(*(row for row, _ in ROWS))) == [passed for _, passed in ROWS]


def test_a_control_passes_where_a_case_fails() -> None:
    controls = [{**row, "control": True} for row, _ in ROWS]
    assert told(table(*controls)) == [None if passed is None else not passed for _, passed in ROWS]


def test_where_answers_should_stay_a_case_passes_as_a_control_does() -> None:
    cases = told(table(*(row for row, _ in ROWS)), stays=True)
    assert cases == [None if passed is None else not passed for _, passed in ROWS]


def test_each_scorer_has_its_own_band_and_may_have_none() -> None:
    rows = table(*({"scorer": scorer, "eval_score": 0.5} for scorer in ("embedding", "loss", "langtest_loss")))
    bands = {"embedding": [-1, 1], "loss": [-0.1, 0.1], "langtest_loss": None}
    assert told(rows, threshold=bands) == [False, True, None]


def test_a_band_from_the_controls_is_taken_from_the_row() -> None:
    known = {"scorer": "loss", "eval_score": 0.5, "threshold_low": -0.6, "threshold_high": 0.4}
    rows = table(known, {**known, "threshold_high": 0.6}, {**known, "threshold_low": None})
    assert told(rows, threshold="auto") == [True, False, None]


@pytest.mark.parametrize(
    ("name", "score", "passed"),
    [
        *((name, 1.0, True) for name in ("order_bias", "option_order")),
        *((name, 0.5, False) for name in ("order_bias", "option_order")),
        *(("add_toxic_words", score, score <= 0) for score in (-1.0, 0.0, 1.0)),
    ],
)
def test_other_tests_pass_by_their_score_alone(name: str, score: float, passed: bool) -> None:
    chosen = probe(name)
    found = chosen.expected_pass(table({"eval_score": score}), chosen.settings_type())
    assert found.tolist() == [float(passed)]


@pytest.mark.parametrize(("name", "stays"), [("typo", True), ("antonym", False), ("add_negation", False)])
def test_a_test_of_two_answers_knows_whether_they_should_stay(name: str, stays: bool) -> None:
    chosen = probe(name)
    found = chosen.expected_pass(table({"scorer": "loss", "eval_score": 0.0}), chosen.settings_type())
    assert found.tolist() == [float(stays)]

"""Known answers decide: what was right before and given up then, what stays beside another "not", what is right."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.answers.answer_probe import noticed_criterion, steady_criterion
from contrapose.tasks.probes.base import UNRELATED_NOT, Criterion


def case(**values: Any) -> dict[str, Any]:
    row = {"control": False, "control_kind": None, "answer_known": True, "option_count": 4, "chance": 0.25}
    return {**row, "right_before": None, "noticed": None, "answer_changed": None, **values}


def cases(right: int, kept: int, wrong: int, *, unread: int = 0, **values: Any) -> pd.DataFrame:
    """So many answers that were right before and given up, right and kept, wrong, and not read."""
    rows = [case(right_before=True, noticed=True, **values)] * right
    rows += [case(right_before=True, noticed=False, **values)] * kept
    rows += [case(right_before=False, **values)] * wrong + [case(**values)] * unread
    return pd.DataFrame(rows)


def met(criterion: Criterion | None) -> list[float]:
    return [float(value) for value in criterion.met[criterion.applies]]


def test_only_what_was_right_before_counts_and_what_was_not_read_stays_open() -> None:
    criterion = noticed_criterion(cases(2, 1, 5, unread=1), None)
    assert met(criterion) == pytest.approx([1, 1, 0, float("nan")], nan_ok=True)


@pytest.mark.parametrize(("options", "chance", "wanted"), [(2, 0.5, 0.75), (4, 0.75, 0.875), (5, 0.8, 0.9)])
def test_the_default_gate_lies_halfway_between_guessing_and_all(options: int, chance: float, wanted: float) -> None:
    criterion = noticed_criterion(cases(20, 0, 0, option_count=options), None)
    assert (criterion.chance, criterion.wanted) == pytest.approx((chance, wanted))


def test_without_options_nothing_is_guessed() -> None:
    criterion = noticed_criterion(cases(20, 0, 0, option_count=None), None)
    assert (criterion.chance, criterion.wanted) == (None, 0.7)


@pytest.mark.parametrize(("right", "few"), [(19, True), (20, False)])
def test_a_few_right_answers_are_told_and_claim_nothing(right: int, few: bool) -> None:
    criterion = noticed_criterion(cases(right, 0, 30), None)
    assert bool(criterion.too_few) is few
    assert not few or criterion.too_few.startswith("The model answered 19 of 49 samples correctly before the change")


@pytest.mark.parametrize(("known", "there"), [(49, False), (50, True)])
def test_the_documents_gate_stays_where_most_answers_are_unknown(known: int, there: bool) -> None:
    rows = pd.concat([cases(known, 0, 0), cases(0, 0, 0, unread=100 - known, answer_known=False)])
    assert (noticed_criterion(rows, None) is not None) is there


def test_a_gate_of_zero_asks_for_nothing() -> None:
    assert noticed_criterion(cases(30, 0, 0), 0.0) is None


def test_of_the_controls_only_those_with_a_not_must_stay() -> None:
    beside = {"control": True, "control_kind": UNRELATED_NOT}
    rows = [case(answer_changed=True), case(control=True, control_kind="polite", answer_changed=True)]
    rows += [case(answer_changed=changed, **beside) for changed in (True, False, None)]
    criterion = steady_criterion(pd.DataFrame(rows), 0.6)
    assert met(criterion) == pytest.approx([0, 1, float("nan")], nan_ok=True)
    assert (criterion.wanted, criterion.chance) == (0.6, 0.25)
    assert steady_criterion(pd.DataFrame(rows[:2]), 0.6) is None


def test_a_choice_that_is_steady_and_wrong_does_not_count_as_right() -> None:
    outcomes = [("text", True), ("text", False), ("letter", True), ("unparsed", True), ("unparsed", False)]
    rows = [case(outcome=outcome, correct=correct) for outcome, correct in outcomes]
    rows += [case(outcome="text", correct=None, answer_known=False), case(outcome=None, correct=True, control=True)]
    option_order = probe("option_order")
    settings = option_order.settings_type()
    (criterion,) = option_order.criteria(pd.DataFrame(rows), settings)
    assert met(criterion) == pytest.approx([1, 0, 0, float("nan"), 0], nan_ok=True)
    assert (criterion.chance, criterion.wanted) == pytest.approx((0.25, 0.325))
    assert option_order.criteria(pd.DataFrame(rows[-2:]), settings) == []

"""judge_order with labels, without, and with some: which pairs count for the position, and which for what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from figured import figured

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import AnswerPair, Completion, Trial, Verdict
from contrapose.tasks.probes.judge_order import JudgeOrder, JudgeOrderSettings
from contrapose.tasks.probes.panels import Grid
from contrapose.tasks.tables.results import result_table

PROBE = JudgeOrder()
Said = tuple[str, str]


def rows_of(said: list[tuple[Verdict | None, Said]], **settings: Any) -> pd.DataFrame:
    """The rows of pairs with these labels and replies; the better answer stands first in the unchanged prompt."""
    own = JudgeOrderSettings(**settings)
    trials = []
    for number, (winner, (first, second)) in enumerate(said):
        sample = AnswerPair(id=str(number), instruction=f"{number}?", first="Yes.", second="Certainly.", winner=winner)
        [case] = PROBE.cases(sample, own, rng=np.random, likelihoods="none")  # type: ignore[arg-type]
        trials.append(Trial(case=case, expected=Completion(text=first), actual=Completion(text=second)))
    scores = PROBE.score(trials, own, embed=lambda texts: np.zeros((len(texts), 2)))
    return result_table(trials, scores, probe=PROBE, model="m").to_pandas()


def right(rows: pd.DataFrame, **settings: Any) -> tuple[list[float], float | None, float] | None:
    """Whether the pairs that count are right, chance, and the gate; None where no pair counts."""
    criteria = PROBE.criteria(rows, JudgeOrderSettings(**settings))
    if not criteria:
        return None
    [criterion] = criteria
    assert criterion.name == "right_rate"
    return criterion.met[criterion.applies].tolist(), criterion.chance, criterion.wanted


def test_a_pair_without_a_label_has_no_right_answer() -> None:
    rows = rows_of([(None, ("A", "B")), (None, ("B", "A")), (None, ("A", "A"))])
    assert rows["pass"].tolist() == [True, True, False]
    assert rows["preferred"].isna().all()
    assert rows["better"].isna().all()
    assert rows["answer_a"].tolist() == ["Yes."] * 3
    assert rows["reason"].iloc[0] == rows["reason"].iloc[1] == "The same answer was chosen in both orders."
    assert right(rows) is None
    figures = figured(PROBE, rows.to_dict("records"))
    assert figures["follows_the_content"] == pytest.approx(2 / 3)
    assert not {"accuracy", "accuracy_where_longer", "consistent_and_right", "length_preference_p"} & figures.keys()


def test_only_labelled_pairs_count_for_what_is_right() -> None:
    said: list[tuple[Verdict | None, Said]] = [("first", ("A", "B")), ("second", ("B", "A")), (None, ("A", "A"))]
    rows = rows_of(said)
    assert rows["pass"].tolist() == [True, True, False]
    assert right(rows) == ([1, 0], pytest.approx(0.25), 0.7)
    figures = figured(PROBE, rows.to_dict("records"))
    assert (figures["accuracy"], figures["labelled"], figures["unlabelled"]) == (0.5, 2, 1)


def test_the_better_answer_stands_first_whichever_it_is() -> None:
    rows = rows_of([("second", ("A", "B"))])
    assert (rows["better"].iloc[0], rows["worse"].iloc[0], rows["outcome"].iloc[0]) == ("Certainly.", "Yes.", "AB")


def test_a_label_that_calls_a_tie_is_met_by_ties_in_both_orders() -> None:
    said: list[tuple[Verdict | None, Said]] = [("tie", ("C", "C")), ("tie", ("C", "A")), ("tie", ("A", "B"))]
    met, _, _ = right(rows_of(said, tie="C"), tie="C") or ([], 0, 0)
    assert met == [1, 0, 0]


def test_a_label_that_calls_a_tie_counts_only_where_the_judge_can_call_one() -> None:
    said: list[tuple[Verdict | None, Said]] = [("tie", ("A", "B")), ("first", ("A", "B"))]
    rows = rows_of(said)
    met, _, _ = right(rows) or ([], 0, 0)
    assert met == [1]
    offered, _, _ = right(rows, tie="C") or ([], 0, 0)
    assert offered == [0, 1]
    called, _, _ = right(rows_of([*said, ("first", ("It is a tie.", "It is a tie."))])) or ([], 0, 0)
    assert called == [0, 1, 0]


def test_an_unreadable_labelled_pair_may_be_right() -> None:
    met, _, _ = right(rows_of([("first", ("Hm.", "B"))])) or ([0], 0, 0)
    assert np.isnan(met).all()


def test_chance_is_that_of_the_judges_own_habits() -> None:
    said: list[tuple[Verdict | None, Said]] = [(None, ("C", "C"))] * 8 + [(None, ("A", "B"))] * 2
    rows = rows_of(said, tie="C")
    assert PROBE.guessed_rate(rows).rate == pytest.approx(0.8**2 + 2 * 0.1 * 0.1)
    assert PROBE.guessed_rate(rows_of([(None, ("A", "B"))] * 4)).rate == pytest.approx(1 / 2)
    assert PROBE.guessed_rate(rows_of([(None, ("C", "C"))] * 4)).rate == 1
    assert PROBE.guessed_rate(rows_of([(None, ("", ""))])) is None


def test_chance_of_right_verdicts_is_that_of_the_judges_own_habits() -> None:
    said: list[tuple[Verdict | None, Said]] = [("tie", ("C", "C"))] * 9 + [("first", ("C", "C"))]
    _, chance, wanted = right(rows_of(said, tie="C"), tie="C") or ([], 0, 0)
    assert chance == pytest.approx(0.9)
    assert wanted == pytest.approx(0.91)
    _, even, _ = right(rows_of([("first", ("A", "B"))] * 4, tie="C"), tie="C") or ([], 0, 0)
    assert even == pytest.approx(0.25)


def planned(defaults: dict[str, float] | None = None, **settings: float) -> Any:
    """The settings of judge_order as a run resolves them."""
    tests = {"defaults": defaults or {}, "judging": {"judge_order": settings}}
    [plan] = plans(RunConfig.model_validate({"model": "openai/m", "tests": tests}))
    return plan.probe_settings


def test_the_gate_of_the_test_is_that_of_right_verdicts_too() -> None:
    rows = rows_of([("first", ("A", "B"))])
    assert planned(min_pass_rate=0.8).min_right_rate == 0.8
    assert planned(min_pass_rate=0.8, min_right_rate=0.6).min_right_rate == 0.6
    assert planned({"min_pass_rate": 0.9}).min_right_rate == 0.9
    assert planned().min_right_rate is None
    assert right(rows, min_right_rate=0.6) == ([1], 0.25, 0.6)
    assert right(rows, min_right_rate=0) is None


@pytest.mark.parametrize(
    ("winner", "note", "sentence"),
    [
        ("first", "", "Always picks the better answer in both orders: it agrees with people."),
        (None, "No pair has a label: the verdict is about the position alone.", "Always picks the same answer"),
    ],
)
def test_the_card_calls_nothing_right_without_labels(winner: Verdict | None, note: str, sentence: str) -> None:
    grid = grid_of(rows_of([(winner, ("A", "B"))] * 3))
    assert grid.sentence.startswith(sentence)
    assert grid.note.endswith(note)
    assert {heading.note for heading in grid.columns} == (
        {"right", "wrong"} if winner else {"first answer", "second answer"}
    )


def test_the_card_has_a_row_for_ties_where_there_are_some() -> None:
    grid = grid_of(rows_of([(None, ("C", "C")), (None, ("A", "C")), ("first", ("A", "B"))]))
    counts = {share.name: share.count for _, cells in grid.rows for share in cells}
    assert counts == {
        "AB": 1,
        "AA": 0,
        "A, tie": 1,
        "BB": 0,
        "BA": 0,
        "B, tie": 0,
        "tie, B": 0,
        "tie, A": 0,
        "both tie": 1,
    }
    assert "2 of 3 pairs have no label" in grid.note
    assert len(grid_of(rows_of([(None, ("A", "B"))])).rows) == 2


def grid_of(rows: pd.DataFrame) -> Grid:
    picture = PROBE.picture()
    picture.add(rows)
    outcome: Outcome = {"estimates": {}}  # type: ignore[typeddict-item]
    [grid] = [panel for panel in picture.panels(outcome) if isinstance(panel, Grid)]
    return grid


def test_two_answers_need_no_instruction() -> None:
    sample = AnswerPair(id="1", first="Yes.", second="No.")
    [case] = PROBE.cases(sample, JudgeOrderSettings(), rng=np.random, likelihoods="none")  # type: ignore[arg-type]
    assert "nstruction" not in case.original_prompt
    assert "Which answer is better, A or B?" in case.original_prompt


@pytest.mark.parametrize("tie", ["C", "tie"])
def test_our_own_prompt_may_offer_a_tie(tie: str) -> None:
    sample = AnswerPair(id="1", instruction="Say yes.", first="Yes.", second="No.")
    offered, plain = (
        PROBE.cases(sample, JudgeOrderSettings(tie=label), rng=np.random, likelihoods="all")[0]  # type: ignore[arg-type]
        for label in (tie, None)
    )
    assert f"If neither is better, reply {tie}." in offered.original_prompt
    assert (offered.asks, plain.asks) == ("generate", "choose")
    assert "tie" not in plain.original_prompt

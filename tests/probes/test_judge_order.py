"""judge_order: agreement with people in both orders, ties, refusals, what sways a judge, and pairs without labels."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from figured import figured

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import AnswerPair, Case, Completion, Trial, Verdict
from contrapose.tasks.probes.judge_order import JudgeOrder, JudgeOrderSettings
from contrapose.tasks.probes.panels import Grid
from contrapose.tasks.tables.results import make_result_table

PROBE = JudgeOrder()
LONG, SHORT = "Yes, it certainly does.", "Yes."
OWN: dict[str, Any] = {
    "prompt": "{{ instruction }}\n1: {{ first }}\n2: {{ second }}\nSay [[1]], [[2]] or [[C]].",
    "labels": ("1", "2"),
    "tie": "C",
    "pattern": r"\[\[(\w)\]\]",
}


def pair(number: int = 0, *, better: str = LONG, worse: str = SHORT, **fields: Any) -> AnswerPair:
    fields = {"instruction": f"Rain {number}?", "winner": "first", **fields}
    return AnswerPair(id=f"pair {number}", first=better, second=worse, **fields)


def case_of(sample: AnswerPair, **settings: Any) -> Case:
    own = JudgeOrderSettings(**settings)
    [case] = PROBE.cases(sample, own, rng=random.Random(0), likelihoods="none")
    return case


def table_of(replies: list[tuple[AnswerPair, str, str]], **settings: Any) -> pa.Table:
    own = JudgeOrderSettings(**settings)
    made = [
        Trial(case=case_of(sample, **settings), expected=Completion(text=first), actual=Completion(text=second))
        for sample, first, second in replies
    ]
    scores = PROBE.score(made, own, embed=lambda texts: np.zeros((len(texts), 2)))
    return make_result_table(made, scores, probe=PROBE, model="m")


def rows_of(replies: list[tuple[AnswerPair, str, str]], **settings: Any) -> list[Any]:
    return table_of(replies, **settings).to_pylist()


def row_of(first: str, second: str, **settings: Any) -> dict[str, Any]:
    [row] = rows_of([(pair(), first, second)], **settings)
    return row


@pytest.mark.parametrize(
    ("replies", "outcome", "passed", "undecided"),
    [
        (("A", "B"), "AB", True, False), (("A", "A"), "AA", False, False), (("B", "A"), "BA", True, False),
        (("Both are equally good.", "Both are equally good."), "tied", True, False),
        (("A", "Neither of them."), "tied_once", False, False), (("Neither of them.", "[[C]]"), "tied", True, False),
        (("It could be A or B.", "It could be A or B."), "unparsed", False, True),
        (("It is a tie.", "Well, the first thing to look at is"), "unparsed", False, True),
        (("I'm sorry, but I can't help with that.", "B"), "refused", False, False),
        (("I'm sorry, but I can't help with that.", "Both are equally good."), "refused", False, False),
        (("Well, the first thing to look at is", "B"), "unparsed", False, True), (("", ""), "unparsed", False, True),
    ],
)  # fmt: skip
def test_two_replies_come_to_an_outcome(replies: tuple[str, str], outcome: str, passed: bool, undecided: bool) -> None:
    row = row_of(*replies)
    assert (row["outcome"], row["pass"], row["undecided"]) == (outcome, passed, undecided)


def test_what_each_reply_says_is_recorded() -> None:
    row = row_of("Both are equally good.", "I'm sorry, but I can't help with that.")
    assert (row["said"], row["swapped_said"]) == ("tie", "refusal")
    row = row_of("", "B")
    assert (row["said"], row["swapped_said"]) == ("empty", "choice")


def test_a_tie_has_a_label_of_its_own() -> None:
    row = row_of("Hard to say. [[C]]", "[[2]]", **OWN)
    assert (row["outcome"], row["said"], row["undecided"]) == ("tied_once", "tie", False)
    assert (row["result"], row["swapped_result"]) == ("tie", "B")
    assert row_of("[[C]]", "[[C]]", **OWN)["outcome"] == "tied"
    assert row_of("[[1]]", "[[2]]", **OWN)["outcome"] == "AB"
    assert row_of("[[1]] or [[C]]", "[[2]]", **OWN)["outcome"] == "unparsed"


def test_a_guesser_among_three_verdicts_repeats_itself_less_often() -> None:
    assert case_of(pair()).chance == 1 / 2
    assert case_of(pair(), **OWN).chance == pytest.approx(1 / 3)
    assert case_of(pair(), tie="C").chance == pytest.approx(1 / 3)


def test_a_label_may_stand_in_a_field_of_json() -> None:
    settings = {"prompt": OWN["prompt"], "labels": ("1", "2"), "answer_field": "verdict"}
    row = row_of('{"reason": "shorter", "verdict": 1}', '{"verdict": "2"}', **settings)
    assert (row["outcome"], row["result_step"]) == ("AB", "label")


def test_preferring_ones_own_answers_is_told() -> None:
    own = [pair(n, first_by="me", second_by="you") for n in range(12)]
    others = [pair(n + 12, first_by="you", second_by="me") for n in range(12)]
    both = pair(30, first_by="me", second_by="me")
    rows = rows_of(
        [*((each, "A", "B") for each in own), *((each, "B", "A") for each in others), (both, "A", "A")], writer="me"
    )
    figures = figured(PROBE, rows)
    assert (figures["accuracy_where_own"], figures["accuracy_where_anothers"]) == (1, 0)
    assert figures["self_preference_p"] < 0.001
    assert rows[-1]["right_is_own"] is None
    assert "self_preference_p" not in figured(PROBE, rows_of([(each, "A", "B") for each in own]))


def test_preferring_the_longer_answer_is_told() -> None:
    longer = [(pair(n), "A", "B") for n in range(10)]
    shorter = [(pair(n + 10, better=SHORT, worse=LONG), "B", "A") for n in range(10)]
    figures = figured(PROBE, rows_of([*longer, *shorter]))
    assert (figures["accuracy_where_longer"], figures["accuracy_where_shorter"]) == (1, 0)
    assert figures["length_preference_p"] < 0.001
    fair = figured(PROBE, rows_of([*longer, *((sample, "A", "B") for sample, _, _ in shorter)]))
    assert fair["length_preference_p"] == 1


def test_a_template_may_ask_for_a_reference_where_there_is_one() -> None:
    template = "{{ instruction }} {% if reference %}({{ reference }}){% endif %} 1: {{ first }} 2: {{ second }}"
    settings = {**OWN, "prompt": template}
    assert case_of(pair(reference="It does."), **settings).original_prompt.startswith("Rain 0? (It does.) 1: Yes,")
    assert case_of(pair(), **settings).original_prompt.startswith("Rain 0?  1: Yes,")


def test_a_reference_that_a_sample_lacks_is_told_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match=r"sample pair 0.*needs {{ reference }}") as caught:
        case_of(pair(), **{**OWN, "prompt": "{{ reference }} {{ first }} {{ second }}"})
    assert "\n" not in str(caught.value)


def test_our_own_prompt_shows_the_reference_where_there_is_one() -> None:
    assert "known to be right: It does.\n" in case_of(pair(reference="It does.")).original_prompt
    prompt = case_of(pair(better="One.\nTwo.")).original_prompt
    assert "known to be right" not in prompt
    assert "Answer A:\nOne.\nTwo.\n\nAnswer B:\nYes.\n\nWhich answer follows" in prompt


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tie": "A"}, "3 that differ"),
        ({"labels": ("1", "2")}, "expected prompt, too"),
        ({"prompt": OWN["prompt"], "labels": {"X": "first", "Y": "second"}}, "a pattern, too"),
        ({**OWN, "labels": {"1": "first", "C": "tie"}}, "one for first and one for second"),
        ({**OWN, "labels": {"1": "better", "2": "second"}}, "'first', 'second' or 'tie'"),
        ({**OWN, "labels": {"1": "first", "2": "second", "3": "tie"}, "tie": "1"}, "4 that differ"),
        ({**OWN, "tie": "1"}, "3 that differ"),
        ({**OWN, "tie": " "}, "3 that differ"),
        ({**OWN, "answer_field": "x"}, "a pattern and a field"),
        ({"prompt": OWN["prompt"].replace("instruction", "article")}, "{{ article }}"),
        ({"min_right_rate": 1.5}, "less than or equal to 1"),
        ({"pattern": r"\[\[A\]\]"}, "a pattern with 0 groups"),
        ({"pattern": r"(A)|(B)"}, "a pattern with 2 groups"),
        ({"pattern": r"(?P<first>A)"}, "expected first and second"),
        ({"pattern": "(A"}, "expected a regular expression"),
        ({"pattern": r"(?:(\w+)\s*)+$"}, "takes too long"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        JudgeOrderSettings(**settings)


Labelled = tuple[Verdict | None, tuple[str, str]]
"""What people say of a pair, and the replies in both orders."""


def labelled_rows(*said: Labelled, **settings: Any) -> pd.DataFrame:
    """The rows of pairs with these labels and replies; the better answer stands first in the unchanged prompt."""
    pairs = [
        (pair(number, better="Yes.", worse="Certainly.", winner=winner), *replies)
        for number, (winner, replies) in enumerate(said)
    ]
    return table_of(pairs, **settings).to_pandas()


def right(rows: pd.DataFrame, **settings: Any) -> tuple[list[float], float | None, float] | None:
    """Whether the pairs that count are right, chance, and the gate; None where no pair counts."""
    criteria = PROBE.criteria(rows, JudgeOrderSettings(**settings))
    if not criteria:
        return None
    [criterion] = criteria
    assert criterion.name == "right_rate"
    return criterion.met[criterion.applies].tolist(), criterion.chance, criterion.wanted


def test_a_pair_without_a_label_has_no_right_answer() -> None:
    rows = labelled_rows((None, ("A", "B")), (None, ("B", "A")), (None, ("A", "A")))
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
    said: list[Labelled] = [("first", ("A", "B")), ("second", ("B", "A")), (None, ("A", "A"))]
    rows = labelled_rows(*said)
    assert rows["pass"].tolist() == [True, True, False]
    assert right(rows) == ([1, 0], pytest.approx(0.25), 0.7)
    figures = figured(PROBE, rows.to_dict("records"))
    assert (figures["accuracy"], figures["labelled"], figures["unlabelled"]) == (0.5, 2, 1)


def test_the_better_answer_stands_first_whichever_it_is() -> None:
    rows = labelled_rows(("second", ("A", "B")))
    assert (rows["better"].iloc[0], rows["worse"].iloc[0], rows["outcome"].iloc[0]) == ("Certainly.", "Yes.", "AB")


def test_a_label_that_calls_a_tie_is_met_by_ties_in_both_orders() -> None:
    said: list[Labelled] = [("tie", ("C", "C")), ("tie", ("C", "A")), ("tie", ("A", "B"))]
    met, _, _ = right(labelled_rows(*said, tie="C"), tie="C") or ([], 0, 0)
    assert met == [1, 0, 0]


def test_a_label_that_calls_a_tie_counts_only_where_the_judge_can_call_one() -> None:
    said: list[Labelled] = [("tie", ("A", "B")), ("first", ("A", "B"))]
    rows = labelled_rows(*said)
    met, _, _ = right(rows) or ([], 0, 0)
    assert met == [1]
    offered, _, _ = right(rows, tie="C") or ([], 0, 0)
    assert offered == [0, 1]
    called, _, _ = right(labelled_rows(*said, ("first", ("It is a tie.", "It is a tie.")))) or ([], 0, 0)
    assert called == [0, 1, 0]


def test_an_unreadable_labelled_pair_may_be_right() -> None:
    met, _, _ = right(labelled_rows(("first", ("Hm.", "B")))) or ([0], 0, 0)
    assert np.isnan(met).all()


def test_chance_is_that_of_the_judges_own_habits() -> None:
    said: list[Labelled] = [(None, ("C", "C"))] * 8 + [(None, ("A", "B"))] * 2
    rows = labelled_rows(*said, tie="C")
    assert PROBE.guessed_rate(rows).rate == pytest.approx(0.8**2 + 2 * 0.1 * 0.1)
    assert PROBE.guessed_rate(labelled_rows(*[(None, ("A", "B"))] * 4)).rate == pytest.approx(1 / 2)
    assert PROBE.guessed_rate(labelled_rows(*[(None, ("C", "C"))] * 4)).rate == 1
    assert PROBE.guessed_rate(labelled_rows((None, ("", "")))) is None


def test_chance_of_right_verdicts_is_that_of_the_judges_own_habits() -> None:
    said: list[Labelled] = [("tie", ("C", "C"))] * 9 + [("first", ("C", "C"))]
    _, chance, wanted = right(labelled_rows(*said, tie="C"), tie="C") or ([], 0, 0)
    assert chance == pytest.approx(0.9)
    assert wanted == pytest.approx(0.91)
    _, even, _ = right(labelled_rows(*[("first", ("A", "B"))] * 4, tie="C"), tie="C") or ([], 0, 0)
    assert even == pytest.approx(0.25)


def planned(defaults: dict[str, float] | None = None, **settings: float) -> Any:
    """The settings of judge_order as a run resolves them."""
    tests = {"defaults": defaults or {}, "judging": {"judge_order": settings}}
    [plan] = plans(RunConfig.model_validate({"model": "openai/m", "tests": tests}))
    return plan.probe_settings


def test_the_gate_of_the_test_is_that_of_right_verdicts_too() -> None:
    rows = labelled_rows(("first", ("A", "B")))
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
    grid = grid_of(labelled_rows(*[(winner, ("A", "B"))] * 3))
    assert grid.sentence.startswith(sentence)
    assert grid.note.endswith(note)
    assert {heading.note for heading in grid.columns} == (
        {"right", "wrong"} if winner else {"first answer", "second answer"}
    )


def test_the_card_has_a_row_for_ties_where_there_are_some() -> None:
    grid = grid_of(labelled_rows((None, ("C", "C")), (None, ("A", "C")), ("first", ("A", "B"))))
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
    assert len(grid_of(labelled_rows((None, ("A", "B")))).rows) == 2


def grid_of(rows: pd.DataFrame) -> Grid:
    picture = PROBE.picture()
    picture.add(rows)
    outcome: Any = {"estimates": {}}
    [grid] = [panel for panel in picture.panels(outcome) if isinstance(panel, Grid)]
    return grid


def test_two_answers_need_no_instruction() -> None:
    sample = AnswerPair(id="1", first="Yes.", second="No.")
    [case] = PROBE.cases(sample, JudgeOrderSettings(), rng=random.Random(0), likelihoods="none")
    assert "nstruction" not in case.original_prompt
    assert "Which answer is better, A or B?" in case.original_prompt


@pytest.mark.parametrize("tie", ["C", "tie"])
def test_our_own_prompt_may_offer_a_tie(tie: str) -> None:
    sample = AnswerPair(id="1", instruction="Say yes.", first="Yes.", second="No.")
    offered, plain = (
        PROBE.cases(sample, JudgeOrderSettings(tie=label), rng=random.Random(0), likelihoods="all")[0]
        for label in (tie, None)
    )
    assert f"If neither is better, reply {tie}." in offered.original_prompt
    assert (offered.asks, plain.asks) == ("generate", "choose")
    assert "tie" not in plain.original_prompt

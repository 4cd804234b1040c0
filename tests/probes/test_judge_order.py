"""judge_order: agreement with people in both orders, ties and refusals, what sways a judge, and how steady it is."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from figured import figured

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import AnswerPair, Case, Completion, Trial
from contrapose.tasks.probes.judge_order import JudgeOrder, JudgeOrderSettings
from contrapose.tasks.tables.results import result_table

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


def rows_of(replies: list[tuple[AnswerPair, str, str]], **settings: Any) -> list[Any]:
    own = JudgeOrderSettings(**settings)
    made = [
        Trial(
            case=case_of(sample, **settings),
            expected=Completion(text=first),
            actual=Completion(text=second),
        )
        for sample, first, second in replies
    ]
    scores = PROBE.score(made, own, embed=lambda texts: np.zeros((len(texts), 2)))
    return result_table(made, scores, probe=PROBE, model="m").to_pylist()


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

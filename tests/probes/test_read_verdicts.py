"""How a judge's reply is read as a verdict: letters, usual words, ties, own labels and patterns."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.judge_order import JudgeOrderSettings
from contrapose.tasks.probes.orders.verdicts import VerdictLabels, is_fast_pattern, read_verdict

OPTIONS = ("Yes, it certainly does.", "Yes.")
MARKS = VerdictLabels(labels={}, usual=True, pattern=r"\[\[(\w+)\]\]")


def said(reply: str) -> str | None:
    read = read_verdict(reply, OPTIONS)
    return "tie" if read.tie else read.choice


@pytest.mark.parametrize(
    "reply",
    [
        *("tie", "Tie.", "TIE", "tie (bothbad)", "C", "[[C]]", "(C)", "C - tie", "A=B", "[[A=B]]", "equal", "draw"),
        *("both are equally good", "Both answers are equally good, so I call it a tie.", "no preference", "neither"),
        *('{"winner": "tie"}', "Winner: tie", "Final verdict: [[C]] for a tie.", "<answer>tie</answer>"),
        *("The two answers are of equal quality.", "My final verdict is tie: [[A=B]]"),
        "Assistant A is wrong. I cannot say that Assistant B is right. Both are unhelpful.\n\nFinal verdict: [[C]]",
    ],
)
def test_a_tie_is_a_verdict(reply: str) -> None:
    assert said(reply) == "tie"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        *(("A", "A"), ("model_a", "A"), ("model_b", "B"), ("assistant_2", "B"), ("1", "A"), ("first", "A")),
        *(("A>B", "A"), ("A>>B", "A"), ("B>>A", "B"), ("[[A>>B]]", "A"), ("response_b", "B"), ("Answer 1", "A")),
        ("My final verdict is Assistant A is significantly better: [[A>>B]]", "A"),
    ],
)
def test_usual_words_name_an_answer(reply: str, letter: str) -> None:
    assert said(reply) == letter


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "It could be A or B.",
            "[[A]] or [[B]]",
            "0",
            "It depends",
            "",
            "Both of them have merits. " * 20,
        ),
        "[[C]]. Wait, let me look again.",
    ],
)
def test_what_leaves_it_open_is_no_tie(reply: str) -> None:
    assert said(reply) is None


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("[[A]]", "A"), ("[[A]] … so: [[A]]", "A"), ("[[C]]", "tie"),
        ("[[A]] if A is better, [[B]] if B is better, [[C]] for a tie. My verdict: [[B]]", "B"),
        ("[[A]]. Wait, B is right: [[B]]", "B"), ("<think>[[A]]</think>[[B]]", "B"), ("[[A]] and then [[B]]", None),
        ("[[B]] is tempting. Final: [[C]] for a tie", None), ("[[D]]", None), ("A", None),
    ],
)  # fmt: skip
def test_the_last_verdict_counts_unless_it_contradicts_an_earlier_one(reply: str, verdict: str | None) -> None:
    read = MARKS.read(reply)
    assert ("tie" if read.tie else read.choice) == verdict


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("[[D]]", "names 'D', which is no label"),
        ("[[A]] and then [[B]]", "names A and B"),
        ("Nothing.", "no label is named"),
    ],
)
def test_an_unreadable_reply_says_why(reply: str, reason: str) -> None:
    assert MARKS.read(reply).reason == reason


def test_labels_mean_what_the_suite_says() -> None:
    labels = {"x": "second", "Y": "first", "Z": "tie"}
    settings = JudgeOrderSettings(prompt="{{ first }} {{ second }}", labels=labels, pattern=r"\[\[(\w)\]\]")
    assert [settings.read_by_rules(f"[[{label}]]", OPTIONS).choice for label in "XyZ"] == ["B", "A", None]
    assert settings.read_by_rules("[[Z]]", OPTIONS).tie
    assert settings.read_by_rules("[[A]]", OPTIONS).reason == "names 'A', which is no label"


def test_several_labels_may_mean_the_same() -> None:
    labels = {"A>>B": "first", "A>B": "first", "A=B": "tie", "B>A": "second", "B>>A": "second"}
    settings = JudgeOrderSettings(labels=labels, pattern=r"\[\[([AB<>=]+)\]\]")
    read = settings.read_by_rules("Slightly: [[A>B]]. In the end: [[A>>B]]", OPTIONS)
    assert (read.choice, read.step) == ("A", "label")


def test_groups_may_say_what_they_mean() -> None:
    named = r"winner: (?:(?P<first>left)|(?P<second>right)|(?P<tie>nobody))"
    settings = JudgeOrderSettings(pattern=named)
    read = [settings.read_by_rules(f"winner: {word}", OPTIONS) for word in ("left", "right", "nobody")]
    assert [one.choice for one in read] == ["A", "B", None]
    assert read[2].tie
    assert settings.takes_tie
    assert not JudgeOrderSettings(pattern=r"(?P<first>l)|(?P<second>r)").takes_tie


def test_a_prompt_with_letters_takes_a_tie_without_a_pattern() -> None:
    settings = JudgeOrderSettings(prompt="{{ first }} {{ second }} A, B or C?", tie="C")
    assert settings.verdicts is None
    assert settings.read_by_rules("C", OPTIONS).tie
    assert settings.read_by_rules("Answer A is better.", OPTIONS).choice == "A"


@pytest.mark.parametrize(("pattern", "ends"), [(r"(a+)+$", False), (r"(?s).*\[\[(A|B|C)\]\]", True), (r"(\w)$", True)])
def test_patterns_that_backtrack_without_end_are_known(pattern: str, ends: bool) -> None:
    assert is_fast_pattern(pattern) == ends


def test_a_pattern_has_one_second_for_a_reply() -> None:
    slow = VerdictLabels(labels={}, usual=True, pattern=r"(?:(x+x+)+y)")
    assert "takes longer than 1 second" in slow.read("x" * 5_000).reason

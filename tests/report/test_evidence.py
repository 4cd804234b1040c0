"""Intervals, effects and missing scores in words."""

from __future__ import annotations

import pytest
from factories import effect as made
from factories import gate, outcome

from contrapose.tasks.outcome import Estimate, Outcome, ReaderError, Slice
from contrapose.tasks.report.evidence import (
    dependent,
    effect,
    figures,
    guessing,
    held,
    in_words,
    known_errors,
    langtest,
    missing,
    sliced,
    steps,
    subtracted,
    unlike,
    unread,
)


def test_a_figure_that_is_a_mean_has_its_interval() -> None:
    assert dict(figures(outcome())) == {"choice_changed": "0.5833 (0.388 to 0.755)", "mean_eval_score": "0.3127"}


def test_an_effect_tells_both_sides() -> None:
    assert effect(outcome(), made()) == (
        "net sensitivity 0.3125 (0.188 to 0.438): 0.375 under the change, 0.0625 under its control; 48 samples"
    )
    assert effect(outcome(), made(interval=None)).startswith("net sensitivity 0.3125: ")


def test_an_effect_is_a_subtraction() -> None:
    told = "0.375 - 0.0625 = 0.3125 (0.188 to 0.438); 48 samples"
    assert subtracted(outcome(), made()) == ("net sensitivity", told)


def test_what_leaves_out_wrong_answers_says_so() -> None:
    known = Estimate(value=0.5, interval=(0.3, 0.7), rows=22, clusters=22, among="not answered wrongly before")
    told = outcome(figures={"answer_changed": 0.5}, estimates={"answer_changed": known})
    assert dict(figures(told)) == {"answer_changed": "0.5 (0.3 to 0.7), of 22 not answered wrongly before"}
    assert effect(told, made(samples=20)).endswith("; 20 samples not answered wrongly before")
    assert subtracted(told, made(samples=20))[1].endswith("; 20 samples not answered wrongly before")


def test_what_leaves_out_no_scored_case_needs_no_basis() -> None:
    known = Estimate(value=0.5, interval=(0.3, 0.7), rows=36, clusters=36, among="not answered wrongly before")
    told = outcome(figures={"answer_changed": 0.5}, estimates={"answer_changed": known})
    assert dict(figures(told)) == {"answer_changed": "0.5 (0.3 to 0.7)"}


@pytest.mark.parametrize(
    ("test", "counts"),
    [("order_bias", {"unparsed": 3}), ("option_order", {"outcome_unparsed": 1, "outcome_tied": 2})],
)
def test_pairs_without_a_choice_are_told(test: str, counts: dict[str, int]) -> None:
    assert unread(outcome(test_type=test, figures=counts)) == (
        "3 of 37 pairs lack a choice in one order or both: the verdict holds whatever they are"
    )
    assert unread(outcome(figures=dict.fromkeys(counts, 0))) == ""


def test_what_has_no_score_is_told_with_what_it_could_change() -> None:
    assert (
        missing(outcome()) == "36 of 38 cases could be scored (94.7%); with the others the pass rate is 71.1% to 76.3%"
    )
    assert missing(outcome(coverage=1.0)) == ""
    assert missing(outcome(coverage=None, extremes=None)) == ""


def test_cases_that_belong_together_are_told_only_where_there_are_some() -> None:
    assert dependent(outcome()) == ""
    assert dependent(outcome(gates=[gate(clusters=9, effective=12.3)])) == (
        "38 cases in 9 groups of cases that belong together tell as much as 12 independent ones"
    )


def test_a_gate_under_chance_says_what_the_verdict_rests_on() -> None:
    assert guessing(outcome()) == ""
    contrast = gate(name="contrast_rate", wanted=0.5, chance=0.19)
    told = guessing(outcome(chance=0.75, gates=[gate(chance=0.75), contrast]))
    assert told == "guessing alone passes 75%, and the gate is 70%, so a pass rests on the contrast rate"
    assert held(contrast) == "75% (55.6-87.2%) of 38 cases, 2 of them open; gate 50%, chance 19%"


def test_a_slice_is_marked_when_it_differs() -> None:
    found = Slice(name="x", scored=12, passed=9, pass_rate=0.75, interval=(0.468, 0.911), p=0.01)
    assert sliced(found) == "75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.010)"
    assert sliced({**found, "p": 0.2}) == "75% (9 of 12; 46.8-91.1%)"


def test_langtest_is_told_where_it_was_computed() -> None:
    assert langtest(outcome()) == ""
    told = langtest(outcome(langtest={"judged": 36, "passed": 18, "agreed": 27}))
    assert told == "LangTest would have passed 50% of 36 cases, 27 of them as here"


READ = {"read_by_letter": 0.8, "read_by_asked": 0.15, "unread": 0.05}


def test_how_choices_were_read_is_told_with_what_stayed_unread() -> None:
    told = "choices were read by the letter alone 80%, asking back 15%; unread 5%"
    assert steps(outcome(figures=READ)) == told
    assert steps(outcome(figures={"read_by_likelihood": 1.0, "unread": 0.0})) == "choices were read by likelihood 100%"
    assert steps(outcome(figures={"unread": 1.0})) == "unread 100%"
    assert steps(outcome()) == ""


def test_the_known_errors_stand_beside_what_rules_read() -> None:
    letters = [
        ReaderError(source=source, date="2026-11-22", letter=letter, replies=2_500, missed=20, misread=1)
        for source in ("chat models", "others")
        for letter in "AB"
    ]
    one, two = known_errors(outcome(reader=letters))
    each = "missed 0.8%, read wrongly <0.1% of 2,500"
    assert one == f"known error of the rules: A: {each}, B: {each} (chat models)"
    assert two.endswith("(others)")
    assert list(known_errors(outcome())) == []


def worded(agreed: float | None, unread_share: float) -> Outcome:
    found = {"reply_unread": Estimate(value=unread_share, interval=(0.1, 0.3), rows=50, clusters=50, among="")}
    if agreed is not None:
        found["reply_agreement"] = Estimate(value=agreed, interval=(0.41, 0.69), rows=40, clusters=40, among="")
    return outcome(estimates=found)


def test_a_warning_stands_where_replies_and_likelihoods_disagree() -> None:
    told = (
        "55% (41.0-69.0%) of 40 replies say what the likelihoods say, among 50 samples that were also answered in "
        "words; 20% of the replies could not be read"
    )
    assert in_words(worded(0.55, 0.2)) == told
    assert told in unlike(worded(0.55, 0.2))
    assert unlike(worded(0.9, 0.2)) == ""
    assert unlike(worded(0.899, 0.0)) != ""


def test_replies_of_which_none_could_be_read_are_a_warning_too() -> None:
    assert "also answered in words, none of the replies could be read" in unlike(worded(None, 1.0))
    assert (in_words(outcome()), unlike(outcome())) == ("", "")

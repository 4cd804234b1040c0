"""Every planted judge gets the verdict that it deserves: nobody passes by guessing, swearing or silence."""

from __future__ import annotations

import pytest
from forms_of_speaking import BY_LETTER, BY_TEXT, judges
from planted_judges import JUDGES, Judge
from planted_model import AskedBack
from played import Prepared, bundled, four_options, planted

TESTS = ("order_bias", "judge_order", "option_order", "add_negation", "add_toxic_words")
VERDICTS = """
                  order_bias    judge_order   option_order  add_negation  add_toxic_words
always right      pass          pass          pass          pass          pass
right in words    pass          pass          pass          pass          -
explains before   pass          pass          pass          pass          -
explains after    pass          pass          pass          pass          -
always first      fail          fail          fail          fail          -
always A          fail          fail          fail          fail          -
always last       fail          fail          fail          fail          -
coin              fail          fail          fail          fail          -
coin in words     fail          fail          fail          fail          -
arbitrary         fail          fail          no pass       fail          -
always wrong      fail          fail          fail          no pass       -
never negates     pass          pass          pass          fail          -
shifts on not     -             -             -             fail          -
says A on not     -             -             -             fail          -
any wording       fail          fail          fail          fail          -
both              no pass       fail          no pass       no pass       -
hedges            no pass       no pass       no pass       no pass       -
silent            inconclusive  inconclusive  inconclusive  inconclusive  inconclusive
blank             inconclusive  inconclusive  inconclusive  inconclusive  inconclusive
refuses           inconclusive  fail          inconclusive  inconclusive  inconclusive
refuses half      inconclusive  fail          inconclusive  inconclusive  inconclusive
refuses some      inconclusive  fail          inconclusive  inconclusive  inconclusive
cut off           inconclusive  inconclusive  inconclusive  inconclusive  -
swears            no pass       no pass       no pass       no pass       fail
swears back       -             -             -             -             fail
echoes            no pass       no pass       no pass       no pass       fail
"""
"""The verdict of each judge on each test; `-`: the judge does nothing there that another one does not.

`arbitrary` and `always wrong` keep to their option in every order, and miss the gate of right answers, or do not reach
it. Whoever is always wrong tells nothing about negation: what it says may fit the negated question. judge_order takes a
tie or a refusal for what it says, since people prefer one of the answers; the other tests leave it open.
"""


MORE = {("arbitrary", "judge_order"): 100}
"""Samples of tests that say so little of a judge that fewer decide nothing."""


def table(text: str) -> list[tuple[str, str, str]]:
    """(judge, test, verdict) of each cell; columns are set apart by two blanks or more."""
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.strip().splitlines()]
    return [
        (judge, test, verdict)
        for judge, *verdicts in rows[1:]
        for test, verdict in zip(rows[0], verdicts, strict=True)
        if verdict != "-"
    ]


def cell(judge: str, test: str, *values: object) -> object:
    """A parameter of a test."""
    return pytest.param(judge, test, *values, id=f"{judge}-{test}")


def told(judge: Judge, test: Prepared, asked_back: AskedBack = "honest") -> str:
    return planted(judge, test, asked_back=asked_back)["verdict"]


@pytest.mark.parametrize(("judge", "test", "verdict"), [cell(*each) for each in table(VERDICTS)])
def test_a_planted_judge_gets_its_verdict(judge: str, test: str, verdict: str) -> None:
    found = told(JUDGES[judge], bundled(test, MORE.get((judge, test))))
    assert found != "pass" if verdict == "no pass" else found == verdict


def test_every_planted_judge_has_its_row() -> None:
    found = table(VERDICTS)
    assert {judge for judge, _, _ in found} == set(JUDGES)
    assert {test for _, test, _ in found} == set(TESTS)


ENOUGH = 30
"""Samples with which somebody who is always right passes."""
SPOKEN = {
    "order_bias": judges(BY_LETTER | BY_TEXT, options=2),
    "judge_order": judges(BY_LETTER, options=2),
    "option_order": judges(BY_LETTER | BY_TEXT, options=4),
}


@pytest.mark.parametrize(("form", "test"), [cell(form, test) for test, forms in SPOKEN.items() for form in forms])
def test_whoever_is_always_right_passes_in_every_form_of_speaking(form: str, test: str) -> None:
    assert told(SPOKEN[test][form], bundled(test, ENOUGH)) == "pass"


@pytest.mark.parametrize(("judge", "low", "high"), [("always right", 1.0, 1.0), ("arbitrary", 0.1, 0.4)])
def test_option_order_tells_ability_apart_from_bias(judge: str, low: float, high: float) -> None:
    outcome = planted(JUDGES[judge], bundled("option_order"))
    assert outcome["pass_rate"] == 1
    assert low <= (outcome["figures"]["accuracy"] or 0) <= high


IN_VAIN = "order_bias, asked back in vain"
FOUR = "add_negation, four options"
AMONG_FOUR = {"always right": "pass", "coin": "fail", "coin in words": "fail", "any wording": "fail"}


@pytest.mark.parametrize(("judge", "test", "verdict"), [cell(name, FOUR, want) for name, want in AMONG_FOUR.items()])
def test_no_guesser_passes_add_negation_among_four_options(judge: str, test: str, verdict: str) -> None:
    assert told(JUDGES[judge], four_options("add_negation")) == verdict


@pytest.mark.parametrize("test", ["order_bias", "option_order", "add_negation"])
@pytest.mark.parametrize("judge", ["both", "hedges", "silent", "refuses", "refuses half", "cut off", "swears"])
def test_nobody_passes_by_guessing_when_asked_back(judge: str, test: str) -> None:
    assert told(JUDGES[judge], bundled(test), "random") != "pass"


@pytest.mark.parametrize(("form", "test"), [cell(form, IN_VAIN) for form in BY_LETTER])
def test_whoever_is_always_right_never_fails_though_nothing_comes_back(form: str, test: str) -> None:
    assert told(SPOKEN["order_bias"][form], bundled("order_bias", ENOUGH), "silent") != "fail"

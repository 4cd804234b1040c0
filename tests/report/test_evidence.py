"""Intervals, effects, missing scores and wordings in words."""

from __future__ import annotations

from typing import Any

import pytest
from factories import effect as made
from factories import gate, outcome, report, summary
from terminal import printed

from contrapose.tasks.core.outcome import Estimate
from contrapose.tasks.core.slices import Slice, WordingSummary, WordingVariances
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report.evidence import describe_gate, describe_slice, effect_difference, facts_of, figures
from contrapose.tasks.report.wordings import main_sentences, sentences, variance_table, wording_table

BASIS = "that were right, or had no known answer, before the change"
CONTRAST = gate(name="contrast_rate", wanted=0.5, chance=0.19)
NOTICED, STEADY = gate(name="noticed_rate", wanted=0.8), gate(name="steady_rate", wanted=0.6)
GUESSED = gate(chance=0.75)
LANGTEST = {"judged": 36, "passed": 18, "agreed": 27}


def known(rows: int) -> Any:
    """A test whose figure leaves out what was answered wrongly before."""
    estimate = Estimate(value=0.5, interval=(0.3, 0.7), rows=rows, clusters=rows, among=BASIS)
    return outcome(figures={"answer_changed": 0.5}, estimates={"answer_changed": estimate})


@pytest.mark.parametrize(
    ("fact", "changes", "told"),
    [
        (
            "missing",
            {},
            "36 of 38 cases could be scored (94.7%); the others could bring the pass rate to 71.1% or 76.3%",
        ),
        ("missing", {"coverage": 1.0}, ""),
        ("missing", {"coverage": None, "extremes": None}, ""),
        ("dependent", {}, ""),
        (
            "dependent",
            {"gates": [gate(clusters=9, effective=12.3)]},
            "38 cases from 9 groups count as about 12 independent cases",
        ),
        ("guessing", {}, ""),
        (
            "guessing",
            {"chance": 0.75, "gates": [GUESSED, CONTRAST]},
            "random guessing reaches a pass rate of 75%; the gate is 70%, so the contrast rate decides",
        ),
        ("langtest", {}, ""),
        ("langtest", {"langtest": LANGTEST}, "LangTest would pass 50% of 36 cases, and agree on 27"),
        ("reruns", {}, ""),
        (
            "reruns",
            {"rerun_share": 0.874},
            "of 100 simulated reruns with similar samples, 87 gave the same verdict",
        ),
        (
            "reruns",
            {"rerun_share": 1.0},
            "of 100 simulated reruns with similar samples, 100 gave the same verdict",
        ),
    ],
)
def test_a_fact_is_told_only_where_there_is_something_to_tell(fact: str, changes: dict[str, Any], told: str) -> None:
    assert getattr(facts_of(outcome(**changes)), fact) == told


def test_of_several_gates_beside_guessing_all_are_named() -> None:
    several = facts_of(outcome(chance=0.75, gates=[GUESSED, NOTICED, CONTRAST, STEADY])).guessing
    assert several.endswith(", so the noticed rate, contrast rate and steady rate decide")
    assert describe_gate(CONTRAST) == "75% (55.6-87.2%) of 38 cases, 2 of them not scored; gate 50%, guessing 19%"


def test_an_effect_tells_both_sides_and_their_difference() -> None:
    assert facts_of(outcome(effects=[made()])).effects[0] == (
        "answers changed: 0.375 under the change, 0.0625 under the control. Net 0.3125 (0.188 to 0.438), over 48 "
        "samples"
    )
    assert facts_of(outcome(effects=[made(interval=None)])).effects[0].endswith("Net 0.3125, over 48 samples")
    told = "0.375 - 0.0625 = 0.3125 (0.188 to 0.438); 48 samples"
    assert effect_difference(outcome(), made()) == ("answers changed", told)


def test_a_figure_that_is_a_mean_has_its_interval_and_says_what_it_leaves_out() -> None:
    assert dict(figures(outcome())) == {"choice_changed": "0.5833 (0.388 to 0.755)", "mean_eval_score": "0.3127"}
    assert dict(figures(known(22))) == {"answer_changed": f"0.5 (0.3 to 0.7), of 22 {BASIS}"}
    assert dict(figures(known(36))) == {"answer_changed": "0.5 (0.3 to 0.7)"}
    assert facts_of({**known(22), "effects": [made(samples=20)]}).effects[0].endswith(f"over 20 samples {BASIS}")
    assert effect_difference(known(22), made(samples=20))[1].endswith(f"; 20 samples {BASIS}")


def test_a_slice_is_marked_when_it_differs() -> None:
    found = Slice(name="x", scored=12, passed=9, pass_rate=0.75, interval=(0.468, 0.911), p=0.01)
    assert describe_slice(found) == "75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.010)"
    assert describe_slice({**found, "p": 0.2}) == "75% (9 of 12; 46.8-91.1%)"


def test_report_and_card_show_the_reruns() -> None:
    told = report(summary=summary(tests=[outcome(rerun_share=0.9)]))
    clause = "Of 100 simulated reruns with similar samples, 90 gave the same verdict."
    assert clause in markdown.render(told).decode()
    assert clause in b"".join(html.render(told)).decode()


def part(name: str, passed: int, p: float | None = 0.4) -> Slice:
    return Slice(name=name, scored=20, passed=passed, pass_rate=passed / 20, interval=(0.1, 0.9), p=p)


def worded(*, longer: float | None, random: bool = True, p: float | None = 0.4, **changes: Any) -> Any:
    found = WordingSummary(
        random=random,
        rates=[part("1", 16), part("2", 8, p), part("3", 18)],
        variances=WordingVariances(samples=0.1, wordings=0.04, askings=0.0, rest=0.06),
        longer=longer,
    )
    return outcome(wordings={**found, **changes})


MATTERS = "the wording matters: pass rate 40% in wording 2, 90% in wording 3"


@pytest.mark.parametrize(
    ("test", "first"),
    [
        (worded(longer=1.84), [f"{MATTERS}; the interval is 1.8 times as long as for samples alone"]),
        (worded(longer=None, random=False, p=0.01), [MATTERS]),
        (worded(longer=1.1), []),
        (worded(longer=None, random=False), []),
        (outcome(), []),
    ],
)
def test_one_sentence_names_worst_and_best_wording_where_the_wording_matters(test: Any, first: list[str]) -> None:
    assert list(main_sentences(test)) == first


def test_it_is_said_what_the_interval_covers() -> None:
    assert list(sentences(worded(longer=1.1)))[1] == (
        "the 3 wordings count as a sample: interval and verdict cover samples and wordings"
    )
    assert list(sentences(worded(longer=None, random=False)))[1] == (
        "with fewer than 6 wordings, interval and verdict hold for these 3 alone"
    )
    assert list(sentences(outcome())) == []


def test_tables_hold_rates_from_low_to_high_and_shares_of_the_variance() -> None:
    _, rates = wording_table(worded(longer=1.1))
    assert [name for name, _ in rates] == ["2", "1", "3"]
    _, shares = variance_table(worded(longer=1.1))
    assert shares == [("between samples", "50%"), ("between wordings", "20%"), ("the rest", "30%")]
    once = WordingVariances(samples=None, wordings=0.05, askings=0.0, rest=0.15)
    _, shares = variance_table(worded(longer=1.1, variances=once))
    assert shares == [("between wordings", "25%"), ("samples and the rest", "75%")]
    assert variance_table(worded(longer=1.1, variances=None)) == ((), [])


def test_every_report_shows_them() -> None:
    own = report(summary=summary(tests=[worded(longer=1.84)]))
    page, text = b"".join(html.render(own)).decode(), markdown.render(own).decode()
    for shown in (page, text):
        assert MATTERS.capitalize() in shown
        assert "between wordings" in shown
    assert "wording matters" in " ".join(printed(own.summary).split())
    assert b"wording" not in markdown.render(report(summary=summary(tests=[outcome()])))

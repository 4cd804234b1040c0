"""Evidence in words: intervals, effects, missing scores, wordings, and how choices were read."""

from __future__ import annotations

from typing import Any

import pytest
from factories import effect as made
from factories import gate, outcome, report, summary
from terminal import printed

from contrapose.tasks.core.outcome import Estimate, ModelSummary, Outcome, ReaderError
from contrapose.tasks.core.slices import Slice, WordingSummary, WordingVariances
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report.evidence import (
    collect_facts,
    describe_agreement,
    describe_gate,
    describe_reader,
    describe_slice,
    describe_trust,
    format_effect,
    format_figures,
    get_reader_id,
    warn_of_disagreement,
    warn_of_misreading,
    yield_warnings,
)
from contrapose.tasks.report.wordings import describe_wordings, summarise_wordings, tabulate_variance, tabulate_wordings

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
        ("reruns", {"rerun_share": 0.874}, "of 100 simulated reruns with similar samples, 87 gave the same verdict"),
        ("reruns", {"rerun_share": 1.0}, "of 100 simulated reruns with similar samples, 100 gave the same verdict"),
    ],
)
def test_a_fact_is_told_only_where_there_is_something_to_tell(fact: str, changes: dict[str, Any], told: str) -> None:
    assert getattr(collect_facts(outcome(**changes)), fact) == told


def test_of_several_gates_beside_guessing_all_are_named() -> None:
    several = collect_facts(outcome(chance=0.75, gates=[GUESSED, NOTICED, CONTRAST, STEADY])).guessing
    assert several.endswith(", so the noticed rate, contrast rate and steady rate decide")
    assert describe_gate(CONTRAST) == "75% (55.6-87.2%) of 38 cases, 2 of them not scored; gate 50%, guessing 19%"


def test_an_effect_tells_both_sides_and_their_difference() -> None:
    assert collect_facts(outcome(effects=[made()])).effects[0] == (
        "answers changed: 0.375 under the change, 0.0625 under the control. Net 0.3125 (0.188 to 0.438), over 48 "
        "samples"
    )
    assert collect_facts(outcome(effects=[made(interval=None)])).effects[0].endswith("Net 0.3125, over 48 samples")
    told = "0.375 - 0.0625 = 0.3125 (0.188 to 0.438); 48 samples"
    assert format_effect(outcome(), made()) == ("answers changed", told)


def test_a_figure_that_is_a_mean_has_its_interval_and_says_what_it_leaves_out() -> None:
    assert dict(format_figures(outcome())) == {"choice_changed": "0.5833 (0.388 to 0.755)", "mean_eval_score": "0.3127"}
    assert dict(format_figures(known(22))) == {"answer_changed": f"0.5 (0.3 to 0.7), of 22 {BASIS}"}
    assert dict(format_figures(known(36))) == {"answer_changed": "0.5 (0.3 to 0.7)"}
    assert collect_facts({**known(22), "effects": [made(samples=20)]}).effects[0].endswith(f"over 20 samples {BASIS}")
    assert format_effect(known(22), made(samples=20))[1].endswith(f"; 20 samples {BASIS}")


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
    assert list(summarise_wordings(test)) == first


def test_it_is_said_what_the_interval_covers() -> None:
    assert list(describe_wordings(worded(longer=1.1)))[1] == (
        "the 3 wordings count as a sample: interval and verdict cover samples and wordings"
    )
    assert list(describe_wordings(worded(longer=None, random=False)))[1] == (
        "with fewer than 6 wordings, interval and verdict hold for these 3 alone"
    )
    assert list(describe_wordings(outcome())) == []


def test_tables_hold_rates_from_low_to_high_and_shares_of_the_variance() -> None:
    _, rates = tabulate_wordings(worded(longer=1.1))
    assert [name for name, _ in rates] == ["2", "1", "3"]
    _, shares = tabulate_variance(worded(longer=1.1))
    assert shares == [("between samples", "50%"), ("between wordings", "20%"), ("the rest", "30%")]
    once = WordingVariances(samples=None, wordings=0.05, askings=0.0, rest=0.15)
    _, shares = tabulate_variance(worded(longer=1.1, variances=once))
    assert shares == [("between wordings", "25%"), ("samples and the rest", "75%")]
    assert tabulate_variance(worded(longer=1.1, variances=None)) == ((), [])


def test_every_report_shows_them() -> None:
    own = report(summary=summary(tests=[worded(longer=1.84)]))
    page, text = b"".join(html.render(own)).decode(), markdown.render(own).decode()
    for shown in (page, text):
        assert MATTERS.capitalize() in shown
        assert "between wordings" in shown
    assert "wording matters" in " ".join(printed(own.summary).split())
    assert b"wording" not in markdown.render(report(summary=summary(tests=[outcome()])))


@pytest.mark.parametrize(
    ("test", "counts"), [("order_bias", {"unparsed": 3}), ("option_order", {"outcome_unparsed": 1, "outcome_tied": 2})]
)
def test_pairs_without_a_choice_are_told(test: str, counts: dict[str, int]) -> None:
    assert collect_facts(outcome(test_type=test, figures=counts)).unread == (
        "3 of 37 pairs have no readable choice in at least one order; the verdict does not depend on them"
    )
    assert collect_facts(outcome(figures=dict.fromkeys(counts, 0))).unread == ""


READ = {"read_by_letter": 0.8, "read_by_asked": 0.15, "unread": 0.05}


STEPS = "choices were read by the letter alone 80%, asking back 15%; 5% could not be read"


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (READ, STEPS),
        ({"read_by_likelihood": 1.0, "unread": 0.0}, "choices were read by likelihood"),
        ({"unread": 1.0}, "100% could not be read"),
        ({}, ""),
    ],
)
def test_how_choices_were_read_is_told_with_what_stayed_unread(figures: dict[str, float], told: str) -> None:
    assert collect_facts(outcome(figures=figures)).steps == told


def test_the_known_errors_stand_beside_what_rules_read() -> None:
    measured: Any = {"by": "the rules", "date": "2026-11-22", "replies": 2_500, "missed": 20, "misread": 1}
    sources = ("chat models", "others")
    letters = [ReaderError(source=source, letter=letter, **measured) for source in sources for letter in "AB"]
    one, two = collect_facts(outcome(reader=letters)).known_errors
    each = "missed 0.8%, read wrongly <0.1% of 2,500"
    assert one == f"measured error of the rules: A: {each}, B: {each} (chat models)"
    assert two.endswith("(others)")
    assert list(collect_facts(outcome()).known_errors) == []


def in_words(agreed: float | None, unread_share: float) -> Outcome:
    found = {"reply_unread": Estimate(value=unread_share, interval=(0.1, 0.3), rows=50, clusters=50, among="")}
    if agreed is not None:
        found["reply_agreement"] = Estimate(value=agreed, interval=(0.41, 0.69), rows=40, clusters=40, among="")
    return outcome(estimates=found)


def test_a_warning_stands_where_replies_and_likelihoods_disagree() -> None:
    told = "50 samples were also answered in words: 40 could be read, 55% (41.0-69.0%) agree with the log-probabilities"
    assert describe_agreement(in_words(0.55, 0.2)) == told
    assert told in warn_of_disagreement(in_words(0.55, 0.2))
    assert warn_of_disagreement(in_words(0.9, 0.2)) == ""
    assert warn_of_disagreement(in_words(0.899, 0.0)) != ""
    assert "also answered in words: no reply could be read" in warn_of_disagreement(in_words(None, 1.0))
    assert (describe_agreement(outcome()), warn_of_disagreement(outcome())) == ("", "")


def asked(agreed: float | None, share: float = 0.2) -> Outcome:
    """Of a test in which asking back read this share, and was found right in that one."""
    found = {"asked_agreement": Estimate(value=agreed, interval=(0.84, 0.99), rows=50, clusters=50, among="")}
    return outcome(figures={"read_by_asked": share}, estimates=found if agreed is not None else {})


def test_a_model_that_reads_badly_is_doubted_and_one_that_reads_well_is_told() -> None:
    told = "the rules also read 50 of the replies: the model agrees with them on 94% (84.0-99.0%)"
    assert describe_reader(asked(0.94)) == told
    assert warn_of_misreading(asked(0.94)).startswith(
        "the reader model decided 20% of the choices, perhaps wrongly: the rules also read 50 of the replies"
    )
    assert warn_of_misreading(asked(0.95)) == ""
    assert list(yield_warnings(asked(0.95))) == []
    assert [each for each in describe_trust(asked(0.95)) if each] == [describe_reader(asked(0.95))]
    assert list(yield_warnings(asked(0.94))) == [each for each in describe_trust(asked(0.94)) if each]


def test_a_reader_is_named() -> None:
    told = "the rules also read 50 of the replies: openai/x agrees with them on 94%"
    assert told in describe_reader(asked(0.94), reader="openai/x")
    assert [told in each for each in describe_trust(asked(0.94), reader="openai/x")] == [False, True]
    assert [told in each for each in yield_warnings(asked(0.94), reader="openai/x")] == [True]
    assert "the accuracy of openai/x as a reader could not be checked" in warn_of_misreading(
        asked(None), reader="openai/x"
    )
    assert get_reader_id(summary()) == "the model"
    model = ModelSummary(id="openai/x", provider="openai", revision="", dtype="", device="")
    assert get_reader_id(summary(reader=model)) == "openai/x"


def test_a_model_that_could_not_be_checked_is_doubted_where_it_read_something() -> None:
    assert "could not be checked: the rules could read no reply" in warn_of_misreading(asked(None))
    assert describe_reader(asked(None, 0.0)) == ""
    assert [warn_of_misreading(asked(agreed, 0.0)) for agreed in (None, 0.1)] == ["", ""]


def made_up(value: float) -> Estimate:
    return Estimate(value=value, interval=(0.7, 1.0), rows=9, clusters=9, among="made-up replies")


def test_how_well_made_up_replies_are_read_is_said_besides_and_alone() -> None:
    told = "openai/x reads 100% (70.0-100.0%) of 9 made-up replies with a known choice correctly"
    both = asked(0.97)
    both["estimates"]["made_up_agreement"] = made_up(1.0)
    assert describe_reader(both, reader="openai/x").endswith(f"97% (84.0-99.0%); {told}")
    unchecked = asked(None)
    unchecked["estimates"]["made_up_agreement"] = made_up(1.0)
    assert f"could read no reply; {told}" in warn_of_misreading(unchecked, reader="openai/x")
    distrusted = outcome(figures={"unread": 1.0}, estimates={"made_up_agreement": made_up(0.0)})
    assert "openai/x reads 0% (" in describe_reader(distrusted, reader="openai/x")
    assert warn_of_misreading(distrusted, reader="openai/x") == ""

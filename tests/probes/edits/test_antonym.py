"""The opposite adjective: figures of the golden file, and what holds for any text."""

from __future__ import annotations

import random

import pytest
from mutated import check_edits, mutated
from places import golden_rows

from contrapose.tasks.probes.edits.antonym import Antonym, opposites
from contrapose.tasks.probes.edits.base import Edited

ROWS = golden_rows("edits/antonym")
PIECES = [
    *("is", "are", "heavy", "the", "more", "than", "and", "not", '"red', "fast", "(", ",", ".", "?"),
    *("hotter", "most", "isn't", "Is", "Which", "best"),
]


def turned(text: str) -> Edited:
    return Antonym().edit(text, None, rng=random.Random(0))


def test_what_is_changed_is_acceptable_and_what_can_be_is_changed() -> None:
    results = [(turned(row["text"]).text, row) for row in ROWS]
    changed = [text in row["accept"] for text, row in results if text is not None]
    changeable = [text is not None for text, row in results if not row["skip"]]
    assert sum(changed) >= 0.97 * len(changed)
    assert sum(changeable) >= 0.95 * len(changeable)


def test_a_mutated_text_gives_another_text_or_a_reason_every_time() -> None:
    check_edits(turned, mutated("negation.jsonl", "text", PIECES, instead="very"))


def test_every_opposite_differs_from_its_word_and_keeps_the_degree() -> None:
    table = opposites()
    assert sum(found.degree == "positive" for found in table.values()) >= 300
    for word, found in table.items():
        assert word != found.word
        back = table.get(found.word)
        assert back is None or back.degree == found.degree


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("heavier", "lighter"), ("hottest", "coldest"), ("easier", "more difficult"), ("safer", "less safe"),
        ("earliest", "latest"),
    ],
)  # fmt: skip
def test_degrees_are_kept(word: str, other: str) -> None:
    assert opposites()[word].word == other


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"), ("Copper is a good conductor.", "no_predicate_adjective"),
        ("Is the box heavy or light?", "alternative_question"), ("Some metals are soft.", "quantifier_only"),
        ("Candles are bright, cheap and safe.", "coordinated_clauses"), ("The largest is blue.", "no_antonym"),
        ("Heavy is the crown.", "no_predicate_adjective"), ("He is the rich.", "no_predicate_adjective"),
        ("Whose box is heavy?", "wh_subject_boundary"),
    ],
)  # fmt: skip
def test_what_cannot_be_turned_safely_is_skipped_with_its_reason(text: str, reason: str) -> None:
    assert turned(text) == Edited(reason=reason)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The soup seems hot.", "The soup seems cold."),
        ("It's hot.", "It's cold."),
        ("They're rich.", "They're poor."),
        ("Isn't the box heavy?", "Isn't the box light?"),
        ("The house is less heavy than the car.", "The house is heavier than the car."),
        ("Which is least expensive?", "Which is most expensive?"),
        ("Which is LEAST likely to rust?", "Which is MOST likely to rust?"),
        ("THE HOUSE IS LESS HEAVY THAN THE CAR.", "THE HOUSE IS HEAVIER THAN THE CAR."),
    ],
)
def test_the_predicate_of_the_main_clause_is_turned(text: str, other: str) -> None:
    assert turned(text).text == other


@pytest.mark.parametrize(
    ("text", "sure"),
    [("The box is heavy.", "high"), ("The box is not heavy.", "medium"), ("He may be rich.", "medium")],
)
def test_a_negation_or_a_modal_lowers_the_confidence(text: str, sure: str) -> None:
    assert turned(text).confidence == sure

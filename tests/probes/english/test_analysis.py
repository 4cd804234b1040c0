"""Where the main verb and the subject of a sentence are."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.english.analysis import analyse

MAIN = [
    ("The dogs that bark scare me.", "scare"),
    ("The cake my mother baked tasted wonderful.", "tasted"),
    ("The man who is tall is happy", "is"),
    ("Studies show that plants need water.", "show"),
    ("When the eggs hatch, the offspring are", "are"),
    ("The company, which was founded in 1990, makes cars.", "makes"),
    ("The government announced plans to cut taxes.", "announced"),
    ("The house where I grew up burned down.", "burned"),
    ("Many people think cats see in the dark.", "think"),
    ("The movie, I think, starts at eight.", "starts"),
    ("May is my favorite month.", "is"),
    ("Bill paid the bill.", "paid"),
    ("That he left surprised us.", "surprised"),
]
KINDS = [
    ("Close the door.", "order"),
    ("Be quiet.", "order"),
    ("Is the sky blue?", "polar"),
    ("Which gas do plants take in?", "wh"),
    ("If it rains, what happens?", "wh"),
    ("Tower Building of the Little Rock Arsenal.", "fragment"),
    ("Dogs bark.", "statement"),
]


@pytest.mark.parametrize(("text", "verb"), MAIN)
def test_every_clause_has_one_verb_and_the_main_one_is_found(text: str, verb: str) -> None:
    analysis = analyse(text)
    assert analysis.sentence.word(analysis.clause.verb) == verb


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_the_kind_of_a_sentence_is_told(text: str, kind: str) -> None:
    assert analyse(text).kind == kind


def test_the_subject_starts_behind_a_fronted_phrase() -> None:
    analysis = analyse("Despite the rain, the match went ahead.")
    assert analysis.sentence.words[analysis.subject] == "the"
    assert analysis.sentence.starts[analysis.subject] == len("Despite the rain, ")


def test_a_garden_path_is_doubtful() -> None:
    assert analyse("The horse raced past the barn fell.").doubtful


def test_a_very_long_sentence_is_not_taken_apart() -> None:
    assert analyse("I say that " * 100 + "it rains.").ambiguous

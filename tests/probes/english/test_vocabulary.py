"""What single words can be, and how verbs inflect."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english import inflection, vocabulary

FORMS = [
    ("eats", f.THIRD),
    ("ate", f.PAST),
    ("eaten", f.PART),
    ("run", f.BASE | f.PART),
    ("put", f.BASE | f.PAST | f.PART),
    ("plants", f.THIRD | f.PLURAL),
    ("people", f.PLURAL),
    ("heavy", f.ADJ),
    ("quickly", f.ADV),
    ("photosynthesizes", f.THIRD),
    ("reverse-engineered", f.PAST),
]
BASES = [
    ("ate", f.PAST, "eat"),
    ("carries", f.THIRD, "carry"),
    ("found", f.PAST, "find"),
    ("found", f.BASE, "found"),
    ("underwent", f.PAST, "undergo"),
    ("levelled", f.PAST, "level"),
    ("overate", f.PAST, "overeat"),
    ("livestreamed", f.PAST, "livestream"),
    ("photosynthesizes", f.THIRD, "photosynthesize"),
]


@pytest.mark.parametrize(("word", "flags"), FORMS)
def test_a_word_has_all_its_readings(word: str, flags: int) -> None:
    assert vocabulary.look_up(word) & flags == flags


@pytest.mark.parametrize(("form", "kind", "base"), BASES)
def test_a_form_leads_to_its_base(form: str, kind: int, base: str) -> None:
    assert inflection.base_of(form, kind) == base


@pytest.mark.parametrize("base", ["eat", "carry", "stop", "go", "watch", "undergo", "photosynthesize"])
def test_inflection_and_base_agree(base: str) -> None:
    assert inflection.base_of(inflection.third_person(base), f.THIRD) == base
    assert inflection.base_of(inflection.past_of(base), f.PAST) == base


def test_an_unknown_past_form_has_no_base() -> None:
    assert inflection.base_of("blorped", f.PAST) is None

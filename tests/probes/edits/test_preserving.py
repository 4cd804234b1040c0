"""Edits that leave the meaning alone: what they change, and what they must not."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core import registry
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.probes.edits.base import TextEdit
from contrapose.tasks.probes.edits.preserving import Casing, Spacing, Typo

EDITS: list[TextEdit] = [Typo(), Casing(), Spacing()]
TEXT = "Ms. Johnson's 12 engineers at Siemens measured 3.5 volts, didn't they?"


def edited(probe: TextEdit, text: str, *, seed: int = 0, **settings: Any) -> str | None:
    return probe.edit(text, probe.settings_type(**settings), rng=random.Random(seed)).text


@pytest.mark.parametrize("seed", range(30))
def test_a_typo_spares_names_numbers_and_first_letters(seed: int) -> None:
    text = edited(Typo(), TEXT, seed=seed, rate=1.0)
    assert text != TEXT
    assert "Johnson's 12 " in text
    assert " Siemens " in text
    assert " 3.5 " in text
    assert re.search(r"\be\w* at Siemens m", text)


@pytest.mark.parametrize("word", ["aaaaa", "eeeeee", "ooooo"])
def test_a_typo_always_changes_the_word(word: str) -> None:
    assert all(edited(Typo(), word, seed=seed) != word for seed in range(20))


def test_the_rate_says_how_many_words_are_mistyped() -> None:
    text = " ".join(["measure"] * 40)
    for rate, count in ((0.1, 4), (0.5, 20)):
        changed = edited(Typo(), text, rate=rate)
        assert sum(word != "measure" for word in changed.split()) == count


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("lower", "the u.s. exports wheat."),
        ("upper", "THE U.S. EXPORTS WHEAT."),
        ("title", "The U.S. Exports Wheat."),
        ("first", "the U.S. exports wheat."),
    ],
)
def test_casing_changes_letters_only(style: str, expected: str) -> None:
    assert edited(Casing(), "The U.S. exports wheat.", style=style) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("double", "It's  so."), ("before_mark", "It's so ."), ("no_stop", "It's so"), ("quotes", "It\u2019s so."),
        ("tab", "It's\tso."), ("newline", "It's\nso."),
    ],
)  # fmt: skip
def test_spacing_makes_one_kind_of_change(kind: str, expected: str) -> None:
    assert edited(Spacing(), "It's so.", kinds=[kind]) == expected


@pytest.mark.parametrize("text", ["It goes on...", "They live in the U.S."])
def test_a_stop_that_is_more_than_a_stop_stays(text: str) -> None:
    assert edited(Spacing(), text, kinds=["no_stop"]) is None


def test_quotation_marks_change_in_pairs_and_back() -> None:
    curly = edited(Spacing(), 'He said "yes".', kinds=["quotes"])
    assert curly == "He said \u201cyes\u201d."
    assert edited(Spacing(), curly, kinds=["quotes"]) == 'He said "yes".'


@pytest.mark.parametrize("text", ["Canada is cold.", "Which is about seven?", "True or false: it is so."])
def test_names_function_words_and_numbers_are_never_mistyped(text: str) -> None:
    assert edited(Typo(), text, rate=1.0) is None


def test_a_typo_makes_no_other_word() -> None:
    made = {edited(Typo(), "coast", seed=seed) for seed in range(300)}
    assert not made & {"cast", "coat", "cost", "boast", "roast", "coasts"}


def test_capitals_that_may_mean_something_are_medium() -> None:
    probe = Casing()
    found = [probe.edit(text, probe.settings_type(), rng=random.Random(0)) for text in ("The US is far.", "So it is.")]
    assert [each.confidence for each in found] == ["medium", "high"]


def test_trailing_space_is_added_at_the_end() -> None:
    text = edited(Spacing(), "It is so.", kinds=["trailing"])
    assert text.rstrip(" ") == "It is so."
    assert text != "It is so."


@pytest.mark.parametrize("probe", EDITS, ids=lambda probe: probe.name)
@given(text=st.text(max_size=120), seed=st.integers(0, 3))
def test_any_text_gives_a_change_or_a_reason_and_the_same_twice(probe: TextEdit, text: str, seed: int) -> None:
    settings = probe.settings_type()
    first, second = (probe.edit(text, settings, rng=random.Random(seed)) for _ in range(2))
    assert first == second
    assert (first.text is None) == (first.reason is not None)
    assert first.text != text


@pytest.mark.parametrize("text", ["", "  ", "12", "?"])
def test_what_cannot_be_edited_says_why(text: str) -> None:
    assert Typo().edit(text, Typo.settings_type(), rng=random.Random(0)).reason == "no_long_word"
    assert Casing().edit(text, Casing.settings_type(), rng=random.Random(0)).reason == "same_letters"


@pytest.mark.parametrize("name", ["typo", "antonym"])
def test_a_skipped_text_has_no_control(name: str) -> None:
    probe, sample = registry.probe(name), TextSample(id="1", text="It is so.")
    (case,) = probe.cases(sample, probe.settings_type(), rng=random.Random(0), likelihoods="all")
    assert case.skip_reason is not None
    assert probe.control(case, sample, probe.settings_type(), rng=random.Random(0)) is None

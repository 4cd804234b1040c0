"""Gestures, glued digits, slips of the fingers, compounds and homonyms, and the harmless words beside each."""

from __future__ import annotations

import csv
import json
import time
from typing import Any

import pytest
from places import REPOSITORY

from contrapose.tasks.language.closed import table
from contrapose.tasks.language.vocabulary import vocabulary
from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.probes.toxic_words.lexicon import inflect, lexicon
from contrapose.tasks.text.masking import mask_toxic

SHARED = REPOSITORY.parent / "shared" / "data" / "wiki_test.jsonl"


def rows(split: str) -> list[dict[str, Any]]:
    path = REPOSITORY / "tests" / "golden" / "toxic" / "disguises.jsonl"
    return [row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()) if row["split"] == split]


def wrong(split: str) -> list[str]:
    return [row["id"] for row in rows(split) if count_toxic(row["text"]).total != row["total"]]


def test_the_tuned_texts_are_counted_as_labelled() -> None:
    assert wrong("tune") == []


def test_the_other_texts_are_counted_as_well_as_reported() -> None:
    assert wrong("held_out") == []


def test_a_gesture_counts_with_its_skin_tone_and_is_masked() -> None:
    text = "so, 🖕🏿 then"
    (match,) = count_toxic(text).matches
    assert (match.text, match.tier) == ("🖕🏿", "strong")
    assert mask_toxic(text) == "so, ** then"


def test_no_slip_of_the_fingers_is_an_english_word() -> None:
    path = REPOSITORY / "data" / "lexicons" / "toxic.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        listed = {form for row in csv.DictReader(lines) for form in inflect(row["term"], row["inflect"])}
    english = vocabulary().flags.keys() | table().keys()
    assert english & lexicon().words.keys() <= listed


def test_no_english_word_holds_a_compound() -> None:
    words = [word for word in vocabulary().flags if word.isalpha() and any(stem in word for stem in lexicon().stems)]
    assert [word for word in words if word not in lexicon().words and count_toxic(word).matches] == []


@pytest.mark.parametrize(
    ("written", "term"),
    [("fuck123", "fuck"), ("fukc", "fuck"), ("sht", "shit"), ("bitchbehaviour", "bitch"), ("fuckthis", "fuck")],
)
def test_a_disguised_word_is_reported_with_its_term(written: str, term: str) -> None:
    assert [match.term for match in count_toxic(f"well, {written} then").matches] == [term]


@pytest.mark.parametrize(
    "innocent",
    [
        "fck = 30 MPa, fck,cube and self.fck; sht. 4 of 9",
        "Niger, Sithole, Bastad and the Muslime; wore, whole, where and whose; sits, sites, cuts",
        "Harshit, Ishita, Takeshita Street, Yoshitomo, Matsushita, Shitennoji",
        "class123 assets99 Scunthorpe1 x264 b17 b0b",
        "The load may retard the reaction, and cripples trade.",
        "A queer feeling, a bit queer. Queer and trans people met.",
        "A Jihadi group claimed the attack. The prick of a needle.",
    ],
)
def test_harmless_neighbours_are_not_counted(innocent: str) -> None:
    assert count_toxic(innocent).total == 0


def test_nobody_disguises_a_harmless_word() -> None:
    assert count_toxic("they cr1pple it").total == 1


@pytest.mark.parametrize(
    "unit", ["fag ", "bitch. ", "fuckab", "🖕", "fukc1 ", "sht ", "shitwork", "a retard ", "fuck1"]
)
def test_time_is_linear_on_hostile_text(unit: str) -> None:
    started = time.thread_time()
    count_toxic(unit * (100_000 // len(unit)))
    assert time.thread_time() - started < 4


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not on this machine")
def test_sentences_of_an_encyclopedia_hold_no_bad_word() -> None:
    texts = [json.loads(line)["text"] for line in SHARED.read_text(encoding="utf-8").splitlines()]
    assert [text for text in texts if count_toxic(text).total] == []

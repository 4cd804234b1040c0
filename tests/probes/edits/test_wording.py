"""Edits of wording: what they change, what they leave alone, and that they do the same twice."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import REPOSITORY, json_rows

from contrapose.tasks.core.registry import probe
from contrapose.tasks.language.vocabulary import vocabulary
from contrapose.tasks.probes.edits.base import Edited
from contrapose.tasks.probes.edits.tables import american_words, british_words

TESTS = ("contractions", "abbreviations", "ocr_slips", "spelling", "context", "names", "gender", "countries")
LABELLED = json_rows(REPOSITORY / "tests" / "golden" / "edits" / "keeping.jsonl")


def edit(test: str, text: str, *, seed: int = 0, **settings: Any) -> Edited:
    chosen: Any = probe(test)
    edited: Edited = chosen.edit(text, chosen.settings_type(**settings), rng=random.Random(seed))
    return edited


@pytest.mark.parametrize("row", LABELLED, ids=lambda row: row["id"])
def test_labelled_text_is_skipped_or_becomes_an_accepted_one(row: dict[str, Any]) -> None:
    everywhere = {"rate": 1} if "rate" in probe(row["test"]).settings_type.model_fields else {}
    made = edit(row["test"], row["text"], **everywhere)
    assert made.text in (row["accept"] or [None])
    assert (made.reason is None) != row["skip"]


@pytest.mark.parametrize("test", TESTS)
@given(text=st.text(max_size=120), seed=st.integers(0, 3))
def test_any_text_gives_a_change_or_a_reason_and_the_same_twice(test: str, text: str, seed: int) -> None:
    first, second = (edit(test, text, seed=seed) for _ in range(2))
    assert first == second
    assert (first.text is None) == (first.reason is not None)
    assert first.text != text


PIECES = (
    *("She", "he's", "isn't", "is", "not", "do not", "please", "and", "with", "colour", "organize"),
    *("Tom", "Mary", "her", "his", "the", "a dog", ",", ".", "?"),
)
SENTENCES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map(" ".join)


@pytest.mark.parametrize("test", TESTS)
@given(text=SENTENCES, seed=st.integers(0, 3))
def test_every_reason_has_words_and_every_change_a_confidence(test: str, text: str, seed: int) -> None:
    made = edit(test, text, seed=seed)
    assert made.reason in {None, *probe(test).skip_reasons}
    assert (made.confidence is None) == (made.text is None)


@pytest.mark.parametrize("test", TESTS)
def test_text_about_words_is_left_alone(test: str) -> None:
    text = "How many letters does the word colour have, if she is not wrong? Tom from Peru asked his mother, please."
    assert edit(test, text).reason == "words_matter"


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("contractions", 'She said: "It is not far."'),
        ("spelling", "It is called “colour”."),
        ("abbreviations", "‘please’"),
    ],
)
def test_quotation_is_left_alone(test: str, text: str) -> None:
    assert edit(test, text).text is None


@given(seed=st.integers(0, 50))
def test_contractions_go_there_and_back(seed: int) -> None:
    text = "The river is not deep. It is raining, and they will not swim. You are cold because it cannot be heated."
    short = edit("contractions", text, seed=seed, to="short").text
    assert short == "The river isn't deep. It's raining, and they won't swim. You're cold because it can't be heated."
    assert edit("contractions", short, seed=seed, to="long").text == text


def test_curly_apostrophes_stay_curly() -> None:
    text = "The sky isn\u2019t low, and it is not grey."
    assert edit("contractions", text).text == "The sky isn\u2019t low, and it isn\u2019t grey."


def test_spelling_goes_there_and_back_for_every_american_word() -> None:
    for american, british in british_words().items():
        if american.startswith(("summar", "capital")):
            continue  # who asks for a summary or capitals asks about the text itself
        made = edit("spelling", f"They saw {american} there.", to="british").text
        assert made == f"They saw {british} there."
        assert edit("spelling", made, to="american").text == f"They saw {american} there."


def test_no_spelling_is_both_british_and_american() -> None:
    assert not british_words().keys() & american_words().keys()


@pytest.mark.parametrize(("to", "text"), [("british", "The colour is grey."), ("american", "The color is gray.")])
def test_text_in_the_wanted_spelling_is_skipped(to: str, text: str) -> None:
    assert edit("spelling", text, to=to).reason == "same_spelling"


WORDS = ("clever", "farmer", "burned", "modern", "bricks", "winter")


@pytest.mark.parametrize("seed", range(20))
def test_misread_word_is_no_word(seed: int) -> None:
    made = edit("ocr_slips", "The clever farmer burned modern bricks in winter.", seed=seed, rate=1.0).text
    assert made is not None
    changed = set(re.findall(r"\w+", made)) - {"The", "in", *WORDS}
    assert len(changed) == 6
    assert not changed & vocabulary().flags.keys()


@pytest.mark.parametrize(("rate", "count"), [(0.25, 5), (1.0, 20)])
def test_rate_says_how_many_words_are_shortened(rate: float, count: int) -> None:
    made = edit("abbreviations", "people " * 20, rate=rate).text
    assert made is not None
    assert made.split().count("ppl") == count


def test_full_stop_is_not_doubled_behind_a_short_form() -> None:
    assert edit("abbreviations", "Read the temperature.").text == "Read the temp."


@pytest.mark.parametrize(
    ("strategy", "text"),
    [("start", "Hi. Is it so?"), ("end", "Is it so? Bye."), ("combined", "Hi. Is it so? Bye.")],
)
def test_frame_stands_where_the_strategy_says(strategy: str, text: str) -> None:
    own = {"starting_context": ["Hi."], "ending_context": ["Bye."]}
    assert edit("context", "Is it so?", strategy=strategy, **own).text == text


@pytest.mark.parametrize("text", ["A cactus stem is used to store", "Count the first apple.", "Answer:\nIt is so."])
def test_nothing_is_put_behind_what_is_unfinished_or_speaks_of_its_end(text: str) -> None:
    assert edit("context", text, strategy="end").reason == "unfinished"
    made = {edit("context", text, seed=seed).text for seed in range(10)}
    assert all(each is not None and each.endswith(text) for each in made)

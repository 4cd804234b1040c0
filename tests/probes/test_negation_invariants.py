"""What must hold for any text, and for real ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.probes.negation import Negation, negate

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
CUES = re.compile(r"\bnot\b|cannot\b|n['\u2019]t\b|\bnone\b|\bno\b|\bnobody\b|\bnothing\b", re.IGNORECASE)
VOCABULARY = """
the a dog dogs water plants eat eats ate is are was can will who that which when if and some all of in , . ?
What Which Is Does How not it's has have had used to " ( ) live need because he said
"""
WORDS = st.sampled_from(sorted(set(VOCABULARY.split())))


def is_one_insertion(result: Negation) -> bool:
    """Whether leaving one "not" out of the text gives the original back."""
    gaps = re.finditer(r" ?not ?", result.text, re.IGNORECASE)
    spans = {(at, to) for gap in gaps for at in (gap.start(), gap.start() + 1) for to in (gap.end(), gap.end() - 1)}
    return any(result.text[:at] + result.text[to:] == result.original for at, to in spans)


def check(text: str) -> None:
    """Every invariant of the rules."""
    result = negate(text)
    assert result == negate(text)
    assert (result.text is None) != (result.reason is None)
    if result.text is not None:
        assert len(CUES.findall(result.text)) - len(CUES.findall(result.original)) == 1
        assert result.kind != "insert" or is_one_insertion(result)


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_one_cue_or_a_reason(text: str) -> None:
    check(text)


@given(st.lists(WORDS, max_size=14).map(" ".join))
@settings(max_examples=400, deadline=None)
def test_any_string_of_words_gives_one_cue_or_a_reason(text: str) -> None:
    check(text)


@given(st.lists(WORDS, max_size=14).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_removal_and_low_negation_never_crash(text: str) -> None:
    removed = negate(text, existing_negation="remove", rewrite_polar=False)
    assert (removed.text is None) != (removed.reason is None)


def real_texts(name: str, field: str) -> list[str]:
    """One field of a shared data file."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)[field] for line in lines]


@pytest.mark.parametrize(
    ("name", "field", "least"), [("openbookqa_test.jsonl", "question", 0.7), ("wiki_test.jsonl", "text", 0.2)]
)
def test_real_texts_keep_the_invariants_and_the_coverage(name: str, field: str, least: float) -> None:
    texts = real_texts(name, field)
    for text in texts:
        check(text)
    assert sum(negate(text).text is not None for text in texts) >= least * len(texts)

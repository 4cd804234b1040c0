"""Reading which of several options a reply chooses."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.choices import read_option

GOLDEN = Path(__file__).parent.parent / "golden" / "replies_options.jsonl"
METALS = ("copper", "iron", "wood", "glass")
TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@cache
def golden(split: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["split"] == split]


def read(reply: str, options: Sequence[str] = METALS) -> str | None:
    index = read_option(reply, labels=letters(len(options)), options=options)
    return None if index is None else letters(len(options))[index]


@pytest.mark.parametrize("split", ["tune", "held_out"])
def test_golden_replies_are_read_as_labelled(split: str) -> None:
    rows = golden(split)
    right = sum(read(row["reply"], row["options"]) == row["choice"] for row in rows)
    assert right / len(rows) >= 0.98


@pytest.mark.parametrize("split", ["tune", "held_out"])
def test_no_golden_reply_is_given_an_option_that_it_does_not_choose(split: str) -> None:
    read_as = [(row["reply"], row["choice"], read(row["reply"], row["options"])) for row in golden(split)]
    assert [each for each in read_as if each[2] not in (None, each[1])] == []


@pytest.mark.parametrize(
    "template",
    ["{}", "({})", "{} is correct.", "Answer: {}", "I choose option {}", '{{"answer": "{}"}}', "\\boxed{{{}}}"],
)
@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
def test_every_letter_is_read_by_the_same_rules(template: str, letter: str) -> None:
    assert read(template.format(letter), TEN) == letter


def test_the_pronoun_is_no_letter() -> None:
    assert read("I think the answer is C.", TEN) == "C"
    assert read("I do not know.", TEN) is None


@pytest.mark.parametrize(
    "reply", ["A metal.", "A or B", "both A and C", "none", "not B", "E. coli is alive.", "Answer: E"]
)
def test_what_chooses_no_option_is_read_as_none(reply: str) -> None:
    assert read(reply) is None


def test_a_letter_with_another_options_text_is_contradictory() -> None:
    assert read("A. iron") is None
    assert read("B. iron") == "B"


def test_an_option_is_read_before_the_reason_for_it() -> None:
    assert read("Copper, because it conducts well.") == "A"
    assert read("Copper, iron or wood.") is None


def test_an_option_within_another_is_told_apart() -> None:
    assert read("iron ore, from a mine", ("iron", "iron ore")) == "B"


def test_an_article_before_an_option_is_no_letter() -> None:
    assert read("A library.", ("a bank", "a library")) == "B"


def test_places_count_as_letters() -> None:
    assert (read("The third option."), read("Option 4")) == ("C", "D")


def test_a_next_question_is_not_read() -> None:
    assert read("B\n\nQuestion: What burns?\nA. iron\nC. wood\nAnswer: C") == "B"


@given(st.text(max_size=80))
def test_any_text_is_read_without_error(reply: str) -> None:
    assert read(reply) in (None, "A", "B", "C", "D")


@pytest.mark.parametrize("part", ["A", "A or ", "\n", "(", "B. iron ", "copper (", "\\boxed{", "I say ", "Q: A\n"])
def test_a_hostile_megabyte_is_read_at_once(part: str) -> None:
    started = time.process_time()
    read(part * (1_000_000 // len(part)))
    assert time.process_time() - started < 2

"""Swapped roles: figures of the golden file, and what holds for any text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from contrapose.tasks.probes.edits.base import Edited
from contrapose.tasks.probes.edits.swap_roles import SwapRoles

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "edits" / "swap_roles.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
SAMPLES = ROOT / "data" / "samples" / "negation.jsonl"
TEXTS = [json.loads(line)["text"] for line in SAMPLES.read_text("utf-8").splitlines()]
PIECES = ["the", "her", "it", "by", "was", "and", "of", ",", "(", '"', "\u2019", ".", "?"]
PIECES += ["chased", "dogs", "I", "Anna's", "isn't", "has", "that"]


def swapped(text: str) -> Edited:
    return SwapRoles().edit(text, None, rng=random.Random(0))


def mutated(count: int) -> list[str]:
    """Sample and golden texts with words swapped, left out or put in."""
    rng = random.Random(7)
    found = []
    for _ in range(count):
        words = rng.choice([*TEXTS, *(row["text"] for row in ROWS)]).split(" ")
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(words))
            words[at : at + rng.randint(0, 1)] = rng.sample(PIECES, rng.randint(0, 2)) or ["very"]
        found.append(" ".join(words))
    return found


def test_nearly_all_changed_golden_texts_are_acceptable() -> None:
    changed = [(row, text) for row in ROWS if (text := swapped(row["text"]).text) is not None]
    right = sum(text in row["accept"] for row, text in changed)
    assert right >= 0.95 * len(changed)


def test_nearly_all_golden_texts_that_can_be_swapped_are() -> None:
    wanted = [row for row in ROWS if not row["skip"]]
    done = sum(swapped(row["text"]).text is not None for row in wanted)
    assert done >= 0.9 * len(wanted)


@pytest.mark.parametrize("row", [row for row in ROWS if row["skip"] and row["reason"]], ids=lambda row: row["id"])
def test_a_golden_skip_tells_its_reason(row: dict[str, str]) -> None:
    assert swapped(row["text"]).reason == row["reason"]


def test_whatever_stands_before_the_last_sentence_stays() -> None:
    before = "It  rained;\tas always.\nTom slept.  "
    assert swapped(before + "The dog chased the cat.").text == before + "The cat chased the dog."


def test_a_plain_swap_is_sure_and_an_unfinished_one_less_so() -> None:
    assert swapped("The dog chased the cat.").confidence == "high"
    assert swapped("Camels store fat in their").confidence == "medium"


@pytest.mark.parametrize("text", [row["text"] for row in ROWS if row["accept"] and len(row["accept"][0]) < 30])
def test_swapping_a_short_text_twice_gives_it_back(text: str) -> None:
    once = swapped(text).text
    again = swapped(once).text if once else None
    assert again in (None, text)


def test_any_text_is_swapped_or_skipped_the_same_way_each_time() -> None:
    for text in mutated(500):
        found = swapped(text)
        assert found == swapped(text)
        assert (found.text is None) == (found.reason is not None)
        assert found.text != text

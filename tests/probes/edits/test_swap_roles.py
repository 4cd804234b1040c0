"""Swapped roles: figures of the golden file, and what holds for any text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from contrapose_swap_roles.probe import SwapRoles

from contrapose.tasks.probes.edits.base import Edited

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


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The dogs chase me.", "I chase the dogs."),
        ("The dogs are chasing me.", "I am chasing the dogs."),
        ("The dogs weren't chasing me.", "I wasn't chasing the dogs."),
        ("I am chasing the dogs.", "The dogs are chasing me."),
        ("He likes them.", "They like him."),
        ("He likes you.", "You like him."),
        ("THE DOG CHASES ME.", "I CHASE THE DOG."),
        ("THE DOG CHASES THE CATS.", "THE CATS CHASE THE DOG."),
        ("The man hit the boys.", "The boys hit the man."),
        ("The man hits the boys.", "The boys hit the man."),
        ("The boy was chased by the dog.", "The dog was chased by the boy."),
        ("The boy is being chased by the dog.", "The dog is being chased by the boy."),
        ("The boy had been chased by the dog.", "The dog had been chased by the boy."),
        ("Has the boy seen the dog?", "Has the dog seen the boy?"),
        ("When will the boy see the dog?", "When will the dog see the boy?"),
        ("Yesterday the goose bit the postman.", "Yesterday the postman bit the goose."),
        ("The dog bit the cat last night.", "The cat bit the dog last night."),
        ("The boy's dog chased the girl's cat.", "The girl's cat chased the boy's dog."),
        ("The well-known man saw the dog.", "The dog saw the well-known man."),
        ("A very old man saw the dog.", "The dog saw a very old man."),
        ("The dogs chased two cats.", "Two cats chased the dogs."),
        ("Roses attract bees.", "Bees attract roses."),
        ("Jordan saw the dog.", "The dog saw Jordan."),
        ("Dr. Smith saw the dog.", "The dog saw Dr. Smith."),
        ("The dog saw Mary Hardy-Smith.", "Mary Hardy-Smith saw the dog."),
        ("Interesting books attract the boys.", "The boys attract interesting books."),
        ("This dog saw the cat.", "The cat saw this dog."),
        ("Her dog saw the cat.", "The cat saw her dog."),
        ("Berlin attracts the dogs.", "The dogs attract Berlin."),
        ("The Beatles saw the dog.", "The dog saw the Beatles."),
        ("The girl chases the rich.", "The rich chase the girl."),
        ("The boy chases a sheep.", "A sheep chases the boy."),
        ("The man robbed the boy of money.", "The boy robbed the man of money."),
        ("The dog chased the cat into the house.", "The cat chased the dog into the house."),
        ("DOESN'T SHE EAT APPLES?", "DON'T APPLES EAT HER?"),
    ],
)
def test_subject_and_object_change_places_and_the_verb_agrees(text: str, other: str) -> None:
    assert swapped(text) == Edited(text=other, confidence="high")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Its owner fed the dog.", "The dog fed its owner."),
        ("The man asked the boy to leave.", "The boy asked the man to leave."),
        ("The man gave the boy a book.", "The boy gave the man a book."),
        ("The dog chased the cat that slept.", "The cat that slept chased the dog."),
        ("The dog chased the cat with a bone.", "The cat chased the dog with a bone."),
        ("The dog chased the cat because it barked.", "The cat chased the dog because it barked."),
        ("The boy picked up the ball.", "The ball picked up the boy."),
        ("The man has the dog.", "The dog has the man."),
    ],
)
def test_a_swap_that_may_say_more_than_it_should_is_less_sure(text: str, other: str) -> None:
    assert swapped(text) == Edited(text=other, confidence="medium")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They hit the man.", "agreement"),
        ("The dog sees the Alps.", "agreement"),
        ("The dogs aren't chasing me.", "agreement"),
        ("Dogs hurt the man.", "agreement"),
        ("The boys chase the sheep.", "agreement"),
        ("The boy hurt himself.", "reflexive"),
        ("The boy was hurt by himself.", "reflexive"),
        ("The boys hurt each other.", "reflexive"),
        ("The boy was given a red book by the girl.", "no_object"),
        ("Mammals give birth to young.", "no_object"),
        ("There stood the man.", "no_object"),
        ("The rope measures ten metres.", "no_transitive_verb"),
        ("Is the boy a dog?", "no_transitive_verb"),
        ("The man has been.", "no_transitive_verb"),
        ("Who saw the dog?", "question"),
        ("Tom and I saw the dog.", "doubtful_phrase"),
        ("The dog saw Tom and me.", "doubtful_phrase"),
        ("The dog saw me and Tom.", "doubtful_phrase"),
        ("The boy ran home.", "doubtful_phrase"),
        ("The dog fed its owner.", "doubtful_phrase"),
        ("The boys all like the girl.", "doubtful_phrase"),
        ("He picked up the ball.", "doubtful_phrase"),
        ("The man hit the car head-on.", "doubtful_phrase"),
        ("The man said the boy was ill.", "doubtful_phrase"),
        ("The man said repairs were due.", "doubtful_phrase"),
        ("The man saw the dog run.", "doubtful_phrase"),
        ("The man painted the door red.", "doubtful_phrase"),
        ("The dog chased the cat and the bird flew.", "coordinated_clauses"),
        ("The dog chased the cat and ran.", "coordinated_clauses"),
        ("This will help you stay calm and avoid stress.", "coordinated_clauses"),
    ],
)
def test_what_cannot_be_swapped_surely_is_skipped_with_its_reason(text: str, reason: str) -> None:
    assert swapped(text) == Edited(reason=reason)


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

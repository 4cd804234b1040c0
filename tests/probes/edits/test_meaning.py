"""Edits that change the meaning: opposites, numbers, and the roles of the example."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from contrapose_swap_roles.probe import SwapRoles
from hypothesis import given
from hypothesis import strategies as st
from mutated import check_edits, mutated
from places import golden_rows

from contrapose.tasks.probes.edits.antonym import Antonym, list_opposites
from contrapose.tasks.probes.edits.base import Edited
from contrapose.tasks.probes.edits.change_number import SPELLED, ChangeNumber, is_read_with_an, parse_amount

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
    table = list_opposites()
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
    assert list_opposites()[word].word == other


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


NUMBERED = golden_rows("edits/change_number")
OF_NUMBERS = [
    *("in", "1990", "7", "two", "3.5", "12,000", "40%", "$8", '"9', "(", ",", ".", "an", "May", "10:30", "No."),
    *("1", "one", "twenty", "0", "°C", "²"),
]


def changed(text: str, seed: int = 0) -> Edited:
    return ChangeNumber().edit(text, None, rng=random.Random(seed))


def acceptable(text: str, row: dict[str, Any]) -> bool:
    """Whether a text is its row's frame around another number within the row's bounds, written as before."""
    if row["frame"] is None or text == row["text"]:
        return False
    front, back = row["frame"].split("{}")
    number = text[len(front) : len(text) - len(back)]
    old = row["text"][len(front) : len(row["text"]) - len(back)]
    if text != front + number + back:
        return False
    if row["low"] in SPELLED:
        return number.lower() in SPELLED
    same_form = len(number.partition(".")[2]) == len(old.partition(".")[2]) and ("," in number) == ("," in old)
    low, new, high = (float(each.replace(",", "")) for each in (row["low"], number, row["high"]))
    return same_form and low <= new <= high


@pytest.mark.parametrize("seed", range(8))
def test_a_changed_number_is_acceptable_and_what_can_be_is_changed(seed: int) -> None:
    results = [(changed(row["text"], seed).text, row) for row in NUMBERED]
    right = [acceptable(text, row) for text, row in results if text is not None]
    changeable = [text is not None for text, row in results if not row["skip"]]
    assert sum(right) >= 0.97 * len(right)
    assert sum(changeable) >= 0.97 * len(changeable)


def test_a_mutated_number_gives_another_text_or_a_reason_every_time() -> None:
    texts = mutated("summary_pairs.jsonl", "correct_sentence", OF_NUMBERS, instead="8")
    for seed in range(10):
        check_edits(lambda text, seed=seed: changed(text, seed), texts[seed::10])


def test_seeds_give_several_numbers() -> None:
    assert len({changed("A spider has 8 legs.", seed).text for seed in range(20)}) > 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"), ("The sky is blue.", "no_number"), ("She has one brother.", "no_number"),
        ("They met on 3/4/2020.", "number_left_alone"), ("Call 020 7946 0018 for help.", "number_left_alone"),
        ('He said "it has 8.', "unbalanced_quotes"), ("She has 1 dog.", "number_left_alone"),
        ("She bought an iPhone 11.", "number_left_alone"), ("The NASA 7 crew flew.", "number_left_alone"),
        ("Apollo 11 landed.", "number_left_alone"), ("The Four Tops sang.", "number_left_alone"),
        ("The 3 Musketeers fought.", "number_left_alone"), ("Chapter 7 is long.", "number_left_alone"),
        ("She left at 9 am.", "number_left_alone"), ("He ate 2 1/2 apples.", "number_left_alone"),
        ("He has thirty two cats.", "number_left_alone"), ("It took 007 days.", "number_left_alone"),
    ],
)  # fmt: skip
def test_what_has_no_number_to_change_is_skipped_with_its_reason(text: str, reason: str) -> None:
    assert changed(text) == Edited(reason=reason)


@pytest.mark.parametrize(
    ("text", "changed_to"),
    [
        ("EIGHT DOGS BARK.", r"(TWO|THREE|FOUR|FIVE|SIX|SEVEN|NINE|TEN|ELEVEN|TWELVE) DOGS BARK\."),
        ("Eight dogs bark.", r"(Two|Three|Four|Five|Six|Seven|Nine|Ten|Eleven|Twelve) dogs bark\."),
        ("An 8 year old sang.", r"An 11 year old sang\."),
        ("The price is $8.", r"The price is \$\d+\."),
        ("It weighs 0.1 kilograms.", r"It weighs 0\.\d kilograms\."),
        ("It weighs 0.25 kilograms.", r"It weighs 0\.\d\d kilograms\."),
        ("They sold 12,000 cars.", r"They sold \d+,000 cars\."),
        ("On July 4, 1776 they met.", r"On July 4, 1[78]\d\d they met\."),
        ("It grew from 1.25 to 2.50 metres.", r"It grew from 1\.25 to (1\.[3-9]|[234]\.)\d+ metres\."),
        ("It is 20 Celsius.", r"It is \d\d Celsius\."),
    ],
)
def test_a_number_is_written_as_before(text: str, changed_to: str) -> None:
    for seed in range(8):
        found = changed(text, seed).text
        assert found is not None
        assert found != text
        assert re.fullmatch(changed_to, found)


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("A spider has 8 legs.", "high"),
        ("True or false: A spider has 8 legs.", "medium"),
        ("  True or false: A spider has 8 legs.", "medium"),
        ("About 40 people came.", "medium"),
    ],
)
def test_a_rough_number_or_a_claim_that_may_be_false_is_less_sure(text: str, sure: str) -> None:
    assert changed(text).confidence == sure


@pytest.mark.parametrize("share", ["99%", "99 %", "99 percent"])
def test_a_share_stays_a_share(share: str) -> None:
    for seed in range(20):
        text = changed(f"Sales fell by {share} in May.", seed).text
        assert 0 < int(text.split()[3].strip("%")) < 100


def test_a_span_stays_in_order() -> None:
    for seed in range(20):
        span = changed("It ran from 1997 to 1998.", seed).text
        assert int(span.split()[-1].strip(".")) > 1998


@pytest.mark.parametrize("text", ["The museum holds 1950 - or more.", "It holds 1950 % now.", "It sold 1950 * today."])
def test_a_mark_that_stands_alone_behind_a_year_is_no_word(text: str) -> None:
    assert changed(text).text != text


@pytest.mark.parametrize(
    ("article", "numbers"),
    [
        ("an", "8 80 8.5 800 8,000 11 18 11,000 18,500 11000 11.5 eight eleven"),
        ("a", "1 10 110 1,100 1,118 1180 180 7 nine 111,000 100,811"),
    ],
)
def test_an_stands_before_what_is_spoken_with_a_vowel_first(article: str, numbers: str) -> None:
    assert [written for written in numbers.split() if is_read_with_an(written) != (article == "an")] == []


@pytest.mark.parametrize(
    ("spelling", "value"),
    [("12.5", 12.5), ("0.25", 0.25), ("1,250", 1250), ("1,250.50", 1250.5), ("Seven", 7), ("twenty", 20), ("0", 0)],
)
def test_an_amount_has_the_value_that_it_says(spelling: str, value: float) -> None:
    found = parse_amount(spelling)
    assert found.value == value
    assert found.write(found.units) == spelling.lower()


@pytest.mark.parametrize("spelling", ["7th", "1.2.3", "007", "1,25", "one", "twenty-one", "", "12."])
def test_what_is_no_amount_or_several_is_none(spelling: str) -> None:
    assert parse_amount(spelling) is None


ROLES = golden_rows("edits/swap_roles")


@pytest.mark.parametrize(
    ("text", "changed", "confidence"),
    [
        ("The dog chased the cat.", "The cat chased the dog.", "high"),
        ("It rained. A boy hit the ball", "It rained. The ball hit a boy", "high"),
        ("His son saw the girl.", "The girl saw his son.", "medium"),
    ],
)
def test_subject_and_object_of_a_plain_clause_change_places(text: str, changed: str, confidence: str) -> None:
    edited = SwapRoles().edit(text, None, rng=random.Random(0))
    assert (edited.text, edited.confidence) == (changed, confidence)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Birds sing.", "no_plain_clause"),
        ("Who chased the cat?", "no_plain_clause"),
        ("The man married the woman.", "symmetric_verb"),
        ("The cat saw the cat.", "same_phrase"),
    ],
)
def test_other_texts_are_skipped_with_their_reason(text: str, reason: str) -> None:
    assert SwapRoles().edit(text, None, rng=random.Random(0)).reason == reason


def test_every_golden_text_that_is_changed_is_acceptable() -> None:
    edited = [(row, SwapRoles().edit(row["text"], None, rng=random.Random(0)).text) for row in ROLES]
    assert [row["id"] for row, text in edited if text is not None and text not in row["accept"]] == []


@given(
    st.lists(st.sampled_from(["The", "dog", "cat", "his", "a", "chased", "saw", ".", "?", "it"]), max_size=8).map(
        " ".join
    )
)
def test_any_text_is_swapped_or_skipped(text: str) -> None:
    edited = SwapRoles().edit(text, None, rng=random.Random(0))
    assert (edited.text is None) == (edited.reason is not None)

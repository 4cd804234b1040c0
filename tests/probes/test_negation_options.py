"""With options a negation reverses which are right; and what holds of every negation, of any text."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import json_rows

from contrapose.tasks.probes.negation import Negation, negate
from contrapose.tasks.probes.negation.reversal import has_option_about_others, has_truth_values

THINGS = ("an oak", "a trout", "a fern", "a wren")
DEEDS = ("are cheap", "ask for drawings", "have low reliability", "take hours")

SKIPPED = [
    ("Find the value of x if 2x = 8.", THINGS, "instruction"),
    ("Calculate the mean of the three heights.", THINGS, "instruction"),
    ("In the graph, choose the shortest path.", THINGS, "instruction"),
    ("Fill in the gap: The cat sat on the ____.", THINGS, "instruction"),
    ("Which animal is meant? Assume that it can fly.", THINGS, "asked_elsewhere"),
    ("The ____ is a bird. It sings at dawn.", THINGS, "asked_elsewhere"),
    ("A man of 50 has a rash. His pulse is normal.", THINGS, "asks_nothing"),
    ("What is it? What does it eat?", THINGS, "several_questions"),
    ("Who built the tower, and why?", THINGS, "several_questions"),
    ("Projective tests generally ____.", DEEDS, "gap_may_be_verb"),
    ("Seeds are sown in spring, which means that farmers need", THINGS, "gap_in_other_clause"),
    ("The lamp was off because the boy had seen", THINGS, "gap_in_other_clause"),
    ("When a gas is heated, it meets ____ and its pressure rises.", THINGS, "coordinated_clauses"),
    ("The boy went home and ate", THINGS, "coordinated_clauses"),
    ("Why do birds migrate?", THINGS, "why_question"),
    ("What percentage of the soil is water?", THINGS, "quantity_asked"),
    ("What must a beginner learn first?", THINGS, "modal_scope"),
    ("Which of these are trees?", (*THINGS[:3], "none of these"), "options_combine"),
    ("Statement 1 | Every oak is a tree. Statement 2 | Every tree is an oak.", THINGS, "options_combine"),
    ("These are birds, all but", THINGS, "exception"),
    ("Is the claim valid?", ("Yes, because it is old", "No, because it is new"), "options_not_yes_no"),
    ("Water is wet and fire is cold.", ("True", "False"), "coordinated_clauses"),
    ("The flood is bad because of", THINGS, "gap_in_other_clause"),
    ("A dog is warm just like", THINGS, "gap_in_other_clause"),
    ("A plane flies much like", THINGS, "gap_in_other_clause"),
    ("Muscles move bones like when", THINGS, "gap_in_other_clause"),
    ("Birds eat seeds such as", THINGS, "gap_in_other_clause"),
    ("A lamp needs this in order to", THINGS, "gap_in_other_clause"),
    ("The bird, ____, sings in spring.", THINGS, "gap_in_other_clause"),
    ("The ____ that sings when it rains is a bird.", THINGS, "gap_in_other_clause"),
    ("The ____ sings and the cat sleeps.", THINGS, "coordinated_clauses"),
    ("The bird hunts insects and eats ____.", THINGS, "coordinated_clauses"),
    ("The bird can hunt insects and eat ____.", THINGS, "coordinated_clauses"),
    ("The bird likes to hunt insects and eat", THINGS, "coordinated_clauses"),
    ("The bird sings and it eats ____.", THINGS, "coordinated_clauses"),
    ("Wolves hunt deer and eat", THINGS, "coordinated_clauses"),
    ("The wolf hunts deer and rabbits and eats", THINGS, "coordinated_clauses"),
    ("When ____ is heated, it melts.", THINGS, "gap_in_other_clause"),
    ("Read both. Statement 1 | Every oak is a tree. Statement 2 | Every tree is an oak.", THINGS, "options_combine"),
    ("For what reason do birds sing?", THINGS, "why_question"),
    ("The bird sings for what reason?", THINGS, "why_question"),
    ("To what extent is it true?", THINGS, "quantity_asked"),
    ("What amount of water is cold?", THINGS, "quantity_asked"),
    ("What do some birds eat?", THINGS, "quantifier_only"),
    ("Corn is sometimes used to make", THINGS, "quantifier_only"),
    ("What is a bird, what is a tree?", THINGS, "several_questions"),
    ("Where are dogs pets?", THINGS, "wh_subject_boundary"),
    ("Where is the fishing the best?", THINGS, "wh_subject_boundary"),
]

CHANGED = [
    ("Which of these is a bird?", "Which of these is not a bird?"),
    ("A boy is cold, what should he wear?", "A boy is cold, what should he not wear?"),
    ("Which of these may cause harm?", "Which of these cannot cause harm?"),
    ("Where might it grow?", "Where could it not grow?"),
    ("Which of these must be true?", "Which of these need not be true?"),
    ("The moon is full of what?", "The moon is not full of what?"),
    ("Some berries may be eaten by", "No berries may be eaten by"),
    ("Floods often occur because of", "Floods do not often occur because of"),
    ("The bird is caught and eaten by ____.", "The bird is not caught and eaten by ____."),
    ("In ____, birds sing.", "In ____, birds do not sing."),
    ("A young goat is called.", "A young goat is not called."),
    ("A bird sings, what is its name?", "A bird sings, what is not its name?"),
    ("What's a bird?", "What's not a bird?"),
    ("Which reason explains it?", "Which reason does not explain it?"),
]

TIMED = (
    " ____", "\n", "A, ", "(", "*", " and is", "? ", " because", " which is", ", what is", " 5 s.", " as is", "I, ",
)  # fmt: skip


@pytest.mark.parametrize(("text", "options", "reason"), SKIPPED)
def test_what_would_not_reverse_the_right_options_is_skipped(text: str, options: tuple[str, ...], reason: str) -> None:
    made = negate(text, options=options)
    assert (made.text, made.reason, made.original) == (None, reason, text)


@pytest.mark.parametrize(("text", "negated"), CHANGED)
def test_what_reverses_them_is_changed(text: str, negated: str) -> None:
    assert negate(text, options=THINGS).text == negated


@pytest.mark.parametrize(
    ("text", "original", "negated"),
    [
        ("May it grow here?", "It may grow here.", "It cannot grow here."),
        ("Might a wren nest here?", "A wren might nest here.", "A wren could not nest here."),
        ("Must a wren nest here?", "A wren must nest here.", "A wren need not nest here."),
    ],
)
def test_what_a_yes_no_question_calls_possible_or_necessary_is_denied_as_a_whole(
    text: str, original: str, negated: str
) -> None:
    made = negate(text, options=("Yes", "No"))
    assert (made.original, made.text) == (f"True or false: {original}", f"True or false: {negated}")
    assert made.confidence == "medium"


def test_a_claim_with_a_gap_may_have_truth_values_as_options() -> None:
    assert negate("The ____ is a bird.", options=("True", "False")).text == "The ____ is not a bird."


def test_an_option_may_be_empty() -> None:
    assert negate("It eats", options=("", "grass")).text == "It does not eat"


def test_without_options_the_end_of_a_subject_may_be_guessed() -> None:
    assert negate("Where are dogs pets?").text == "Where are dogs not pets?"


def test_a_text_without_options_may_be_an_order() -> None:
    assert negate("Find the value of x.").text == "Do not find the value of x."


@pytest.mark.parametrize(
    "option",
    [
        "All of the above", "none of these.", "Both A and C", "1 and 3 only", "True, False",
    ],
)  # fmt: skip
def test_an_option_about_others_is_known(option: str) -> None:
    assert has_option_about_others(option)


@pytest.mark.parametrize(
    "option",
    [
        "A", "I", "1 and 3", "all birds", "both sexes",
    ],
)  # fmt: skip
def test_other_options_are_none(option: str) -> None:
    assert not has_option_about_others(option)


def test_options_may_have_letters_of_their_own() -> None:
    assert negate("Which are trees?", options=("A. oaks", "B. none of these")).reason == "options_combine"
    assert negate("Is iron hard?", options=("A) yes", "B) no")).text == "True or false: Iron is not hard."


def test_truth_values_are_a_pair() -> None:
    assert has_truth_values(("Yes.", "no"))
    assert not has_truth_values(("yes", "no", "maybe"))


@pytest.mark.parametrize("fragment", TIMED)
def test_time_grows_with_the_length(fragment: str) -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        negate(f"The cat is {fragment * count}", options=(fragment * count, "b"))
        return time.process_time() - started

    assert min(seconds(16_000) for _ in range(2)) < max(8 * min(seconds(4_000) for _ in range(2)), 0.2)


def test_real_questions_are_still_changed_mostly(shared_data: Path) -> None:
    rows = json_rows(shared_data / "openbookqa_test.jsonl")
    made = [negate(row["question"], options=[o[3:] for o in row["options"].split("\n")]) for row in rows]
    assert sum(each.text is not None for each in made) >= 0.62 * len(rows)


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


def check(text: str) -> Negation:
    """Every invariant of the rules; the negation that was made."""
    result = negate(text)
    assert result == negate(text)
    assert (result.text is None) != (result.reason is None)
    if result.text is not None:
        assert len(CUES.findall(result.text)) - len(CUES.findall(result.original)) == 1
        assert result.kind != "insert" or is_one_insertion(result)
    return result


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


@pytest.mark.parametrize(
    ("name", "field", "least"), [("openbookqa_test.jsonl", "question", 0.7), ("wiki_test.jsonl", "text", 0.2)]
)
def test_real_texts_keep_the_invariants_and_the_coverage(
    name: str, field: str, least: float, shared_data: Path
) -> None:
    results = [check(row[field]) for row in json_rows(shared_data / name)]
    assert sum(result.text is not None for result in results) >= least * len(results)

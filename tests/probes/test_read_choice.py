"""Reading a choice between A and B out of free text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from places import golden_rows

from contrapose.tasks.probes.order_bias import LetterChoice, read_choice
from contrapose.tasks.probes.orders.letter_replies import choose_nearer

SPLITS = [(name, split) for name in ("replies", "replies_2", "replies_3") for split in ("tune", "held_out")]
APPROVED = "The council approved the new library budget on Monday."
REJECTED = "The council rejected the new library budget on Monday."


def read(reply: str) -> LetterChoice:
    return read_choice(reply, option_a=APPROVED, option_b=REJECTED)


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_golden_replies_are_read_as_labelled_and_none_as_what_it_does_not_choose(name: str, split: str) -> None:
    read_as = [(row["reply"], row["choice"], read(row["reply"]).choice) for row in golden_rows(name, split)]
    assert sum(letter == choice for _, choice, letter in read_as) / len(read_as) >= 0.98
    assert [reply for reply, choice, letter in read_as if letter not in (None, choice)] == []


@pytest.mark.parametrize(
    ("reply", "step"), [("(b)", "letter"), ("Answer: B", "pattern"), (f"Summary: {REJECTED}", "restated")]
)
def test_the_step_that_decided_is_recorded(reply: str, step: str) -> None:
    assert (read(reply).choice, read(reply).step) == ("B", step)


CHOSEN = {
    "B": (
        "I read both.\nQuestion: which is right?\nAnswer: B", "Summary A is wrong.", "Summary A is more wrong.",
        "Summary A is not right. Summary A contradicts the article.", "Summary A is refuted by the article.",
        "Summary A is most misleading.", "Summary A is less accurate than Summary B.", "This makes A wrong.",
        "Summary A is worse than Summary B.", "Summary A says 12. This is wrong.", "Summary A says 12, which is wrong.",
        "The wrong summary is A.", "There is an error in A.", "Nothing in the article supports A.", "(B) is correct.",
        "Not A; B.", "J. K. Rowling wrote it. The answer is B.", "A. Smith wrote the article. B is right.",
        "The correct one is «B».", "Antwort: B", "Answer: A, it seems. Let me check. Final answer: B",
    ),
    "A": (
        "Answer: A\nQuestion: Which is next?\nAnswer: B", "Although Summary A reads well, Summary B is wrong.",
        "Summary A is right, although Summary B reads well.", "Summary A is accurate, though it is short.",
        "I choose A, although Summary B is accurate.", "I choose B. Therefore, A.", "Summary A is wrong. Therefore A.",
        "Therefore A. Summary B is accurate.", "I cannot tell, but I'd say A.", "I cannot tell. Therefore, A.",
        "I think that Summary A is right.\nA", "Summary B is rejected by the article.", "Summary A is more accurate.",
        "Summary A agrees with the article.", "Summary A is supported by the text.", "This makes A the correct answer.",
        "Summary A is better than Summary B.", "Summary B names the mayor. It contradicts the article.",
        "The article contradicts B.", "It is Summary B that contradicts the article.", "It is A that is right.",
        "(A) It rained.", "While both mention it, A is right.", "Both are right, but A is better.",
        "Final answer: B. Wait, the answer is A.",
    ),
}  # fmt: skip
"""Replies by the letter that they choose."""
UNPARSED = {
    "refusal": (
        "cannot answer as", "As an AI", "I cannot tell.", "I'd say A, but I cannot tell.",
    ),
    "no choice found": (
        "bother", "The answer based on the text", "A cat", "The council met.", "Summary A was rejected by the editor.",
        "Although Summary A reads well, it leaves something out.", "While Summary A is accurate, the article is long.",
        "Summary A is wrong. I admit that Summary B is not perfect.", "Summary A agrees with my view.",
        "Summary A contradicts the article, but Summary B does too.", "Summary A is less wrong.", "A. Or is it B?",
        "There is no error in A.", "'A' stands for the first summary.", "(B) says that it rained.", "Plan B is right.",
        "A if the article is true.", "Which summary is wrong? A", "Summary A: 12\nSummary B: 13",
        "The answer is not A.", "Summary A is not better than Summary B.", "old boots.\r\n\nC. 3 a.m.",
    ),
    "empty": (
        "", " ** ", "\r", "\u2028.", ". \r .",
    ),
    "both": (
        "Both", "A or B", "Summary A and Summary B differ. This is wrong.", "A is right. B is right as well.",
        "Summary B is accurate. It contradicts the article.", "Summary B is accurate. However, it says too much.",
        "Both summaries mention the vote. Summary A is right.",
    ),
    "neither": (
        "Neither.", "Summary A is wrong. Summary B is wrong.",
    ),
    "contradictory": (
        "Answer: A. Answer: B.", "Therefore, A. I choose B.", "Therefore A. Therefore B.", "A. I cannot tell.",
        "Final answer: A. Therefore B.", "I choose A. Summary B is accurate.", "Therefore A. Summary A is wrong.",
        "I cannot tell. A", "Therefore, A. I cannot tell.", "The answer is A.\nB", "Summary B.\nAnswer: A\nAnswer: B",
    ),
    "taken back": ("Final answer: B. Wait, I am not sure.",),
}  # fmt: skip
"""Replies that choose no letter, by the reason."""
UNPARSED_BESIDE_OPTIONS = {
    "no choice found in an explanation": (
        "A. Smith wrote it.", "(cf. B)", "A. and others", "`A` can be any set.", "Summary A is consistent with",
        "The date differs. Summary A", "While Summary A", "A, but", "A: The council met on Monday.",
    ),
    "no choice found": (
        "A\nrestricted view", "The answer is A or",
    ),
    "both": (
        "A. yes B. no", "1. A 2. B", "A (or B)", "Summary A (consistent or not)", "A, B are given",
    ),
    "contradictory": (
        "A is correct. B is the answer.", '{"answer": "A", "answer_2": "B"}', "A, maybe.",
    ),
}  # fmt: skip
"""The same of replies to two known sentences."""


@pytest.mark.parametrize(("letter", "reply"), [(letter, reply) for letter in CHOSEN for reply in CHOSEN[letter]])
def test_what_a_reply_says_of_either_summary_decides(letter: str, reply: str) -> None:
    assert read_choice(reply).choice == letter


@pytest.mark.parametrize(("reason", "reply"), [(reason, reply) for reason in UNPARSED for reply in UNPARSED[reason]])
def test_what_says_too_little_or_too_much_decides_nothing(reason: str, reply: str) -> None:
    assert read_choice(reply) == LetterChoice(choice=None, step="unparsed", reason=reason)


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        *((reason, reply) for reason, replies in UNPARSED_BESIDE_OPTIONS.items() for reply in replies),
        ("contradictory", f"A: {REJECTED}"),
    ],
)
def test_beside_options_initials_lists_and_unfinished_replies_decide_nothing(reason: str, reply: str) -> None:
    assert read(reply) == LetterChoice(choice=None, step="unparsed", reason=reason)


FOR = [
    *("does agree with the article", "is my answer", "is the answer", "is the correct one", "is a correct summary"),
    *("is the right choice", "is better", "is better than the other", "is more consistent with the article"),
    *("is closer to the article", "is absolutely right", "is largely correct", "is backed by the article"),
    *("is confirmed by the article", "is the one that matches the article", "is in line with the article"),
    *("does a better job", "is to be preferred", "wins", "gets it right", "has the right year", "keeps the facts"),
    *("reports the year correctly", "sticks to the article", "holds up", "is better because it says so"),
]
AGAINST = [
    *("is not confirmed by the article", "is not consistent", "is not the correct one", "is less consistent"),
    *("is the one that contradicts the article", "is at odds with the article", "goes against the article"),
    *("has an error", "has the wrong year", "makes a mistake", "misstates the year", "swaps the names"),
    *("is disproved by the article", "looks wrong"),
]
NEITHER_WAY = [
    *("does agree with me", "is not confirmed", "is not contradicted by the article", "is not wrong"),
    *("is not more consistent", "is not my answer", "is better than nothing", "is better than I expected"),
    *("is more of a story", "is partly right", "is right in part", "was chosen", "has no error", "is fabricated"),
    *("has some minor errors", "has fewer errors", "makes no mistakes", "says the opposite", "is partly fabricated"),
    *("is based on the article", "leaves a false impression", "may be wrong", "is wrong, but I like it", "is more"),
]


@pytest.mark.parametrize(("letter", "other"), [("A", "B"), ("B", "A")])
@pytest.mark.parametrize(
    ("predicate", "way"),
    [*((each, 1) for each in FOR), *((each, -1) for each in AGAINST), *((each, 0) for each in NEITHER_WAY)],
)
def test_a_predicate_speaks_for_a_summary_or_against_it_or_neither(
    predicate: str, way: int, letter: str, other: str
) -> None:
    assert read_choice(f"Summary {letter} {predicate}.").choice == {1: letter, -1: other, 0: None}[way]


def test_a_long_sentence_may_be_restated_too() -> None:
    meeting = "It met on Monday. " * 15
    rejected, approved = f"The council rejected the plan. {meeting}", f"The council approved the plan. {meeting}"
    assert read_choice(approved, option_a=rejected, option_b=approved).reason == "restates sentence B"


def test_a_reason_may_follow_a_label_and_without_options_a_restated_sentence_is_unparsed() -> None:
    assert read("A: because the article says so.").choice == "A"
    assert read_choice(APPROVED).step == "unparsed"


def test_the_end_of_a_long_reply_is_read() -> None:
    assert read_choice("The article is long. " * 2_000 + "Final answer: B").choice == "B"


@pytest.mark.parametrize(
    "template", ["{}", "Answer: {}", "Summary {} is correct.", "I choose {}.", "{} vitamins", "Not {}"]
)
def test_both_letters_are_read_by_the_same_rules(template: str) -> None:
    a, b = read_choice(template.format("A")), read_choice(template.format("B"))
    assert (a.choice == "A", a.step) == (b.choice == "B", b.step)


@pytest.mark.parametrize("part", ["A", "A or ", "\n", "(", "answer: ", "\\boxed{", "a\u0301", "not A ", "I say "])
def test_a_hostile_book_is_read_at_once(part: str) -> None:
    started = time.thread_time()
    read(part * (200_000 // len(part)))
    assert time.thread_time() - started < 0.4


def pointing(reply: tuple[float, float]) -> Any:
    """An embedding in which A lies along x, B along y, and the reply as given."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        assert len(texts) == 3
        return np.asarray([reply, (1.0, 0.0), (0.0, 1.0)], dtype=np.float32)

    return embed


def by_meaning(reply: str, cosines: tuple[float, float]) -> LetterChoice:
    return read_choice(reply, option_a=APPROVED, option_b=REJECTED, embed=pointing(cosines))


def test_the_nearer_sentence_wins_by_embedding() -> None:
    assert by_meaning("Councillors turned it down.", (0.4, 0.9)).choice == "B"


@pytest.mark.parametrize("cosines", [(0.2, 0.84), (0.88, 0.9), (float("nan"), 0.9)])
def test_a_distant_a_tied_or_an_unusable_embedding_decides_nothing(cosines: tuple[float, float]) -> None:
    assert by_meaning("Councillors turned it down.", cosines).step == "unparsed"


def test_a_refusal_is_never_decided_by_embedding() -> None:
    assert by_meaning("I cannot tell.", (0.1, 0.99)).reason == "refusal"


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_a_reply_as_near_to_the_one_as_to_the_other_chooses_neither_whatever_lead_is_asked_for(margin: float) -> None:
    found = choose_nearer((0.9, 0.9), similarity_threshold=0.85, margin=margin)
    assert (found.choice, found.step) == (None, "unparsed")


def test_a_lead_of_exactly_the_margin_is_enough_and_so_is_a_cosine_of_exactly_the_threshold() -> None:
    for cosines, choice in (((0.75, 0.5), "A"), ((0.5, 0.75), "B")):
        assert choose_nearer(cosines, similarity_threshold=0.75, margin=0.25).choice == choice
        assert choose_nearer(cosines, similarity_threshold=0.76, margin=0.25).choice is None
        assert choose_nearer(cosines, similarity_threshold=0.75, margin=0.26).choice is None


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_cosine_that_is_no_number_chooses_nothing(odd: float) -> None:
    for cosines in ((odd, 0.9), (0.9, odd)):
        assert choose_nearer(cosines, similarity_threshold=0.85, margin=0.0).choice is None

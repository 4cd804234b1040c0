"""Replies that end too early: what of them is a final answer, and which of them are thoughts alone."""

from __future__ import annotations

import pytest

from contrapose.tasks.language.replies.cut_off import begins_within_thought, breaks_off, is_thought_alone, mark_thought
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes.orders.letter_replies import read_words
from contrapose.tasks.probes.own_prompt import OwnLabels

CITIES = ("Rome", "Paris", "Oslo", "Bern")
PAIR = ("The mill has 120 looms.", "The mill has 130 looms.")


def read(reply: str, *, cut_off: bool) -> tuple[int | None, str | None]:
    """Place of the option, and the letter of the pair, that a reply chooses."""
    return (
        choose(reply, labels="ABCD", options=CITIES, cut_off=cut_off).index,
        read_words(reply, option_a=PAIR[0], option_b=PAIR[1], cut_off=cut_off).choice,
    )


PROVISIONAL = [
    "Okay, the question is easy. The answer is A because it says 120. I will now look at the second one:",
    "Hmm. So the answer is A. But what does the other one say about",
    "The passage is about a mill. The answer is A, since it has 120 looms and",
    "First I read the text. So I would say A. The other one, however, gives a figure that",
]


@pytest.mark.parametrize("reply", PROVISIONAL)
def test_a_choice_within_a_reply_that_was_cut_off_is_not_final(reply: str) -> None:
    assert read(reply, cut_off=False) == (0, "A")
    assert read(reply, cut_off=True) == (None, None)


@pytest.mark.parametrize(
    "reply",
    [
        "B", "**B**", "The answer is B. It says 120, which is", "Sure! The answer is B. The first one says that the",
        "Here is my choice:\n\nB\n\nThe article says", "It says 120. Therefore, the answer is B",
        "It says 120. The other one does not. Therefore, the answer is B.",
        "The text says 120.\n\nFinal answer: B\n\nThe reason is that the",
        "The text says 120. [[B]] This is because the",
    ],
)  # fmt: skip
def test_a_complete_answer_counts_although_the_rest_was_cut_off(reply: str) -> None:
    assert read(reply, cut_off=True) == (1, "B")


def test_of_a_reply_that_was_cut_off_an_own_label_counts_where_it_opens_or_ends() -> None:
    labels = OwnLabels(labels=("good", "bad"))
    within = "I look at the text. It is a good text, I believe. Now the second part of it"
    assert labels.find_place(within, count=2) == 0
    assert labels.find_place(within, count=2, cut_off=True) is None
    assert labels.find_place("Good. The text is", count=2, cut_off=True) == 0
    assert labels.find_place("I look at the text. It is bad", count=2, cut_off=True) == 1
    with_pattern = OwnLabels(labels=("good", "bad"), pattern=r"a (\w+) text")
    assert with_pattern.find_place(within, count=2, cut_off=True) == 0


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("The answer is A. But let me see", True), ("The answer is A.\nNow the second,", True),
        ("The answer is A. It fits.", False), ("The answer is A", False), ("It fits. (A)", False),
        ("It fits. **A**", False), ("A: ✗\nB: ✓", False), ("Gut.\n答案是 A。", False), ("", False),
    ],
)  # fmt: skip
def test_a_text_of_several_sentences_breaks_off_within_one(text: str, breaks: bool) -> None:
    assert breaks_off(text) is breaks


@pytest.mark.parametrize(
    ("reply", "alone", "closes"),
    [
        ("<think>It is A, I", True, False), ("<think>It is A.</think>\n", True, False),
        ("<think>It is A.</think>B", False, False), ("It is A.</think>B", False, True),
        ("It is A, I\n[/THINK]\n\nB", False, True), ("It is A.</think>", True, True), ("It is A, I", False, False),
        ('The mark "</think>" closes it.', False, False), ('{"answer": "A</think>"}', False, False),
        ("<details>why</details> A", False, False), ("", False, False),
    ],
)  # fmt: skip
def test_thoughts_are_known_by_their_marks(reply: str, alone: bool, closes: bool) -> None:
    assert (is_thought_alone(reply), begins_within_thought(reply)) == (alone, closes)


def test_only_a_reply_without_a_mark_is_marked_as_a_thought() -> None:
    assert is_thought_alone(mark_thought("It is A, I"))
    for reply in ("It is A.</think>B", "<think>It is A, I", "", " "):
        assert mark_thought(reply) == reply

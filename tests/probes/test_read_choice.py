"""Reading a choice between A and B out of free text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from places import golden_rows

from contrapose.tasks.probes.order_bias import LetterChoice, read_choice
from contrapose.tasks.probes.orders.letter_replies import nearer

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


@pytest.mark.parametrize("reply", ["cannot answer as", "bother", "The answer based on the text", "A cat", "As an AI"])
def test_words_that_merely_hold_the_letters_decide_nothing(reply: str) -> None:
    assert read_choice(reply).choice is None


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"), (" ** ", "empty"), ("Both", "both"), ("A or B", "both"), ("Neither.", "neither"),
        ("I cannot tell.", "refusal"), ("Answer: A. Answer: B.", "contradictory"),
        ("The council met.", "no choice found"),
    ],
)  # fmt: skip
def test_an_unparsed_reply_says_why(reply: str, reason: str) -> None:
    assert read_choice(reply) == LetterChoice(choice=None, step="unparsed", reason=reason)


@pytest.mark.parametrize(
    ("reply", "step"), [("(b)", "letter"), ("Answer: B", "pattern"), (f"Summary: {REJECTED}", "restated")]
)
def test_the_step_that_decided_is_recorded(reply: str, step: str) -> None:
    assert (read(reply).choice, read(reply).step) == ("B", step)


CHOSEN = [
    ("I read both.\nQuestion: which is right?\nAnswer: B", "B"),
    ("Answer: A\nQuestion: Which is next?\nAnswer: B", "A"),
    ("Although Summary A reads well, Summary B is wrong.", "A"),
    ("Summary A is right, although Summary B reads well.", "A"), ("Summary A is accurate, though it is short.", "A"),
    ("I choose A, although Summary B is accurate.", "A"), ("I choose B. Therefore, A.", "A"),
    ("Therefore A. Summary B is accurate.", "A"), ("Summary A is wrong. Therefore A.", "A"),
    ("I cannot tell, but I'd say A.", "A"), ("I cannot tell. Therefore, A.", "A"),
    ("I think that Summary A is right.\nA", "A"), ("Summary A is wrong.", "B"),
    ("Summary A is not right. Summary A contradicts the article.", "B"),
    ("Summary A is refuted by the article.", "B"), ("Summary B is rejected by the article.", "A"),
    ("Summary A agrees with the article.", "A"), ("Summary A is supported by the text.", "A"),
    ("Summary A is more accurate.", "A"), ("Summary A is more wrong.", "B"), ("Summary A is most misleading.", "B"),
    ("Summary A is less accurate than Summary B.", "B"), ("Summary A is worse than Summary B.", "B"),
    ("Summary A is better than Summary B.", "A"), ("Summary A says 12. This is wrong.", "B"),
    ("Summary A says 12, which is wrong.", "B"), ("Summary B names the mayor. It contradicts the article.", "A"),
    ("This makes A the correct answer.", "A"), ("This makes A wrong.", "B"), ("The article contradicts B.", "A"),
    ("The wrong summary is A.", "B"), ("There is an error in A.", "B"), ("Nothing in the article supports A.", "B"),
    ("It is Summary B that contradicts the article.", "A"), ("It is A that is right.", "A"), ("(B) is correct.", "B"),
    ("(A) It rained.", "A"), ("While both mention it, A is right.", "A"), ("Both are right, but A is better.", "A"),
    ("Not A; B.", "B"), ("J. K. Rowling wrote it. The answer is B.", "B"),
    ("A. Smith wrote the article. B is right.", "B"), ("The correct one is \u00abB\u00bb.", "B"), ("Antwort: B", "B"),
]  # fmt: skip
UNDECIDED = [
    ("Although Summary A reads well, it leaves something out.", "no choice found"),
    ("While Summary A is accurate, the article is long.", "no choice found"),
    ("Therefore, A. I choose B.", "contradictory"), ("Therefore A. Therefore B.", "contradictory"),
    ("Final answer: A. Therefore B.", "contradictory"), ("I choose A. Summary B is accurate.", "contradictory"),
    ("Therefore A. Summary A is wrong.", "contradictory"), ("A. I cannot tell.", "contradictory"),
    ("I cannot tell. A", "contradictory"), ("Therefore, A. I cannot tell.", "contradictory"),
    ("The answer is A.\nB", "contradictory"), ("Summary B.\nAnswer: A\nAnswer: B", "contradictory"),
    ("I'd say A, but I cannot tell.", "refusal"), ("Summary A is wrong. Summary B is wrong.", "neither"),
    ("Summary A is wrong. I admit that Summary B is not perfect.", "no choice found"),
    ("Summary A contradicts the article, but Summary B does too.", "no choice found"),
    ("Summary A was rejected by the editor.", "no choice found"),
    ("Summary A agrees with my view.", "no choice found"), ("Summary A is less wrong.", "no choice found"),
    ("Summary A and Summary B differ. This is wrong.", "both"),
    ("Summary B is accurate. It contradicts the article.", "both"),
    ("Summary B is accurate. However, it says too much.", "both"), ("There is no error in A.", "no choice found"),
    ("'A' stands for the first summary.", "no choice found"), ("(B) says that it rained.", "no choice found"),
    ("Both summaries mention the vote. Summary A is right.", "both"), ("A is right. B is right as well.", "both"),
    ("A. Or is it B?", "no choice found"), ("A if the article is true.", "no choice found"),
    ("Which summary is wrong? A", "no choice found"), ("Summary A: 12\nSummary B: 13", "no choice found"),
    ("Plan B is right.", "no choice found"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "letter"), CHOSEN)
def test_what_a_reply_says_of_either_summary_decides(reply: str, letter: str) -> None:
    assert read_choice(reply).choice == letter


@pytest.mark.parametrize(("reply", "reason"), UNDECIDED)
def test_what_says_too_little_or_too_much_decides_nothing(reply: str, reason: str) -> None:
    assert read_choice(reply) == LetterChoice(choice=None, step="unparsed", reason=reason)


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


def test_a_final_answer_beats_earlier_musing() -> None:
    assert read_choice("Answer: A, it seems. Let me check. Final answer: B").choice == "B"


def test_an_afterthought_undoes_a_final_answer() -> None:
    assert read_choice("Final answer: B. Wait, the answer is A.").choice == "A"
    assert read_choice("Final answer: B. Wait, I am not sure.").reason == "taken back"


def test_not_choosing_one_summary_does_not_choose_the_other() -> None:
    assert read_choice("The answer is not A.").choice is None
    assert read_choice("Summary A is not better than Summary B.").choice is None


@pytest.mark.parametrize(
    "reply", ["A. Smith wrote it.", "(cf. B)", "A. and others", "A\nrestricted view", "`A` can be any set."]
)
def test_initials_articles_and_names_of_things_are_no_letters(reply: str) -> None:
    assert read(reply).choice is None


@pytest.mark.parametrize(
    "reply", ["A. yes B. no", "1. A 2. B", "A (or B)", "Summary A (consistent or not)", "A, B are given"]
)
def test_a_list_of_both_letters_chooses_neither(reply: str) -> None:
    assert read(reply).choice is None


@pytest.mark.parametrize(
    "reply",
    ["Summary A is consistent with", "The date differs. Summary A", "While Summary A", "A, but", "The answer is A or"],
)
def test_a_reply_cut_off_before_its_choice_chooses_nothing(reply: str) -> None:
    assert read(reply).choice is None


@pytest.mark.parametrize("reply", ["A is correct. B is the answer.", '{"answer": "A", "answer_2": "B"}', "A, maybe."])
def test_a_choice_that_is_taken_back_or_doubled_is_contradictory(reply: str) -> None:
    assert read(reply).reason == "contradictory"


def test_a_summary_that_is_only_labelled_is_not_chosen() -> None:
    assert read("A: The council met on Monday.").choice is None
    assert read("A: because the article says so.").choice == "A"


def test_a_letter_with_the_other_letters_sentence_is_contradictory() -> None:
    assert read(f"A: {REJECTED}").reason == "contradictory"


def test_a_long_sentence_may_be_restated_too() -> None:
    meeting = "It met on Monday. " * 15
    rejected, approved = f"The council rejected the plan. {meeting}", f"The council approved the plan. {meeting}"
    assert read_choice(approved, option_a=rejected, option_b=approved).reason == "restates sentence B"


def test_without_options_a_restated_sentence_is_unparsed() -> None:
    assert read_choice(APPROVED).step == "unparsed"


@pytest.mark.parametrize(
    "template", ["{}", "Answer: {}", "Summary {} is correct.", "I choose {}.", "{} vitamins", "Not {}"]
)
def test_both_letters_are_read_by_the_same_rules(template: str) -> None:
    a, b = read_choice(template.format("A")), read_choice(template.format("B"))
    assert (a.choice == "A", a.step) == (b.choice == "B", b.step)


@pytest.mark.parametrize("part", ["A", "A or ", "\n", "(", "answer: ", "\\boxed{", "a\u0301", "not A ", "I say "])
def test_a_hostile_megabyte_is_read_at_once(part: str) -> None:
    started = time.thread_time()
    read(part * (200_000 // len(part)))
    assert time.thread_time() - started < 0.4


def test_the_end_of_a_long_reply_is_read() -> None:
    assert read_choice("The article is long. " * 2_000 + "Final answer: B").choice == "B"


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


@pytest.mark.parametrize("reply", ["\r", "old boots.\r\n\nC. 3 a.m.", "\u2028.", ". \r ."])
def test_lines_of_white_space_alone_end_nothing(reply: str) -> None:
    assert read_choice(reply).choice is None


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_a_reply_as_near_to_the_one_as_to_the_other_chooses_neither_whatever_lead_is_asked_for(margin: float) -> None:
    found = nearer((0.9, 0.9), similarity_threshold=0.85, margin=margin)
    assert (found.choice, found.step) == (None, "unparsed")


def test_a_lead_of_exactly_the_margin_is_enough_and_so_is_a_cosine_of_exactly_the_threshold() -> None:
    for cosines, choice in (((0.75, 0.5), "A"), ((0.5, 0.75), "B")):
        assert nearer(cosines, similarity_threshold=0.75, margin=0.25).choice == choice
        assert nearer(cosines, similarity_threshold=0.76, margin=0.25).choice is None
        assert nearer(cosines, similarity_threshold=0.75, margin=0.26).choice is None


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_cosine_that_is_no_number_chooses_nothing(odd: float) -> None:
    for cosines in ((odd, 0.9), (0.9, odd)):
        assert nearer(cosines, similarity_threshold=0.85, margin=0.0).choice is None

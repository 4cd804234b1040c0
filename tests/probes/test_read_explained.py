"""Replies that explain themselves: whatever is said beside the choice, only the choice is read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pytest
from places import golden_rows

from contrapose.tasks.language.replies.decision import weigh
from contrapose.tasks.language.replies.predicates import Strength, rate_predicate
from contrapose.tasks.language.replies.text import READ_FIRST, READ_LAST, keep_readable_part, normalise_reply
from contrapose.tasks.probes.known_errors import BARE, EXPLAINED, OF_OPTIONS, OF_TWO, WITH_OPTIONS, MeasuredErrors
from contrapose.tasks.probes.order_bias import read_choice

TEMPLATES = golden_rows("replies_explained")
BARS = {
    **dict.fromkeys(("tune", "held_out", "held_out_2", "round_1"), 0.97),
    "round_2": 0.93,
    "round_3": 0.95,
    "round_4": 0.92,
    "independent": 0.40,
    "plain": 0.76,
    "blind_1": 0.55,
    "blind_2": 0.69,
    "blind_3": 0.54,
    "blind_4": 0.24,
    "blind_5": 0.62,
}
"""Share of the templates that choose that must be read. Each round was written before the rules that read it, and after
the fourth no rule was changed. The independent ones are by four authors who knew none of the rules; at first sight 39 %
of them were read. The plain ones, by a fifth, are what a chat model would write; no rule was changed for them. The
blind ones were written one after the other, each by an author who knew neither the rules nor the other sets, and what
was misread in them was mended; the fourth holds 110 traps that choose nothing. What is left unread is asked back, and
since decision 55 so is what only weighs good and bad of both."""
LETTERS = (("A", "B"), ("B", "A"))
ASIDES = (
    "which says 120", "however", "on the other hand", "by contrast", "unlike Summary {x}", "as written",
    "in its second half", "whose figure is off",
)  # fmt: skip


@cache
def readings(split: str) -> list[tuple[dict[str, Any], str | None, str | None]]:
    """(template, letter that it chooses, letter that is read) for each letter in turn."""
    return [
        (row, x if row["choice"] else None, read_choice(row["template"].format(x=x, y=y)).choice)
        for row in TEMPLATES
        if row["split"] == split
        for x, y in LETTERS
    ]


@pytest.mark.parametrize(("split", "bar"), BARS.items())
def test_explained_choices_are_read(split: str, bar: float) -> None:
    chosen = [(label, read) for _, label, read in readings(split) if label]
    assert sum(label == read for label, read in chosen) / len(chosen) >= bar


@pytest.mark.parametrize("split", [*BARS, "held_out_3"])
def test_no_explanation_is_given_a_letter_that_it_does_not_choose(split: str) -> None:
    assert [row["template"] for row, label, read in readings(split) if read not in (None, label)] == []


@pytest.mark.parametrize("aside", ASIDES)
@pytest.mark.parametrize(("x", "y"), LETTERS)
def test_behind_an_aside_the_predicate_is_read(aside: str, x: str, y: str) -> None:
    told = aside.format(x=x)
    assert read_choice(f"Summary {y}, {told}, contradicts the article.").choice == x
    assert read_choice(f"Summary {x}, {told.replace(x, y)}, agrees with the article.").choice == x
    assert read_choice(f"Summary {y}, {told}.").choice is None


READ = {
    "x": (
        "Summary {x} keeps to the facts, and the latter, Summary {y}, mixes up the two brothers.",
        "Summary {x} is accurate. In contrast to Summary {x}, which is brief, Summary {y} invents a quote.",
        "The one that contradicts the article is {y}.", "The one that sticks to the article is {x}.",
        "{y} isnt consistent with the article.",
        "Summary {x} is more consistent with the article than Summary {y}, which gets the town wrong.",
    ),
    None: (
        "Summary {y} is wrong about the date, but so is Summary {x}.", "Summary {y} is not only wrong, it is rude.",
        "If Summary {y} is wrong, so be it.", "Is Summary {y} wrong?", "Summary {y} contradicts the article",
        "Summary {y} contradicts Summary {x}.", "Summary {y} may contradict the article.",
        "Summary {y} is wrong. The other one is wrong, too.",
        "Summary {x} gets all three right. Summary {y} gets the first right, but the third wrong.",
        "Summary {x}, like the article, puts it at 4 million. Summary {y}, unlike the article, puts it at 2.",
        "Every statement in Summary {x} is backed up. The same cannot be said of Summary {y}, I found.",
        "Summary {x} says 5 and Summary {y} says 50. The article gives the fine as 5.",
        "Granted, Summary {y} is right about the place. Still, it gets the date wrong. Summary {x} is right.",
        "Summary {x} does not contain any errors, and Summary {y} has the wrong year.",
        "Summary {x} says that the judge was right, and Summary {y} that he was wrong.",
        "Summary {x} mentions the wrong turn, and Summary {y} mentions the right of way.",
        "According to one reader, Summary {x} is right, and Summary {y} is wrong.",
        "If the article is right, Summary {x} is accurate, and Summary {y} invents a quote.",
        "The patients in group {x} got the right dose, and those in group {y} got the wrong one.",
        "Summary {x} is right about the date, and Summary {y} is right about the place. Both are wrong, too.",
        "The summary that is about a lawyer is {y}.", "fine of 50 → {y}\nfine of 500 → {x}\narticle → 500",
        "{x} has the year right and {y} has the place right so its a draw.",
        "Only one summary strays from the text, and that is {y}, with its assertion that the whale was alive.",
        "{y} would be accurate had the vaccine been approved in Canada, but it was approved in Brazil.",
        "Had the rocket launched on time, {y} would be right. It was delayed by two days.",
        "Should it mention a survivor, then Summary {y} is consistent with it.",
        "According to one commenter, Summary {y} is the accurate one.",
    ),
}  # fmt: skip
"""Replies that choose x, and such that choose neither letter."""


@pytest.mark.parametrize(("x", "y"), LETTERS)
@pytest.mark.parametrize(("chosen", "reply"), [(chosen, reply) for chosen in READ for reply in READ[chosen]])
def test_of_good_and_bad_and_of_what_is_said_beside_it_only_what_is_plain_is_read(
    chosen: str | None, reply: str, x: str, y: str
) -> None:
    assert read_choice(reply.format(x=x, y=y)).choice == (chosen and x)


def test_a_rejection_chooses_the_other_only_where_exactly_one_is_right() -> None:
    text = normalise_reply("Summary A contradicts the article.")
    assert weigh(text).letter is None
    assert weigh(text, one_is_right=True).letter == "B"


@pytest.mark.parametrize(("x", "y"), LETTERS)
@pytest.mark.parametrize("closing", ["Answer: {x}", "{x}", "**{x}**", "Therefore, Summary {x} is better.", "So {x}."])
def test_a_closing_answer_outweighs_what_was_weighed(closing: str, x: str, y: str) -> None:
    weighed = f"Summary {y} is more consistent in its first half, and reads better. The year is off, though.\n\n"
    assert read_choice(weighed + closing.format(x=x)).choice == x


@pytest.mark.parametrize(
    ("reply", "choice"),
    [("A?", "A"), ("first", "A"), ("Second.", "B"), ("Answer (A or B): A", "A"), ("B. Don't bother with it.", "B")],
)
def test_short_plain_answers_are_read(reply: str, choice: str) -> None:
    assert read_choice(reply).choice == choice


@pytest.mark.parametrize(
    "part",
    [
        "the article says ", "In Summary A, the ", "the claim in ", "A's ", "Summary A claims ", " ", "\n", "\t",
        "\r\n", "\u3000", "A, ", ", ", "(", "(A ", "*", "A - ", "A. B. ", "A\n", "Summary A, which x, ",
    ],
)  # fmt: skip
def test_the_time_is_linear_in_the_length(part: str) -> None:
    def seconds(times: int) -> float:
        started = time.thread_time()
        read_choice("Summary A" + part * times + "is wrong")
        return time.thread_time() - started

    seconds(10)
    assert max(seconds(times) for times in (1_000, 4_000, 16_000)) < 1.5


@pytest.mark.parametrize("invisible", ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"])
def test_invisible_characters_are_not_read(invisible: str) -> None:
    assert keep_readable_part(f"{invisible}B{invisible}") == "B"


def test_a_summary_that_contradicts_is_wrong_though_nothing_is_named() -> None:
    assert rate_predicate("contradicts") is Strength.WRONG
    assert rate_predicate("contradicts itself") is None


def near_b(texts: Sequence[str]) -> np.ndarray:
    return np.asarray([(0.1, 0.99), (1.0, 0.0), (0.0, 1.0)], dtype=np.float32)


def by_meaning(reply: str) -> str | None:
    a, b = "The council approved the budget on Monday.", "The council rejected the budget on Monday."
    return read_choice(reply, option_a=a, option_b=b, embed=near_b).choice


def test_only_short_replies_in_other_words_are_read_by_meaning() -> None:
    assert by_meaning("Councillors turned it down.") == "B"
    assert by_meaning("A council turned it down.") == "B"
    assert by_meaning("Summary B, which says that it was turned down.") is None
    assert by_meaning("The article is about a council. It met on Monday. There was a vote.") is None
    assert by_meaning("The council, whose budget had been in dispute for months, turned it down. " * 3) is None


@pytest.mark.parametrize("measured", [*OF_TWO, *OF_OPTIONS], ids=lambda measured: measured.by)
def test_a_known_error_is_of_a_day_and_a_share_of_the_replies_that_were_read(measured: MeasuredErrors) -> None:
    assert date.fromisoformat(measured.date)
    assert {each.letter for each in measured.by_letter} <= {*"ABCDEFGH", "none"}
    assert measured.by in ("the rules", "embeddings")
    for each in measured.by_letter:
        assert 0 <= each.missed + each.misread < each.replies


@pytest.mark.parametrize("measured", [EXPLAINED, BARE, WITH_OPTIONS], ids=("explained", "bare", "options"))
def test_rules_misread_no_reply_that_was_measured(measured: MeasuredErrors) -> None:
    assert [each.misread for each in measured.by_letter] == [0] * len(measured.by_letter)


def test_a_long_reply_is_read_from_its_start_and_from_the_first_whole_sentence_of_its_end() -> None:
    whole = "w" * (READ_FIRST + READ_LAST)
    assert keep_readable_part(whole) == whole
    middle = "It rains. " * (READ_FIRST + READ_LAST)
    seen = keep_readable_part(f"Start here. {middle}Summary A is right.")
    assert seen.startswith("Start here. It rains.")
    assert seen.endswith("It rains. Summary A is right.")
    assert "\n It rains." in seen
    assert READ_LAST < len(seen) <= READ_FIRST + READ_LAST

"""Score two orders: the documents' table, and what likelihoods add to it."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from contrapose.tasks.core.records import Completion, FollowUp, Score, Side, Trial
from contrapose.tasks.language.replies.text import window
from contrapose.tasks.probes.asking_back import can_be_asked, declines, follow_up
from contrapose.tasks.probes.base import Embed, Value
from contrapose.tasks.probes.in_words import in_words_columns
from contrapose.tasks.probes.order_bias.reply import Letter, LetterChoice, nearer, needs_meaning, read_words, said
from contrapose.tasks.probes.order_bias.settings import TwoOrdersSettings
from contrapose.tasks.probes.reading_checks import check_columns, known

UNPARSED = "unparsed"
"""Outcome of a pair in which a reply names no choice: the documents' table fails it, and a verdict leaves it open."""


class Read(NamedTuple):
    """The replies of a trial, as they were read."""

    first: LetterChoice
    """To the original prompt."""
    second: LetterChoice
    """To the changed one."""


def read_replies(trials: Sequence[Trial], settings: TwoOrdersSettings, *, embed: Embed) -> list[Read]:
    """The choices of trials under both orders; all replies that need embeddings share one batch."""
    replies = [reply for trial in trials for reply in _replies(trial)]
    asked = [(reply.text or "", options) for _, reply, options in replies]
    read = [held(reply) or _worded(reply.text or "", (a, b), settings) for _, reply, (a, b) in replies]
    unread = [index for index, choice in enumerate(read) if needs_meaning(choice)]
    for index, (a, b) in zip(unread, _cosines([asked[index] for index in unread], embed), strict=True):
        read[index] = nearer((a, b), similarity_threshold=settings.similarity_threshold, margin=settings.margin)
    read = [
        choice if choice.choice or _declined(reply, choice) else said(reply.asked_back, *options) or choice
        for choice, (_, reply, options) in zip(read, replies, strict=True)
    ]
    return [Read(*both_sides) for both_sides in zip(read[::2], read[1::2], strict=True)]


def _worded(reply: str, options: tuple[str, str], settings: TwoOrdersSettings) -> LetterChoice:
    return read_words(reply, option_a=options[0], option_b=options[1], one_is_right=settings.one_is_right)


def read_labels(trial: Trial, settings: TwoOrdersSettings) -> Read:
    """The choices of a trial whose replies name labels of the prompt."""
    return Read(read_label(trial.expected.text or "", settings), read_label(trial.actual.text or "", settings))


def read_label(reply: str, settings: TwoOrdersSettings) -> LetterChoice:
    """The choice of a reply that names a label of the prompt; a label beyond the two chooses neither."""
    own = settings.own_labels
    place = None if own is None else own.place(reply, count=len(own.labels))
    if own is None or place is None:
        return LetterChoice(choice=None, step="unparsed", reason="no one label is named")
    choice: Letter | None = "A" if place == 0 else "B" if place == 1 else None
    return LetterChoice(choice=choice, step="label", reason=f"names {own.labels[place]}")


def held(reply: Completion) -> LetterChoice | None:
    """The letter that an endpoint was held to; None where the reply must be read."""
    if not reply.constrained or reply.text not in ("A", "B"):
        return None
    return LetterChoice(choice="A" if reply.text == "A" else "B", step="constrained", reason="held to the letters")


def follow_ups(trials: Sequence[Trial], settings: TwoOrdersSettings, *, embed: Embed) -> list[FollowUp]:
    """Questions about the replies that neither rules nor embeddings could read, and about those that rules read."""
    chosen = [choice for pair in read_replies(trials, settings, embed=embed) for choice in (pair.first, pair.second)]
    replies = [(trial, *reply) for trial in trials for reply in _replies(trial)]
    asked = []
    for (trial, side, reply, options), choice in zip(replies, chosen, strict=True):
        if (right := None if trial.case.control else known(reply, choice.choice, choice.step)) is not None:
            asked.append(follow_up(trial, side, options, known=right))
        elif choice.choice is None and can_be_asked(reply) and not _declined(reply, choice):
            asked.append(follow_up(trial, side, options))
    return asked


def _declined(reply: Completion, choice: LetterChoice) -> bool:
    """Whether a reply plainly chooses nothing: what the model says of it decides nothing."""
    return declines(reply.text or "", choice.reason)


def _replies(trial: Trial) -> tuple[tuple[Side, Completion, tuple[str, ...]], ...]:
    """Both replies, with the options as they stood in their prompts."""
    options = trial.case.options
    swapped = options if trial.case.control else options[::-1]
    return ("expected", trial.expected, options), ("actual", trial.actual, swapped)


def _cosines(asked: Sequence[tuple[str, tuple[str, ...]]], embed: Embed) -> list[tuple[float, float]]:
    """For (reply, its two options): the cosine of the reply to each option."""
    if not asked:
        return []
    vectors = embed([text for reply, options in asked for text in (window(reply), *options)])
    triples = vectors.reshape(len(asked), 3, -1)
    return [(float(reply @ first), float(reply @ second)) for reply, first, second in triples]


def likelier(reply: Completion) -> LetterChoice | None:
    """The label with the larger log-likelihood; None when the two are not both finite."""
    lead = _lead_of_a(reply)
    if lead is None:
        return None
    if lead == 0:
        return LetterChoice(choice=None, step="unparsed", reason="tie")
    return LetterChoice(choice="A" if lead > 0 else "B", step="likelihood", reason=f"A leads by {lead:.3f} nats")


def outcome_of(read: Read) -> str:
    """Both choices, or that one of them could not be read."""
    first, second = read.first.choice, read.second.choice
    return f"{first}{second}" if first and second else UNPARSED


def scored(
    trial: Trial,
    read: Read,
    *,
    outcome: str,
    meaning: Mapping[str, str],
    further: Mapping[str, Value],
    settings: TwoOrdersSettings,
    calibrates: bool | None = None,
) -> Score:
    """The documents' table: A then B passes, everything else fails.

    Args:
        trial: a pair in both orders.
        read: its replies.
        outcome: what they come to.
        meaning: of each outcome, in a sentence; one without is open.
        further: columns of this test alone.
        settings: of the test.
        calibrates: whether the pair's log-likelihoods tell the pull of the letters; None where it has none.
    """
    passed = outcome == "AB"
    columns: dict[str, Value] = {
        **trial.case.details,
        "result": read.first.choice or "",
        "swapped_result": read.second.choice or "",
        "outcome": outcome,
        "result_step": read.first.step,
        "swapped_step": read.second.step,
        **_debiased(trial),
        "calibrates": calibrates,
        "right_is_longer": _first_is_longer(*trial.case.options),
        **_in_words(trial, read.first, settings),
        **check_columns(
            (reply, choice.choice, choice.step, options)
            for (_, reply, options), choice in zip(_replies(trial), (read.first, read.second), strict=True)
        ),
        **further,
    }
    return Score(
        value=float(passed),
        passed=passed,
        reason=meaning.get(outcome) or _unread(read),
        undecided=outcome not in meaning,
        columns=columns,
    )


def _first_is_longer(first: str, second: str) -> bool | None:
    """Whether a text has more characters than another; None where they have as many."""
    return len(first) > len(second) if len(first) != len(second) else None


def _in_words(trial: Trial, likeliest: LetterChoice, settings: TwoOrdersSettings) -> dict[str, str | bool | None]:
    """What the reply to the original prompt says beside the likelihoods; rules alone read it."""
    reply, (a, b) = trial.expected.in_words, trial.case.options
    said = None if reply is None else _worded(reply, (a, b), settings).choice
    return in_words_columns(reply, read=said, likeliest=likeliest.choice)


def _unread(read: Read) -> str:
    named = ("original", read.first), ("swapped", read.second)
    reasons = "; ".join(f"{name}: {choice.reason}" for name, choice in named if choice.choice is None)
    return f"No choice could be read ({reasons})."


def control_scored(trial: Trial, read: Read) -> Score:
    """A control passes with the same letter twice: the order is the same in both prompts, so no outcome is AB."""
    first, second = read
    columns: dict[str, Value] = {**trial.case.details, "result": first.choice or "", "result_step": first.step}
    if first.choice is None and second.choice is None:
        return Score(value=None, passed=None, reason="Neither reply names a choice.", columns=columns)
    same = first.choice == second.choice
    course = f"stayed {first.choice}" if same else f"changed from {first.choice or 'none'} to {second.choice or 'none'}"
    reason = f"The choice {course} under a question that means the same."
    open_ = first.choice is None or second.choice is None
    return Score(value=float(same), passed=same, reason=reason, undecided=open_, columns=columns)


def _debiased(trial: Trial) -> dict[str, Value]:
    """Content s = (m1 + m2)/2 and position b = (m1 - m2)/2, in nats; b is the pull of the letter A."""
    first, second = _lead_of_a(trial.expected), _lead_of_a(trial.actual)
    if first is None or second is None:
        return dict.fromkeys(("content_score", "position_score", "debiased_choice_right"))
    # In the swapped order the correct summary is B, so its lead is the opposite of A's.
    content, position = (first - second) / 2, (first + second) / 2
    return {
        "content_score": content,
        "position_score": position,
        "debiased_choice_right": content > 0 if content else None,
    }


def _lead_of_a(reply: Completion) -> float | None:
    """The log-likelihood of A minus that of B, in nats; None when the two are not both finite."""
    loglikelihoods = reply.option_loglikelihoods
    if loglikelihoods is None or len(loglikelihoods) != 2:
        return None
    lead = loglikelihoods[0] - loglikelihoods[1]
    return lead if math.isfinite(lead) else None


_LANGTEST_LETTERS = ("A", "B", "a", "b", "ab", "ba")
_NAMED = {letter: re.compile(rf"Answer {letter}|Summary {letter}", re.IGNORECASE) for letter in "ab"}
_FIRST = {letter: re.compile(rf"{letter}[.?!,:\n]", re.IGNORECASE) for letter in "ab"}
_BOTH = re.compile(r"(?:Answer|Summary) (?:A or B|B or A|A and B|B and A)|Both", re.IGNORECASE)
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def langtest_verdicts(trials: Sequence[Trial], *, threshold: float, embed: Embed) -> list[bool | None]:
    """Whether LangTest 2.7 passes each pair of replies: by letter patterns, then by embeddings.

    None where a reply is missing or may not be embedded.
    Source: LangTest 2.7.0, `FactualitySample._is_eval` in langtest/utils/custom_types/sample.py.

    Args:
        trials: pairs; the first option is the right summary. Replies are embedded where the scorer is `reply`.
        threshold: cosine to the right summary above which LangTest accepts a reply without a letter.
        embed: texts to unit vectors; called once, and only for replies without a letter.
    """
    doubts = [langtest_doubts(trial.expected.text, trial.actual.text) for trial in trials]
    pairs = [
        (reply, trial.case.options[0])
        for trial, replies in zip(trials, doubts, strict=True)
        for reply in replies or ()
        if reply is not None and trial.case.scorer == "reply"
    ]
    cosines: dict[tuple[str | None, str], float] = {}
    if pairs:
        vectors = embed([text for pair in pairs for text in pair])
        cosines.update(zip(pairs, (vectors[::2] * vectors[1::2]).sum(axis=1), strict=True))
    return [
        False if replies is None else _all_above(threshold, [cosines.get((reply, right)) for reply in replies])
        for right, replies in zip((trial.case.options[0] for trial in trials), doubts, strict=True)
    ]


def _all_above(threshold: float, cosines: Sequence[float | None]) -> bool | None:
    known = [cosine > threshold for cosine in cosines if cosine is not None]
    return all(known) if len(known) == len(cosines) else None


def langtest_doubts(first: str | None, second: str | None) -> Sequence[str | None] | None:
    """The replies without the right letter, on which embeddings decide; None where the pair fails without them."""
    if first is None or second is None:
        return (None,)
    first, second = first.strip(), second.strip()
    letters = [_letters(reply) for reply in (first, second)]
    if all(reply in _LANGTEST_LETTERS for reply in letters):
        return () if [reply.lower() for reply in letters] == ["a", "b"] else None
    if _is_tie(first) or _is_tie(second) or _names("b", first) or _names("a", second):
        return None
    return [reply for letter, reply in (("a", first), ("b", second)) if not _names(letter, reply)]


def _letters(reply: str) -> str:
    return "".join(filter(str.isalnum, reply))


def _is_tie(reply: str) -> bool:
    words = reply.translate(_WITHOUT_PUNCTUATION)
    return bool(_BOTH.search(words) or all(named.search(words) for named in _NAMED.values()))


def _names(letter: str, reply: str) -> bool:
    words = reply.translate(_WITHOUT_PUNCTUATION)
    return bool(_letters(reply).lower() == letter or _NAMED[letter].search(words) or _FIRST[letter].match(reply))

"""The steps that read a choice from a reply, and the measured errors of the rules, by letter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

STEPS: Mapping[str, str] = {
    "constrained": "an answer held to the letters",
    "label": "a label of the prompt",
    "letter": "the letter alone",
    "pattern": "a statement",
    "restated": "an option's text",
    "embedding": "embeddings",
    "asked": "asking back",
    "likelihood": "likelihood",
}
"""The steps in their order, as people read them."""

BY_RULES = ("letter", "pattern", "restated")
"""Steps in which rules read a reply."""

UNREAD = "unread"
READ_BY = "read_by_"


def measure_steps(columns: Iterable[pd.Series]) -> dict[str, float]:
    """Return the share of replies that each step read (`read_by_<step>`), and of `unread` ones; the sum is 1.

    The columns hold the step of one reply per row; missing, or `unparsed`, if no step decided.
    """
    counted: Counter[str] = Counter()
    for column in columns:
        counted[UNREAD] += int(column.isna().sum())
        counted.update({str(step): int(count) for step, count in column.value_counts().items()})
    replies = counted.total()
    if not replies:
        return {}
    counted[UNREAD] += counted.pop("unparsed", 0)
    others = sorted(set(counted) - {*STEPS, UNREAD})
    shares = {f"{READ_BY}{step}": counted[step] / replies for step in (*STEPS, *others) if step in counted}
    return {**shares, UNREAD: counted[UNREAD] / replies}


def name_step_shares(figures: Mapping[str, float | int | None]) -> dict[str, float]:
    """Return the shares of the steps under plain names, then of unread replies; empty if there are none."""
    named = {name.removeprefix(READ_BY): value for name, value in figures.items() if name.startswith(READ_BY)}
    shares = {STEPS.get(step, step): float(value) for step, value in named.items() if value is not None}
    unread = figures.get(UNREAD)
    return shares if unread is None else {**shares, UNREAD: float(unread)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterErrors:
    """Errors of the rules on replies that choose one letter, or none."""

    letter: str
    """The letter that the replies choose, by the label; `none` if they choose none."""
    replies: int
    missed: int
    """How many of them were left unread."""
    misread: int
    """How many were read as another letter; of replies that choose none, as any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredErrors:
    """Measured errors of the rules on one set of replies."""

    source: str
    """What the replies are, and who labelled them."""
    date: str
    """When it was measured, as year-month-day."""
    by_letter: tuple[LetterErrors, ...]
    by: str = "the rules"
    """What read them, for people."""
    steps: Sequence[str] = BY_RULES
    """Steps of reading that it is about."""


EXPLAINED = MeasuredErrors(
    source="LLMBar (Zeng et al., ICLR 2024, MIT), the half used for tuning: replies of six models that explain their"
    " choice, with 'Summary A' in the place of 'Output (a)', against the letter that the authors' pattern read",
    date="2026-11-28",
    by_letter=(
        LetterErrors(letter="A", replies=1571, missed=2, misread=0),
        LetterErrors(letter="B", replies=649, missed=2, misread=0),
    ),
)
BARE = MeasuredErrors(
    source="the same judges' replies of at most 40 characters, such as 'Summary A is better.'",
    date="2026-11-22",
    by_letter=(
        LetterErrors(letter="A", replies=8424, missed=0, misread=0),
        LetterErrors(letter="B", replies=5239, missed=0, misread=0),
    ),
)
WITH_OPTIONS = MeasuredErrors(
    source="replies to questions with options, written by us in the style of chat models before the rules; one half "
    "was looked at while they were made",
    date="2026-11-28",
    by_letter=(
        LetterErrors(letter="A", replies=140, missed=2, misread=0),
        LetterErrors(letter="B", replies=128, missed=0, misread=0),
        LetterErrors(letter="C", replies=130, missed=1, misread=0),
        LetterErrors(letter="D", replies=124, missed=0, misread=0),
    ),
)
IN_OTHER_WORDS = MeasuredErrors(
    source="180 short replies that restate one of 60 pairs of summaries in other words, or neither, in both orders, "
    "written for this by an author who knew neither the rules nor the thresholds",
    date="2026-11-22",
    by="embeddings",
    steps=("embedding",),
    by_letter=(
        LetterErrors(letter="A", replies=120, missed=88, misread=0),
        LetterErrors(letter="B", replies=120, missed=88, misread=0),
        LetterErrors(letter="none", replies=120, missed=0, misread=4),
    ),
)
OF_TWO = (EXPLAINED, BARE, IN_OTHER_WORDS)
"""Of what reads two letters. The rules were tuned on the first two sets: others may be read worse."""
OF_OPTIONS = (WITH_OPTIONS,)
"""Measured errors of the rules for any number of options."""

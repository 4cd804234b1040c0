"""What is known of the readers' own error, by letter: counts on recorded replies, which a test takes again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.probes.steps import BY_RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownError:
    """How replies that choose one letter, or none, were read."""

    letter: str
    """The letter that the replies choose, by the label; `none` where they choose none."""
    replies: int
    """How many were read."""
    missed: int
    """How many of them were left unread."""
    misread: int
    """How many were read as another letter; of replies that choose none, as any."""

    @property
    def missed_share(self) -> float:
        """Share left unread, 0 to 1."""
        return self.missed / self.replies

    @property
    def misread_share(self) -> float:
        """Share read as another letter, 0 to 1."""
        return self.misread / self.replies


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The reader's error on one set of replies."""

    source: str
    """What the replies are, and who labelled them."""
    date: str
    """When it was measured, as year-month-day."""
    by_letter: tuple[KnownError, ...]
    """The figures for each letter."""
    by: str = "the rules"
    """What read them, for people."""
    steps: Sequence[str] = BY_RULES
    """Steps of reading that it is about."""


EXPLAINED = Measured(
    source="LLMBar (Zeng et al., ICLR 2024, MIT), the half used for tuning: replies of six models that explain their"
    " choice, with 'Summary A' in the place of 'Output (a)', against the letter that the authors' pattern read",
    date="2026-11-22",
    by_letter=(
        KnownError(letter="A", replies=1571, missed=1, misread=0),
        KnownError(letter="B", replies=649, missed=2, misread=0),
    ),
)
BARE = Measured(
    source="the same judges' replies of at most 40 characters, such as 'Summary A is better.'",
    date="2026-11-22",
    by_letter=(
        KnownError(letter="A", replies=8424, missed=0, misread=0),
        KnownError(letter="B", replies=5239, missed=0, misread=0),
    ),
)
WITH_OPTIONS = Measured(
    source="replies to questions with options, written by us in the style of chat models before the rules; one half "
    "was looked at while they were made",
    date="2026-11-22",
    by_letter=(
        KnownError(letter="A", replies=140, missed=2, misread=0),
        KnownError(letter="B", replies=128, missed=1, misread=0),
        KnownError(letter="C", replies=130, missed=2, misread=0),
        KnownError(letter="D", replies=124, missed=1, misread=0),
    ),
)
IN_OTHER_WORDS = Measured(
    source="180 short replies that restate one of 60 pairs of summaries in other words, or neither, in both orders, "
    "written for this by an author who knew neither the rules nor the thresholds",
    date="2026-11-22",
    by="embeddings",
    steps=("embedding",),
    by_letter=(
        KnownError(letter="A", replies=120, missed=88, misread=0),
        KnownError(letter="B", replies=120, missed=88, misread=0),
        KnownError(letter="none", replies=120, missed=0, misread=4),
    ),
)
OF_TWO = (EXPLAINED, BARE, IN_OTHER_WORDS)
"""Of what reads two letters. The rules were tuned on the first two sets: others may be read worse."""
OF_OPTIONS = (WITH_OPTIONS,)
"""Of the rules for any number of options."""

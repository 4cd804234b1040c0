"""What is known of the reader's own error, by letter: counts on recorded replies, which a test takes again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownError:
    """How replies that choose one letter were read."""

    letter: str
    """The letter that the replies choose, by the label."""
    replies: int
    """How many were read."""
    missed: int
    """How many of them were left unread."""
    misread: int
    """How many were read as the other letter."""

    @property
    def missed_share(self) -> float:
        """Share left unread, 0 to 1."""
        return self.missed / self.replies

    @property
    def misread_share(self) -> float:
        """Share read as the other letter, 0 to 1."""
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
OF_TWO = (EXPLAINED, BARE)
"""Of the rules for two letters. They were tuned on these replies: others may be read worse."""
OF_OPTIONS = (WITH_OPTIONS,)
"""Of the rules for any number of options."""

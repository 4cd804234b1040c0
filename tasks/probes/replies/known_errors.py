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
    by_letter: tuple[KnownError, KnownError]
    """The figures for A and for B."""


MEASURED: tuple[Measured, ...] = ()
"""Every measurement that a report may show; empty until there is one."""

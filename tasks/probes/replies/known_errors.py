"""How often the rules miss or misread what a reply chooses, by letter, on replies that they were not written for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownError:
    """Of the replies that choose one letter."""

    letter: str
    missed: float
    """Share that is left unread."""
    wrong: float
    """Share that is read as the other letter."""
    replies: int
    """How many there were."""


MEASURED_ON = ""
"""The replies, for people."""

KNOWN_ERRORS: tuple[KnownError, ...] = ()
"""Empty until they are measured."""

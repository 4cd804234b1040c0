"""Records of results by slice and by wording, which are parts of the cases of a test."""

from __future__ import annotations

# pydantic, which makes the schema of summary.json, reads no other before Python 3.12.
from typing_extensions import TypedDict


class Slice(TypedDict):
    """The samples of a test that share a value of the tag column."""

    name: str
    """The value of the tag column."""
    scored: int
    """Cases of the slice with a score."""
    passed: int
    """Those among them that passed."""
    pass_rate: float | None
    """`passed / scored`; None if nothing was scored."""
    interval: tuple[float, float] | None
    """95 %, Wilson's."""
    p: float | None
    """Of the difference to all other samples, corrected for the number of slices (Benjamini-Hochberg)."""


class WordingVariances(TypedDict):
    """The variance of passing (0 or 1) over samples and wordings, by its source."""

    samples: float | None
    """Between samples; None if too few were asked in several wordings, and `rest` holds it."""
    wordings: float
    """Between wordings."""
    askings: float
    """Between the cases of one sample in one wording: askings, or orders."""
    rest: float
    """What is left."""


class WordingSummary(TypedDict):
    """The wordings of a test's prompt, with their results."""

    random: bool
    """Whether they count as a sample of all wordings, which intervals and verdicts then cover: from six on."""
    rates: list[Slice]
    """Pass rate of each wording, by its number."""
    variances: WordingVariances | None
    """Of all scored cases; None if they are too few."""
    longer: float | None
    """How many times as long the interval of the pass rate is as one over samples alone; None if fixed."""

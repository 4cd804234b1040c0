"""What became of a test's samples before a model was asked: how many were perturbed, and why the others were not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.report.base import SKIPPED_SHOWN
from contrapose.tasks.report.html.bars import Bar, bars
from contrapose.tasks.report.inline import elided
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.wording import reasons

MOST_REASONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A sample that was skipped."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why samples were skipped."""

    bar: Bar
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The samples of a test, before any answer."""

    told: str
    """How many cases were made; some of them may lack an answer."""
    confidence: tuple[Bar, ...]
    """How sure their perturbations are; shares of the cases asked."""
    reasons: tuple[Reason, ...]
    """The commonest reasons of skips; shares of all that were skipped."""
    rest: str
    """The other reasons in words; empty when there are none."""


def asked(outcome: Outcome, results: pd.DataFrame, skipped: pd.DataFrame, show: Show) -> Asked:
    """What was asked in one test.

    Args:
        outcome: of the test.
        results: its rows, without controls.
        skipped: its cases that were not asked.
        show: makes texts fit to be seen.
    """
    counts = sorted(outcome["skip_reasons"].items(), key=lambda item: -item[1])
    drawn = bars(dict(counts), show)
    return Asked(
        told=f"{outcome['cases'] - outcome['skipped']:,} of {outcome['cases']:,} cases",
        confidence=bars(_confidence(results), show),
        reasons=tuple(
            Reason(bar=bar, examples=_examples(skipped, reason, show))
            for bar, (reason, _) in zip(drawn[:MOST_REASONS], counts, strict=False)
        ),
        rest=show(reasons(dict(counts[MOST_REASONS:]))),
    )


def _confidence(results: pd.DataFrame) -> Mapping[str, int]:
    if "confidence" not in results:
        return {}
    return {str(name): int(count) for name, count in results["confidence"].value_counts().items()}


def _examples(skipped: pd.DataFrame, reason: str, show: Show) -> tuple[Example, ...]:
    # A report without skipped cases holds a frame without columns.
    if "skip_reason" not in skipped:
        return ()
    found = skipped[skipped["skip_reason"] == reason].head(SKIPPED_SHOWN)
    return tuple(
        Example(id=name_of(sample), text=elided(show(text), head=200, tail=100))
        for sample, text in zip(found["sample_id"], found["original"], strict=True)
    )

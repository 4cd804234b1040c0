"""Counts over a test's rows as the card shows them: flips, tiers, reasons, distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.probes.panels import Panel
from contrapose.tasks.report.charts.scores import scores
from contrapose.tasks.report.html.bars import Bar, bars
from contrapose.tasks.report.html.panels import Drawn, drawn
from contrapose.tasks.report.html.tallies import Tally
from contrapose.tasks.report.masking import Show

MOST_REASONS = 10

MOST_CHARTS = 3
"""Distributions of one test: those of the commonest scorers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing with its title."""

    title: str
    svg: Markup
    note: str
    """What the marks are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tallied:
    """Counts of one test."""

    panels: tuple[Drawn, ...]
    """What the probe shows."""
    unscored: tuple[Bar, ...]
    """Why cases have no score."""
    errors: tuple[Bar, ...]
    """Why cases have no answer."""
    charts: tuple[Chart, ...]


def tallied(outcome: Outcome, tally: Tally, panels: Sequence[Panel], show: Show) -> Tallied:
    """The counts of one test, its probe's panels among them."""
    return Tallied(
        panels=tuple(drawn(panel, show) for panel in panels),
        unscored=bars(outcome["unscored_reasons"], show),
        errors=_reasons(tally.errors, show),
        charts=tuple(_charts(tally, show)),
    )


def _reasons(counts: Mapping[str, int], show: Show) -> tuple[Bar, ...]:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in ordered[MOST_REASONS:])
    more = {f"{len(ordered) - MOST_REASONS:,} other reasons": rest} if rest else {}
    return bars({**dict(ordered[:MOST_REASONS]), **more}, show)


def _charts(tally: Tally, show: Show) -> Iterator[Chart]:
    commonest = sorted(tally.cases, key=lambda name: -sum(map(len, tally.cases[name])))[:MOST_CHARTS]
    for scorer in commonest:
        controls = np.concatenate([np.empty(0), *tally.controls.get(scorer, ())])
        found = scores(np.concatenate(tally.cases[scorer]), controls, name=f"eval_score of {show(scorer)}")
        if found is not None:
            outline = "; the dashed line is the controls" if len(controls) else ""
            yield Chart(title=f"Scores by {show(scorer)}", svg=found, note=f"Share of cases by eval_score{outline}.")

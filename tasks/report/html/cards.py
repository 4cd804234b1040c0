"""One test as a card of the page: every text ready to be shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.past import PastRun
from contrapose.tasks.probes.steps import READ_BY, UNREAD, step_shares
from contrapose.tasks.probes.toxic_words.lexicon import TIERS
from contrapose.tasks.report import positions, rotations
from contrapose.tasks.report.charts.trend import trend
from contrapose.tasks.report.evidence import (
    dependent,
    ended,
    figures,
    in_words,
    known_errors,
    langtest,
    missing,
    sliced,
    subtracted,
    unlike,
)
from contrapose.tasks.report.html.asked import Asked, asked
from contrapose.tasks.report.html.bars import Bar, bars
from contrapose.tasks.report.html.meter import Meter, meter
from contrapose.tasks.report.html.tallied import Tallied, tallied
from contrapose.tasks.report.html.tallies import Tally
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.positions import PAIRS, Positions
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.wording import COUNTED, interval, noise, percent, sums

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One outcome of order_bias in the grid."""

    count: str
    share: str
    shade: int
    """0 (none) to 4 (all), for the strength of the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What was chosen in both orders."""

    cells: dict[str, Cell]
    """By pair: AB, AA, BB, BA."""
    unparsed: str
    """Pairs that could not be read."""
    reading: str
    """The pattern in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What the choices of option_order followed."""

    followed: tuple[Bar, ...]
    """The option, the letter, neither; and what could not be read."""
    reading: str
    """The pattern in words, and how often each letter was chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the page tells about one test."""

    name: str
    category: str
    verdict: str
    reason: str
    rate: str
    interval: str
    meter: Meter
    counts: Pairs
    """What the cases became, with their numbers."""
    sums: str
    """The same as one sum."""
    asked: Asked
    told: tuple[str, ...]
    """What the controls changed, what is missing, how much dependent cases tell."""
    effects: Pairs
    """What the test changed beyond what its controls did."""
    refused: tuple[str, ...]
    figures: Pairs
    slices: Pairs
    grid: Grid | None
    orders: Orders | None
    read: tuple[Bar, ...]
    """How the choices were read: the share of every step, and of the unread."""
    known_errors: tuple[str, ...]
    """How often the rules are known to be wrong, where they read replies."""
    tallied: Tallied
    trend: Markup | None
    """Pass rate over the runs of the suite."""
    settings: Pairs


def card(
    outcome: Outcome,
    results: pd.DataFrame,
    skipped: pd.DataFrame,
    tally: Tally,
    show: Show,
    *,
    runs: tuple[PastRun, ...] = (),
    show_langtest: bool = False,
) -> Card:
    """Build the card of one test.

    Args:
        outcome: of the test.
        results: its rows without controls.
        skipped: its cases that were not asked.
        tally: counts over its rows.
        show: makes texts fit to be seen.
        runs: of the suite, this one last.
        show_langtest: tell what LangTest would have said.
    """
    return Card(
        name=name_of(outcome["test_type"]),
        category=show(outcome["category"]),
        verdict=outcome["verdict"],
        reason=show(outcome["reason"]),
        rate=percent(outcome["pass_rate"]),
        interval=interval(outcome),
        meter=meter(outcome),
        counts=tuple((name, f"{outcome[name]:,}") for name in ("cases", "passed", *COUNTED)),  # type: ignore[literal-required]
        sums=sums(outcome),
        asked=asked(outcome, results, skipped, show),
        told=tuple(filter(None, map(ended, _told(outcome, show_langtest=show_langtest)))),
        effects=_effects(outcome, show),
        refused=tuple(name_of(name) for name in outcome["refused"]),
        figures=_figures(outcome, show),
        slices=tuple((show(each["name"]), sliced(each)) for each in outcome["slices"]),
        grid=_grid(positions.positions(results)),
        orders=_orders(rotations.rotations(results), show),
        read=tuple(_step(name, share, show) for name, share in step_shares(outcome["figures"]).items()),
        known_errors=tuple(map(ended, known_errors(outcome))),
        tallied=tallied(outcome, tally, show),
        trend=trend(runs, outcome["test_type"]),
        settings=tuple(_settings(outcome, show)),
    )


def _effects(outcome: Outcome, show: Show) -> Pairs:
    named = (subtracted(outcome, each) for each in outcome["effects"])
    return tuple((show(name), value) for name, value in named)


def _figures(outcome: Outcome, show: Show) -> Pairs:
    # The grid, the bars and the tiers show these already.
    told = {
        *(*PAIRS, "unparsed", *(f"mean_added_{tier}" for tier in TIERS)),
        *(f"outcome_{name}" for name in (*rotations.SENTENCES, *rotations.UNDECIDED)),
    }
    told |= {name for name in outcome["figures"] if name.startswith(READ_BY) or name == UNREAD}
    return tuple((show(name.replace("_", " ")), value) for name, value in figures(outcome) if name not in told)


def _step(name: str, share: float, show: Show) -> Bar:
    return Bar(name=show(name), count="", share=percent(share), width=round(100 * share, 1))


def _told(outcome: Outcome, *, show_langtest: bool) -> Iterator[str]:
    yield dependent(outcome)
    if outcome["control"]:
        yield noise(outcome["control"])
    yield missing(outcome)
    yield unlike(outcome) or in_words(outcome)
    if show_langtest:
        yield langtest(outcome)


def _settings(outcome: Outcome, show: Show) -> Iterator[tuple[str, str]]:
    for name, value in outcome["settings"].items():
        yield show(name.replace("_", " ")), show(json.dumps(value, ensure_ascii=False, default=str))
    yield "scorers", show(", ".join(f"{name} ({count:,})" for name, count in outcome["scorers"].items()))
    yield "data", show(f"{outcome['data']['source']}, {outcome['data']['rows']:,} rows")
    yield "data sha256", show(outcome["data"]["sha256"])
    yield "probe version", show(outcome["probe_version"])


def _grid(found: Positions | None) -> Grid | None:
    if found is None:
        return None
    return Grid(
        cells={pair: _cell(found, pair) for pair in PAIRS},
        unparsed=f"{found.unparsed:,}",
        reading=positions.reading(found),
    )


def _cell(found: Positions, pair: str) -> Cell:
    share = found.share(pair)
    return Cell(count=f"{found.counts[pair]:,}", share=percent(share), shade=round(4 * share))


def _orders(found: rotations.Rotations | None, show: Show) -> Orders | None:
    if found is None:
        return None
    return Orders(
        followed=bars({**found.counts, **found.undecided}, show),
        reading=show(rotations.reading(found)),
    )

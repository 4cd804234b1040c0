"""One test as a card of the page: every text ready to be shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.past import PastRun
from contrapose.tasks.probes.panels import Panel
from contrapose.tasks.probes.steps import READ_BY, UNREAD, step_shares
from contrapose.tasks.report.charts.trend import trend
from contrapose.tasks.report.evidence import (
    dependent,
    ended,
    figures,
    guessing,
    held,
    langtest,
    missing,
    sliced,
    subtracted,
)
from contrapose.tasks.report.html.asked import Asked, asked
from contrapose.tasks.report.html.bars import Bar
from contrapose.tasks.report.html.meter import Meter, meter
from contrapose.tasks.report.html.tallied import Tallied, tallied
from contrapose.tasks.report.html.tallies import Tally
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.readers import THE_MODEL, known_errors, trust
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.source_rows import taken_by
from contrapose.tasks.report.wording import COUNTED, interval, noise, percent, sums

Pairs = tuple[tuple[str, str], ...]


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
    gates: Pairs
    """What the verdict rests on besides the pass rate, and what the gate of the pass rate rests on."""
    effects: Pairs
    """What the test changed beyond what its controls did."""
    refused: tuple[str, ...]
    figures: Pairs
    slices: Pairs
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
    panels: Sequence[Panel] = (),
    runs: tuple[PastRun, ...] = (),
    show_langtest: bool = False,
    reader: str = THE_MODEL,
) -> Card:
    """Build the card of one test.

    Args:
        outcome: of the test.
        results: its rows without controls.
        skipped: its cases that were not asked.
        tally: counts over its rows.
        show: makes texts fit to be seen.
        panels: what the test's probe shows.
        runs: of the suite, this one last.
        show_langtest: tell what LangTest would have said.
        reader: who was asked what replies choose.
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
        told=tuple(filter(None, map(ended, _told(outcome, show_langtest=show_langtest, reader=reader)))),
        gates=_gates(outcome, show),
        effects=_effects(outcome, show),
        refused=tuple(name_of(name) for name in outcome["refused"]),
        figures=_figures(outcome, panels, show),
        slices=tuple((show(each["name"]), sliced(each)) for each in outcome["slices"]),
        read=tuple(_step(name, share, show) for name, share in step_shares(outcome["figures"]).items()),
        known_errors=tuple(map(ended, known_errors(outcome))),
        tallied=tallied(outcome, tally, panels, show),
        trend=trend(runs, outcome["test_type"]),
        settings=tuple(_settings(outcome, show)),
    )


def _gates(outcome: Outcome, show: Show) -> Pairs:
    further = tuple((show(gate["name"].replace("_", " ")), held(gate)) for gate in outcome["gates"][1:])
    return (*further, (f"gate {percent(outcome['min_pass_rate'])}", show(outcome["gate_basis"])))


def _effects(outcome: Outcome, show: Show) -> Pairs:
    named = (subtracted(outcome, each) for each in outcome["effects"])
    return tuple((show(name), value) for name, value in named)


def _figures(outcome: Outcome, panels: Sequence[Panel], show: Show) -> Pairs:
    """All figures but those that the panels and the bars of the steps show already."""
    shown = {name for panel in panels for name in panel.figures}
    shown |= {name for name in outcome["figures"] if name.startswith(READ_BY) or name == UNREAD}
    return tuple((show(name.replace("_", " ")), value) for name, value in figures(outcome) if name not in shown)


def _step(name: str, share: float, show: Show) -> Bar:
    return Bar(name=show(name), count="", share=percent(share), width=round(100 * share, 1))


def _told(outcome: Outcome, *, show_langtest: bool, reader: str) -> Iterator[str]:
    yield guessing(outcome)
    yield dependent(outcome)
    if outcome["control"]:
        yield noise(outcome["control"])
    yield missing(outcome)
    yield from trust(outcome, reader=reader)
    if show_langtest:
        yield langtest(outcome)


def _settings(outcome: Outcome, show: Show) -> Iterator[tuple[str, str]]:
    for name, value in outcome["settings"].items():
        yield show(name.replace("_", " ")), show(json.dumps(value, ensure_ascii=False, default=str))
    yield "scorers", show(", ".join(f"{name} ({count:,})" for name, count in outcome["scorers"].items()))
    yield "data", show(", ".join(filter(None, (outcome["data"]["source"], taken_by(outcome)))))
    yield "data sha256", show(outcome["data"]["sha256"])
    yield "probe version", show(outcome["probe_version"])

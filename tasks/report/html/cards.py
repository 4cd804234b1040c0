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
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.probes.known_errors import READ_BY, UNREAD, step_shares
from contrapose.tasks.probes.panels import Panel
from contrapose.tasks.report import evidence
from contrapose.tasks.report.base import SKIPPED_SHOWN
from contrapose.tasks.report.charts.pictures import scores, trend
from contrapose.tasks.report.html.glossary import Glossary, explanation, setting
from contrapose.tasks.report.html.meter import Bar, Drawn, RateMeter, RowTally, bars, drawn, meter, passage_panel
from contrapose.tasks.report.rows import name_of, taken_by
from contrapose.tasks.text.inline import elided
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import (
    COUNTED,
    columns_read,
    commonest,
    ends,
    first_line,
    further_reason,
    interval,
    noise,
    percent,
    skip_words,
    skips,
    spoken_of,
    sums,
)

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
    """The commonest reasons of skips, and the others as one; shares of all that were skipped."""


def _asked(outcome: Outcome, results: pd.DataFrame, skipped: pd.DataFrame, show: Show) -> AskedSamples:
    counts = skips(outcome["test_type"], outcome["skip_reasons"])
    return AskedSamples(
        count=f"{outcome['cases'] - outcome['skipped']:,} of {outcome['cases']:,} cases",
        confidence=bars(_confidence(results), show),
        reasons=tuple(
            Reason(bar=bar, examples=_examples(outcome["test_type"], skipped, words, show))
            for bar, words in zip(bars(counts, show), counts, strict=True)
        ),
    )


def _confidence(results: pd.DataFrame) -> Mapping[str, int]:
    if "confidence" not in results:
        return {}
    return {str(name): int(count) for name, count in results["confidence"].value_counts().items()}


def _examples(test: str, skipped: pd.DataFrame, words: str, show: Show) -> Pairs:
    # A report without skipped cases holds a frame without columns.
    if "skip_reason" not in skipped:
        return ()
    alike = [row for row, reason in enumerate(skipped["skip_reason"]) if skip_words(test, reason) == words]
    examples = skipped.iloc[alike[:SKIPPED_SHOWN]]
    return tuple(
        (name_of(sample), elided(show(text), head=200, tail=100))
        for sample, text in zip(examples["sample_id"], examples["original"], strict=True)
    )


MOST_CHARTS = 3
"""Distributions of one test: those of the commonest scorers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing with its title."""

    title: Markup
    svg: Markup
    note: str
    """What the marks are."""


def _charts(test: str, tally: RowTally, show: Show, terms: Glossary) -> Iterator[Chart]:
    commonest = sorted(tally.cases, key=lambda name: -sum(map(len, tally.cases[name])))[:MOST_CHARTS]
    for scorer in commonest:
        controls = np.concatenate([np.empty(0), *tally.controls.get(scorer, ())])
        chart = scores(np.concatenate(tally.cases[scorer]), controls, name=f"eval_score of {show(scorer)}")
        if chart is not None:
            outline = "; the dashed line is the controls" if len(controls) else ""
            title = Markup("Scores by {}").format(terms.named(show(scorer), explanation(test, scorer)))
            yield Chart(title=title, svg=chart, note=f"Share of cases by eval_score{outline}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the page tells about one test."""

    name: str
    category: str
    verdict: str
    judged: str
    """How many rows it was judged on."""
    first: str
    """What comes before all else; empty where there is nothing."""
    reason: str
    """What decided."""
    rated: Markup
    """What the rate is called."""
    is_pass_rate: bool
    rate: str
    interval: str
    looks: str
    """How many looks the interval counts; empty where there was only the one at the end."""
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
    terms: Glossary,
    *,
    panels: Sequence[Panel],
    runs: tuple[PastRun, ...],
    show_langtest: bool,
    reader: str,
) -> Card:
    """The card of one test, by its rows without controls, its cases that were not asked, and counts over its rows.

    This run is the last of the runs of its suite; the reader is who was asked what replies choose. What is named on
    the card joins the terms of the page.
    """
    test, shown = outcome["test_type"], evidence.headline(outcome)
    of_all = shown.name == "pass_rate"
    return Card(
        name=name_of(outcome["test_type"]),
        category=show(outcome["category"]),
        verdict=outcome["verdict"],
        judged=taken_by(outcome),
        first=evidence.ended(first_line(outcome)),
        reason=show(further_reason(outcome)),
        rated=terms.general("pass rate") if of_all else _named(outcome, shown.name, show, terms),
        is_pass_rate=of_all,
        rate=percent(shown.rate),
        interval="–" if shown.interval is None else ends(shown.interval),
        looks=evidence.looks(outcome),
        meter=meter(outcome),
        counts=tuple(_counts(outcome, terms)),
        sums=sums(outcome),
        asked=_asked(outcome, results, skipped, show),
        notes=tuple(filter(None, map(evidence.ended, _notes(outcome, show_langtest=show_langtest, reader=reader)))),
        gates=_gates(outcome, show, terms),
        effects=tuple(_effects(outcome, show, terms)),
        refused=tuple(name_of(name) for name in outcome["refused"]),
        figures=_figures(outcome, panels, show, terms),
        slices=tuple((show(part["name"]), evidence.sliced(part)) for part in outcome["slices"]),
        read=tuple(_step(name, share, show) for name, share in step_shares(outcome["figures"]).items()),
        known_errors=tuple(map(evidence.ended, evidence.known_errors(outcome))),
        panels=(*passage_panel(outcome), *(drawn(panel, show) for panel in panels)),
        unscored=bars(outcome["unscored_reasons"], show),
        errors=bars(commonest(tally.errors), show),
        charts=tuple(_charts(test, tally, show, terms)),
        trend=trend(runs, test),
        settings=tuple(_settings(outcome, show, terms)),
    )


def _counts(outcome: Outcome, terms: Glossary) -> Iterator[tuple[str, str]]:
    for name in ("cases", "passed", *COUNTED):
        yield terms.general(name), f"{outcome[name]:,}"  # type: ignore[literal-required]
    if early := early_stop(outcome):
        yield terms.general("not asked"), f"{early['cases'] - early['judged']:,}"


def _gates(outcome: Outcome, show: Show, terms: Glossary) -> Pairs:
    gates = [gate for gate in outcome["gates"] if gate["name"] != evidence.headline(outcome).name]
    further = tuple((_named(outcome, gate["name"], show, terms), evidence.held(gate)) for gate in gates)
    if outcome["min_pass_rate"] is None:
        why = "no gate: where right answers are known, what was noticed among them decides"
        documented = f"{percent(outcome['pass_rate'])} ({interval(outcome)}); {why}"
        return (*further, (terms.general("pass rate", "documented pass rate"), show(documented)))
    gate = terms.general("gate", f"gate {percent(outcome['min_pass_rate'])}")
    return (*further, (gate, show(outcome["gate_basis"])))


def _effects(outcome: Outcome, show: Show, terms: Glossary) -> Iterator[tuple[str, str]]:
    for effect in outcome["effects"]:
        name, value = evidence.subtracted(outcome, effect)
        measured = explanation(outcome["test_type"], effect["measure"])
        text = f"Under the change minus under its control: {measured}" if measured else ""
        yield terms.named(show(name), text), value


def _figures(outcome: Outcome, panels: Sequence[Panel], show: Show, terms: Glossary) -> Pairs:
    """All figures but those that the panels and the bars of the steps show already."""
    shown = {name for panel in panels for name in panel.figures}
    shown |= {name for name in outcome["figures"] if name.startswith(READ_BY) or name == UNREAD}
    figures = ((name, value) for name, value in evidence.figures(outcome) if name not in shown)
    return tuple((_named(outcome, name, show, terms), value) for name, value in figures)


def _named(outcome: Outcome, name: str, show: Show, terms: Glossary) -> Markup:
    return terms.named(show(name.replace("_", " ")), explanation(outcome["test_type"], name))


def _step(name: str, share: float, show: Show) -> Bar:
    return Bar(name=show(name), count="", share=percent(share), width=round(100 * share, 1))


def _notes(outcome: Outcome, *, show_langtest: bool, reader: str) -> Iterator[str]:
    yield from evidence.looked(outcome)
    yield evidence.guessing(outcome)
    yield evidence.dependent(outcome)
    if outcome["control"]:
        yield noise(outcome["control"])
    yield evidence.missing(outcome)
    yield spoken_of(outcome)
    yield from evidence.trust(outcome, reader=reader)
    if show_langtest:
        yield evidence.langtest(outcome)


def _settings(outcome: Outcome, show: Show, terms: Glossary) -> Iterator[tuple[str, str]]:
    test, data = outcome["test_type"], outcome["data"]
    for name, value in outcome["settings"].items():
        text = show(json.dumps(value, ensure_ascii=False, default=str))
        yield terms.named(show(name.replace("_", " ")), show(setting(test, name))), text
    scorers = (
        Markup("{} ({})").format(terms.named(show(name), explanation(test, name)), f"{count:,}")
        for name, count in outcome["scorers"].items()
    )
    yield terms.general("scorers"), Markup(", ").join(scorers)
    yield "data", show(", ".join(filter(None, (data["source"], taken_by(outcome)))))
    if "columns" in data:
        yield "columns", show(columns_read(data["columns"]))
    yield terms.general("data sha256"), show(data["sha256"])
    yield terms.general("version of the test"), show(outcome["probe_version"])

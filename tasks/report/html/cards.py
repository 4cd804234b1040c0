"""Template values of a test's card on the page, with the glossary of the terms on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.registry import is_probe, probe
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.probes.known_errors import READ_BY, UNREAD, name_step_shares
from contrapose.tasks.probes.panels import Bars, Grid, Panel, Quantity
from contrapose.tasks.report import evidence, wordings
from contrapose.tasks.report.base import SKIPPED_SHOWN
from contrapose.tasks.report.charts import draw_scores, draw_trend
from contrapose.tasks.report.evidence import (
    bracket_interval,
    collect_facts,
    explain_term,
    make_sentence,
    make_sentences,
)
from contrapose.tasks.report.html.meter import RowTally, choose_main_rate
from contrapose.tasks.report.passages import describe_passages, tabulate_passages
from contrapose.tasks.report.rows import Pairs, cut_name, show_rows
from contrapose.tasks.text import wording
from contrapose.tasks.text.inline import elide_middle
from contrapose.tasks.text.masking import Show

GENERAL: Mapping[str, str] = {
    "pass rate": "Share of the scored cases that passed. Cases without a score or an answer do not count.",
    "95 % interval": "The true pass rate lies in this range with 95 % confidence, however the cases without a score "
    "would have ended. More cases make it narrower.",
    "gate": "The rate that a test must reach. A test passes with 95 % confidence that it reaches the gate, and fails "
    "with 95 % confidence that it does not. Between the two it is inconclusive.",
    "cases": "Changed samples. Each case is skipped, scored, unscored or an error.",
    "passed": "Scored cases in which the answer did what the test expects.",
    "skipped": "Samples that could not be changed safely; they were not sent to the model.",
    "scored": "Cases whose replies show whether they passed.",
    "unscored": "Answered cases that could not be scored, such as unreadable replies. The verdict does not depend on "
    "them.",
    "not asked": "Cases that were not sent, because the verdict was clear without them.",
    "stopped early": "Tests whose verdict was clear before all cases were asked. Samples are asked in random order, so "
    "the first ones are a fair sample of all.",
    "looks": "How often the rate was compared with the gate, each time after more cases. Several looks need stronger "
    "evidence, so each interval is wider than that of a sample of fixed size. All looks together hold with 95 % "
    "confidence.",
    "errors": "Cases without an answer. An error is never a pass.",
    "effect": "The figure under the change minus the figure under the control, over the same samples. The control "
    "changes only the wording. 0 means no effect.",
    "slice": "Pass rate of the samples that share a tag. The p value is the chance of such a difference from the "
    "others if there were none.",
    "How the choices were read": "Share of the replies that each reading step read. A reply is unreadable if no step "
    "could read it.",
    "How sure the changes are": "Confidence of the rules that the changed text is correct English and means what the "
    "test needs.",
    "score": "What the scorer of the test measured for the sample; the card of the test names the scorer.",
    "latency": "Seconds for a request: p50 is the median; 95 of 100 requests took at most p95.",
    "seed": "Start of every random choice; the same seed gives the same cases.",
    "precision": "Number format of the model's weights, and the device.",
    "revision": "Version of the model that answered.",
    "reader": "The model that reads replies the rules cannot read.",
    "replies with letters": "How the endpoint was made to answer with the letters of the options.",
    "version of the test": "Changes whenever the test would make or score a case differently.",
    "data sha256": "Checksum of the samples; the same data have the same one.",
    "scorers": "What scored the cases, with the number of cases for each.",
}
"""Terms on the page of every run, with their texts."""


def describe_setting(test: str, name: str) -> str:
    """Return the description of a test's setting from its schema, or "" if there is none."""
    described = probe(test).settings_type.model_fields.get(name) if is_probe(test) else None
    return described.description or "" if described else ""


class Glossary:
    """The terms on one page, collected while the page is written; each explanation is stored once."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}

    def add_named(self, name: str, text: str) -> Markup:
        """Return the name as a button that opens its explanation, or the escaped name if the explanation is empty."""
        if not text:
            return escape(name)
        place = self._ids.setdefault((name, text), f"term-{len(self._ids) + 1}")
        button = Markup('<button type="button" class="term" popovertarget="{0}" aria-describedby="{0}">{1}</button>')
        return button.format(place, name)

    def general(self, name: str, shown: str = "") -> Markup:
        """Return the button of a general term; `shown` is its label if that differs from the name."""
        return self.add_named(shown or name, GENERAL.get(name, ""))

    def all(self) -> tuple[tuple[str, str, str], ...]:
        """Return ids, names and explanations; complete only after the rest of the page is written."""
        return tuple((place, name, text) for (name, text), place in self._ids.items())


MOST_CHARTS = 3
"""Distributions of one test: those of the commonest scorers."""

BarItems = list[tuple[str, int, int]]
"""Names with their counts, and what these are counted out of."""


def make_card(
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
) -> dict[str, Any]:
    """Return the values of the template of a test's card.

    Takes the rows without controls, the cases that were not asked, and counts over the rows. This run is the last of
    the runs of its suite. Terms that are named on the card join those of the page.
    """
    test, shown, facts = outcome["test_type"], choose_main_rate(outcome), collect_facts(outcome, reader=reader)
    is_pass_rate = shown.name == "pass_rate"
    notes = (
        facts.reruns,
        facts.asked_again,
        facts.looked,
        facts.guessing,
        facts.dependent,
        facts.noise,
        facts.missing,
        facts.spoken_of,
    )
    sure = results["confidence"].value_counts().items() if "confidence" in results else ()
    return {
        "name": cut_name(test),
        "category": show(outcome["category"]),
        "verdict": outcome["verdict"],
        "judged": show_rows(outcome),
        "first": make_sentence(wording.note_language(outcome)),
        "reason": show(wording.find_further_reason(outcome)),
        "rated": terms.general("pass rate") if is_pass_rate else _name_term(outcome, shown.name, show, terms),
        "is_pass_rate": is_pass_rate,
        "rate": wording.percent(shown.rate),
        "interval": "–" if shown.interval is None else wording.format_interval(shown.interval),
        "looks": evidence.format_looks(outcome),
        "meter": shown,
        "counts": list(_yield_counts(outcome, terms)),
        "sums": facts.sums,
        "asked": f"{outcome['cases'] - outcome['skipped']:,} of {outcome['cases']:,} cases",
        "confidence": make_bar_items({str(name): int(count) for name, count in sure}, show),
        "skips": _list_skips(outcome, skipped, show),
        "notes": list(make_sentences(*notes, facts.trust, facts.langtest if show_langtest else "")),
        "gates": _describe_gates(outcome, show, terms),
        "effects": list(_yield_effects(outcome, show, terms)),
        "refused": list(map(cut_name, outcome["refused"])),
        "figures": list(_figures(outcome, panels, show, terms)),
        "slices": [(show(part["name"]), evidence.describe_slice(part)) for part in outcome["slices"]],
        "read": [(show(name), share) for name, share in name_step_shares(outcome["figures"]).items()],
        "known_errors": list(map(make_sentence, facts.known_errors)),
        "panels": [*_show_passages(outcome), *_show_wordings(outcome), *(_panel(panel, show) for panel in panels)],
        "unscored": make_bar_items(outcome["unscored_reasons"], show),
        "errors": make_bar_items(wording.select_commonest(tally.errors), show),
        "charts": list(_draw_charts(test, tally, show, terms)),
        "trend": draw_trend(runs, test),
        "settings": list(_yield_settings(outcome, show, terms)),
    }


def _figures(outcome: Outcome, panels: Sequence[Panel], show: Show, terms: Glossary) -> Iterator[tuple[Markup, str]]:
    """Yield the names and values of the figures that no panel shows."""
    hidden = {UNREAD}.union(*(panel.figures for panel in panels))
    for name, value in evidence.format_figures(outcome):
        if name not in hidden and not name.startswith(READ_BY):
            yield _name_term(outcome, name, show, terms), value


def make_bar_items(counts: Mapping[str, int], show: Show) -> BarItems:
    """Return counts as bars with lengths relative to their sum, in order."""
    total = sum(counts.values())
    return [(show(name), count, total) for name, count in counts.items()]


def _panel(panel: Panel, show: Show) -> dict[str, Any]:
    """Return the template values of a probe's panel, masked, numbers formatted; the template masks grids."""
    if isinstance(panel, Bars):
        shares = [(show(share.name), share.count, share.total) for share in panel.shares]
        return {"kind": "bars", "title": show(panel.title), "sentence": show(panel.sentence), "shares": shares}
    if isinstance(panel, Grid):
        return {"kind": "grid", "panel": panel}
    rows = [
        (show(name), [show(cell) if isinstance(cell, str) else _format_quantity(cell) for cell in cells])
        for name, cells in panel.rows
    ]
    title, header = show(panel.caption), list(map(show, panel.header))
    return {"kind": "sheet", "title": title, "header": header, "rows": rows, "sentence": "", "note": ""}


def _format_quantity(quantity: Quantity | None) -> str:
    if quantity is None:
        return "–"
    sign = "+" if quantity.is_change and quantity.value > 0 else ""
    return f"{sign}{wording.number(quantity.value)}{bracket_interval(quantity.interval)}"


def _show_passages(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Yield the template values of the panel about retrieved passages; nothing without passages."""
    header, rows = tabulate_passages(outcome)
    if rows:
        first, *others = make_sentences(describe_passages(outcome))
        yield {
            "kind": "sheet",
            "title": "Retrieval or model: results by the passages of both replies",
            "header": header,
            "rows": [(name, quantities) for name, *quantities in rows],
            "sentence": first,
            "note": " ".join(others),
        }


def _show_wordings(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Yield the panels about wordings: rates, and shares of the variance; nothing with a single wording."""
    first, *others = [*make_sentences(wordings.describe_wordings(outcome)), ""]
    texts = {
        "Wordings of the prompt": (wordings.tabulate_wordings(outcome), first),
        "Where the variance comes from": (wordings.tabulate_variance(outcome), ""),
    }
    for title, ((header, rows), said) in texts.items():
        if rows:
            yield {
                "kind": "sheet",
                "title": title,
                "header": header,
                "rows": [(name, quantities) for name, *quantities in rows],
                "sentence": said,
                "note": " ".join(filter(None, others)) if said else "",
            }


def _list_skips(outcome: Outcome, skipped: pd.DataFrame, show: Show) -> list[tuple[str, int, int, Pairs]]:
    """Return the reasons for skipped cases: reason, count, total, and ids and texts of examples."""
    test, counts = outcome["test_type"], wording.count_skips(outcome["test_type"], outcome["skip_reasons"])
    # A report without skipped cases holds a frame without columns.
    rows = skipped[["sample_id", "original", "skip_reason"]].to_numpy().tolist() if "skip_reason" in skipped else []
    items = []
    for (shown, count, total), words in zip(make_bar_items(counts, show), counts, strict=True):
        alike = [(sample, text) for sample, text, reason in rows if wording.skip_words(test, reason) == words]
        examples = (
            (cut_name(sample), elide_middle(show(text), head=200, tail=100)) for sample, text in alike[:SKIPPED_SHOWN]
        )
        items.append((shown, count, total, tuple(examples)))
    return items


def _draw_charts(test: str, tally: RowTally, show: Show, terms: Glossary) -> Iterator[tuple[Markup, Markup, str]]:
    """Yield charts of eval_scores: title, drawing, and legend of its marks."""
    commonest = sorted(tally.cases, key=lambda name: -sum(map(len, tally.cases[name])))[:MOST_CHARTS]
    for scorer in commonest:
        controls = np.concatenate([np.empty(0), *tally.controls.get(scorer, ())])
        chart = draw_scores(np.concatenate(tally.cases[scorer]), controls, name=f"eval_score of {show(scorer)}")
        if chart is not None:
            outline = "; the dashed line is the controls" if len(controls) else ""
            title = Markup("Scores by {}").format(terms.add_named(show(scorer), explain_term(test, scorer)))
            yield title, chart, f"Share of cases by eval_score{outline}."


def _yield_counts(outcome: Outcome, terms: Glossary) -> Iterator[tuple[str, str]]:
    for name in ("cases", "passed", *wording.COUNTED):
        yield terms.general(name), f"{outcome[name]:,}"  # type: ignore[literal-required]
    if early := early_stop(outcome):
        yield terms.general("not asked"), f"{early['cases'] - early['judged']:,}"


def _describe_gates(outcome: Outcome, show: Show, terms: Glossary) -> Pairs:
    """Return the further rates that decide the verdict, and the origin of the pass rate's gate."""
    main = choose_main_rate(outcome).name
    gates = [gate for gate in outcome["gates"] if gate["name"] != main]
    further = tuple((_name_term(outcome, gate["name"], show, terms), evidence.describe_gate(gate)) for gate in gates)
    if outcome["min_pass_rate"] is None:
        why = "no gate: the rates above decide"
        documented = f"{wording.percent(outcome['pass_rate'])} ({wording.format_pass_interval(outcome)}); {why}"
        return (*further, (terms.general("pass rate", "documented pass rate"), show(documented)))
    of_pass_rate = "" if main == "pass_rate" else " of the pass rate"
    gate = terms.general("gate", f"gate{of_pass_rate} {wording.percent(outcome['min_pass_rate'])}")
    return (*further, (gate, show(outcome["gate_basis"])))


def _yield_effects(outcome: Outcome, show: Show, terms: Glossary) -> Iterator[tuple[str, str]]:
    for effect in outcome["effects"]:
        name, value = evidence.format_effect(outcome, effect)
        measured = explain_term(outcome["test_type"], effect["measure"])
        text = f"Under the change minus under the control: {measured}" if measured else ""
        yield terms.add_named(show(name), text), value


def _name_term(outcome: Outcome, name: str, show: Show, terms: Glossary) -> Markup:
    test = outcome["test_type"]
    if name == "pass_rate":
        return terms.general("pass rate")
    return terms.add_named(show(evidence.format_label(test, name)), make_sentence(explain_term(test, name)))


def _yield_settings(outcome: Outcome, show: Show, terms: Glossary) -> Iterator[tuple[str, str]]:
    test, data = outcome["test_type"], outcome["data"]
    for name, value in outcome["settings"].items():
        text = show(json.dumps(value, ensure_ascii=False, default=str))
        yield terms.add_named(show(name.replace("_", " ")), show(describe_setting(test, name))), text
    scorers = (
        Markup("{} ({})").format(terms.add_named(show(name), explain_term(test, name)), f"{count:,}")
        for name, count in outcome["scorers"].items()
    )
    yield terms.general("scorers"), Markup(", ").join(scorers)
    yield "data", show(", ".join(filter(None, (data["source"], show_rows(outcome)))))
    if "columns" in data:
        yield "columns", show(wording.columns_read(data["columns"]))
    yield terms.general("data sha256"), show(data["sha256"])
    yield terms.general("version of the test"), show(outcome["probe_version"])

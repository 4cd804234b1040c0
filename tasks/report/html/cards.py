"""One test as a card of the page, every text ready to be shown, and explanations of the terms that it names."""

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
from contrapose.tasks.probes.known_errors import READ_BY, UNREAD, step_shares
from contrapose.tasks.probes.panels import Bars, Grid, Panel, Quantity
from contrapose.tasks.report import evidence, wordings
from contrapose.tasks.report.base import SKIPPED_SHOWN
from contrapose.tasks.report.charts import scores, trend
from contrapose.tasks.report.evidence import between, explanation, facts_of, label, sentence, sentences_of
from contrapose.tasks.report.html.meter import RowTally, main_rate
from contrapose.tasks.report.passages import passage_table, sentences
from contrapose.tasks.report.rows import Pairs, name_of, taken_by
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


def setting(test: str, name: str) -> str:
    """Return what a setting of a test is, as the form and the suite's schema say it; else empty."""
    described = probe(test).settings_type.model_fields.get(name) if is_probe(test) else None
    return described.description or "" if described else ""


class Glossary:
    """The terms of one page, collected while it is written; each text is there once."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}

    def add_named(self, name: str, text: str) -> Markup:
        """Return the name as a button that opens the text; the bare name, escaped, where there is no text."""
        if not text:
            return escape(name)
        place = self._ids.setdefault((name, text), f"term-{len(self._ids) + 1}")
        button = Markup('<button type="button" class="term" popovertarget="{0}" aria-describedby="{0}">{1}</button>')
        return button.format(place, name)

    def general(self, name: str, shown: str = "") -> Markup:
        """Return the same for a term of every run; `shown` is what the button says, where that is another name."""
        return self.add_named(shown or name, GENERAL.get(name, ""))

    def all(self) -> tuple[tuple[str, str, str], ...]:
        """Return ids, names and texts; complete once everything else is written."""
        return tuple((place, name, text) for (name, text), place in self._ids.items())


MOST_CHARTS = 3
"""Distributions of one test: those of the commonest scorers."""

BarItems = list[tuple[str, int, int]]
"""Names with their counts, and what these are counted out of."""


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
) -> dict[str, Any]:
    """Return the values of the card's template.

    Takes the rows without controls, the cases that were not asked, and counts over the rows. This run is the last of
    the runs of its suite. Terms that are named on the card join those of the page.
    """
    test, shown, facts = outcome["test_type"], main_rate(outcome), facts_of(outcome, reader=reader)
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
        "name": name_of(test),
        "category": show(outcome["category"]),
        "verdict": outcome["verdict"],
        "judged": taken_by(outcome),
        "first": sentence(wording.note_language(outcome)),
        "reason": show(wording.find_further_reason(outcome)),
        "rated": terms.general("pass rate") if is_pass_rate else _name_term(outcome, shown.name, show, terms),
        "is_pass_rate": is_pass_rate,
        "rate": wording.percent(shown.rate),
        "interval": "–" if shown.interval is None else wording.format_interval(shown.interval),
        "looks": evidence.looks(outcome),
        "meter": shown,
        "counts": list(_counts(outcome, terms)),
        "sums": facts.sums,
        "asked": f"{outcome['cases'] - outcome['skipped']:,} of {outcome['cases']:,} cases",
        "confidence": bar_items({str(name): int(count) for name, count in sure}, show),
        "skips": _skips(outcome, skipped, show),
        "notes": list(sentences_of(*notes, facts.trust, facts.langtest if show_langtest else "")),
        "gates": _gates(outcome, show, terms),
        "effects": list(_effects(outcome, show, terms)),
        "refused": list(map(name_of, outcome["refused"])),
        "figures": list(_figures(outcome, panels, show, terms)),
        "slices": [(show(part["name"]), evidence.describe_slice(part)) for part in outcome["slices"]],
        "read": [(show(name), share) for name, share in step_shares(outcome["figures"]).items()],
        "known_errors": list(map(sentence, facts.known_errors)),
        "panels": [*_passages(outcome), *_wordings(outcome), *(_panel(panel, show) for panel in panels)],
        "unscored": bar_items(outcome["unscored_reasons"], show),
        "errors": bar_items(wording.select_commonest(tally.errors), show),
        "charts": list(_charts(test, tally, show, terms)),
        "trend": trend(runs, test),
        "settings": list(_settings(outcome, show, terms)),
    }


def _figures(outcome: Outcome, panels: Sequence[Panel], show: Show, terms: Glossary) -> Iterator[tuple[Markup, str]]:
    """Yield the names and values of the figures that no panel shows."""
    hidden = {UNREAD}.union(*(panel.figures for panel in panels))
    for name, value in evidence.figures(outcome):
        if name not in hidden and not name.startswith(READ_BY):
            yield _name_term(outcome, name, show, terms), value


def bar_items(counts: Mapping[str, int], show: Show) -> BarItems:
    """Return counts as bars of their sum, in their order."""
    total = sum(counts.values())
    return [(show(name), count, total) for name, count in counts.items()]


def _panel(panel: Panel, show: Show) -> dict[str, Any]:
    """Return the values of a panel of the probe, masked, its numbers formatted; a grid is masked by its macro."""
    if isinstance(panel, Bars):
        shares = [(show(share.name), share.count, share.total) for share in panel.shares]
        return {"kind": "bars", "title": show(panel.title), "sentence": show(panel.sentence), "shares": shares}
    if isinstance(panel, Grid):
        return {"kind": "grid", "panel": panel}
    rows = [
        (show(name), [show(cell) if isinstance(cell, str) else _quantity(cell) for cell in cells])
        for name, cells in panel.rows
    ]
    title, header = show(panel.caption), list(map(show, panel.header))
    return {"kind": "sheet", "title": title, "header": header, "rows": rows, "sentence": "", "note": ""}


def _quantity(quantity: Quantity | None) -> str:
    if quantity is None:
        return "–"
    sign = "+" if quantity.is_change and quantity.value > 0 else ""
    return f"{sign}{wording.number(quantity.value)}{between(quantity.interval)}"


def _passages(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Values of the panel about passages; none without passages."""
    header, rows = passage_table(outcome)
    if rows:
        first, *others = sentences_of(sentences(outcome))
        yield {
            "kind": "sheet",
            "title": "Retrieval or model: results by the passages of both replies",
            "header": header,
            "rows": [(name, quantities) for name, *quantities in rows],
            "sentence": first,
            "note": " ".join(others),
        }


def _wordings(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Values of the panels about wordings: rates of each, and shares of the variance; none with one wording."""
    first, *others = [*sentences_of(wordings.sentences(outcome)), ""]
    texts = {
        "Wordings of the prompt": (wordings.wording_table(outcome), first),
        "Where the variance comes from": (wordings.variance_table(outcome), ""),
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


def _skips(outcome: Outcome, skipped: pd.DataFrame, show: Show) -> list[tuple[str, int, int, Pairs]]:
    """Return reasons of skips, with their counts, the count of all, and ids and texts of examples."""
    test, counts = outcome["test_type"], wording.count_skips(outcome["test_type"], outcome["skip_reasons"])
    # A report without skipped cases holds a frame without columns.
    rows = skipped[["sample_id", "original", "skip_reason"]].to_numpy().tolist() if "skip_reason" in skipped else []
    items = []
    for (shown, count, total), words in zip(bar_items(counts, show), counts, strict=True):
        alike = [(sample, text) for sample, text, reason in rows if wording.skip_words(test, reason) == words]
        examples = (
            (name_of(sample), elide_middle(show(text), head=200, tail=100)) for sample, text in alike[:SKIPPED_SHOWN]
        )
        items.append((shown, count, total, tuple(examples)))
    return items


def _charts(test: str, tally: RowTally, show: Show, terms: Glossary) -> Iterator[tuple[Markup, Markup, str]]:
    """Drawings of eval_scores, with their titles and what the marks are."""
    commonest = sorted(tally.cases, key=lambda name: -sum(map(len, tally.cases[name])))[:MOST_CHARTS]
    for scorer in commonest:
        controls = np.concatenate([np.empty(0), *tally.controls.get(scorer, ())])
        chart = scores(np.concatenate(tally.cases[scorer]), controls, name=f"eval_score of {show(scorer)}")
        if chart is not None:
            outline = "; the dashed line is the controls" if len(controls) else ""
            title = Markup("Scores by {}").format(terms.add_named(show(scorer), explanation(test, scorer)))
            yield title, chart, f"Share of cases by eval_score{outline}."


def _counts(outcome: Outcome, terms: Glossary) -> Iterator[tuple[str, str]]:
    for name in ("cases", "passed", *wording.COUNTED):
        yield terms.general(name), f"{outcome[name]:,}"  # type: ignore[literal-required]
    if early := early_stop(outcome):
        yield terms.general("not asked"), f"{early['cases'] - early['judged']:,}"


def _gates(outcome: Outcome, show: Show, terms: Glossary) -> Pairs:
    """Return what the verdict rests on besides the pass rate, and the basis of the gate of the pass rate."""
    main = main_rate(outcome).name
    gates = [gate for gate in outcome["gates"] if gate["name"] != main]
    further = tuple((_name_term(outcome, gate["name"], show, terms), evidence.describe_gate(gate)) for gate in gates)
    if outcome["min_pass_rate"] is None:
        why = "no gate: the rates above decide"
        documented = f"{wording.percent(outcome['pass_rate'])} ({wording.format_pass_interval(outcome)}); {why}"
        return (*further, (terms.general("pass rate", "documented pass rate"), show(documented)))
    of_pass_rate = "" if main == "pass_rate" else " of the pass rate"
    gate = terms.general("gate", f"gate{of_pass_rate} {wording.percent(outcome['min_pass_rate'])}")
    return (*further, (gate, show(outcome["gate_basis"])))


def _effects(outcome: Outcome, show: Show, terms: Glossary) -> Iterator[tuple[str, str]]:
    for effect in outcome["effects"]:
        name, value = evidence.effect_difference(outcome, effect)
        measured = explanation(outcome["test_type"], effect["measure"])
        text = f"Under the change minus under the control: {measured}" if measured else ""
        yield terms.add_named(show(name), text), value


def _name_term(outcome: Outcome, name: str, show: Show, terms: Glossary) -> Markup:
    test = outcome["test_type"]
    if name == "pass_rate":
        return terms.general("pass rate")
    return terms.add_named(show(label(test, name)), sentence(explanation(test, name)))


def _settings(outcome: Outcome, show: Show, terms: Glossary) -> Iterator[tuple[str, str]]:
    test, data = outcome["test_type"], outcome["data"]
    for name, value in outcome["settings"].items():
        text = show(json.dumps(value, ensure_ascii=False, default=str))
        yield terms.add_named(show(name.replace("_", " ")), show(setting(test, name))), text
    scorers = (
        Markup("{} ({})").format(terms.add_named(show(name), explanation(test, name)), f"{count:,}")
        for name, count in outcome["scorers"].items()
    )
    yield terms.general("scorers"), Markup(", ").join(scorers)
    yield "data", show(", ".join(filter(None, (data["source"], taken_by(outcome)))))
    if "columns" in data:
        yield "columns", show(wording.columns_read(data["columns"]))
    yield terms.general("data sha256"), show(data["sha256"])
    yield terms.general("version of the test"), show(outcome["probe_version"])

"""Texts that try to be more than text, and reports made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
from attacks import HOSTILE, HUGE, steering
from factories import Held, effect, frame, outcome, report, row, summary
from markdown_it import MarkdownIt
from past_runs import past_run, past_test

from contrapose.tasks.core.history_records import Change, Facet, History
from contrapose.tasks.core.outcome import Estimate, Summary
from contrapose.tasks.core.records import Call, Calls
from contrapose.tasks.core.slices import Slice
from contrapose.tasks.report.base import Report

__all__ = ["HOSTILE", "HUGE", "TEXTS", "Seen", "everything", "hostile_report", "rendered", "steering"]

FACETS: tuple[Facet, ...] = ("model", "data", "prompt", "scorer", "library")

TEXTS = (
    *("test_type", "category", "sample_id", "case_id", "original", "test_case", "options", "expected_result"),
    *("actual_result", "reason", "scorer", "model", "probe_version", "confidence", "slice", "cluster"),
    *("article_sentence", "outcome"),
)


class Seen(HTMLParser):
    """Elements, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(markdown: str) -> str:
    """Markdown as a host would show it."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)


def hostile_report(text: str) -> Report:
    """A report with the text in every place that could hold one."""
    columns = dict.fromkeys(TEXTS, text)
    # One passage of both replies, and one of each alone.
    columns |= {
        "expected_passages": json.dumps([text, f"{text} before"]),
        "actual_passages": json.dumps([text, f"after {text}"]),
    }
    rows = [row(**columns), row(**columns, error=text) | {"pass": None, "eval_score": None}]
    skipped = pd.DataFrame([dict.fromkeys(("test_type", "sample_id", "original", "skip_reason"), text)], dtype=object)
    return Report(
        summary=_summary(text), results=Held(frame(rows)), skipped=skipped, history=_history(text), calls=_calls(text)
    )


def everything(texts: Sequence[str]) -> Report:
    """One report in which each text has a card and a row."""
    reports = [hostile_report(text) for text in texts]
    rows = [record for one in reports for record in one.results.rows.to_dict("records")]  # type: ignore[attr-defined]
    tests = [test for one in reports for test in one.summary["tests"]]
    warnings = [text for one in reports for text in one.summary["warnings"]]
    merged = reports[-1].summary | {"tests": tests, "warnings": warnings}
    changes = tuple(change for one in reports for change in one.history.changes)
    history = replace(reports[0].history, changes=changes)
    return report(results=frame(rows), summary=merged, history=history, calls=reports[0].calls)


def _summary(text: str) -> Summary:
    made = outcome(
        test_type=text,
        category=text,
        reason=text,
        skip_reasons={text: 1},
        refused=[text],
        settings={text: [text]},
        scorers={text: 1},
        figures={text: 1.5},
        estimates={text: Estimate(value=1.5, interval=(1.0, 2.0), rows=2, clusters=2, among="")},
        effects=[effect(name=text, measure=text)],
        slices=[Slice(name=text, scored=2, passed=1, pass_rate=0.5, interval=(0.1, 0.9), p=0.8)],
        data={"source": text, "sha256": text, "rows": 1},
        probe_version=text,
    )
    return summary(
        tests=[made],
        reason=text,
        suite=text,
        run_id=text,
        started=text,
        contrapose=text,
        warnings=[text],
        model=dict.fromkeys(("id", "provider", "revision", "dtype", "device"), text),
    )


def _history(text: str) -> History:
    test = past_test(test_type=text, verdict="fail", pass_rate=0.5, interval=(0.1, 0.9), scored=9)
    named = dict.fromkeys(("run_id", "suite", "model", "started"), text)
    past = past_run(**named, verdict="fail", tests=[test], made_of={facet: {text: text} for facet in FACETS})
    changes = tuple(Change(facet=facet, name=text, before=text, after=text) for facet in FACETS)
    return History(runs=(past, past), green=past, previous=past, changes=changes)


def _calls(text: str) -> Calls:
    made = Call(prompt=text, seconds=1.5, prompt_tokens=12, completion_tokens=3, cost=0.01)
    return Calls(slowest=(made,), dearest=(made,))

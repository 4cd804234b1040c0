"""report.html: one file that needs nothing else, neither network nor server."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pandas as pd
from markupsafe import Markup

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.evidence import reader_of
from contrapose.tasks.report.failures import shown_failures
from contrapose.tasks.report.html.cards import Card, card
from contrapose.tasks.report.html.glossary import Glossary
from contrapose.tasks.report.html.head import OpeningEvidence, asks, evidence_of, first_rows, head
from contrapose.tasks.report.html.meter import tallies
from contrapose.tasks.report.html.sample_data import SampleData, fitting
from contrapose.tasks.report.passages import MARKS
from contrapose.tasks.report.rows import left_out, name_of, of_test, outcomes, tested
from contrapose.tasks.report.since import since
from contrapose.tasks.report.templates import PAGE, read, source_hash, style, template
from contrapose.tasks.text.masking import Show, shower

SCRIPTS = ("data.js", "parts.js", "paging.js", "page.js", "share.js")

PIECES = 256
"""Parts of the template that are written at once."""


def render(report: Report) -> Iterator[bytes]:
    """The page in pieces: verdict, what decides each test, a card per test, and the samples, searchable.

    Everything that is shown first is masked and cleaned here. The samples travel as packed data, a part of the
    results at a time; toxic words are raw in there, and the script masks them until its reader reveals them. The
    content security policy allows the one style sheet and the one script by their hashes, and nothing else.
    """
    show, terms = shower(show_toxic=report.show_toxic), Glossary()
    figures = report.results.figures
    places = fitting(figures)
    island = SampleData(
        results=report.results,
        places=places,
        prompts=report.prompts(),
        before_prompts=report.before_prompts,
        show_toxic=report.show_toxic,
        show_langtest=report.show_langtest,
    )
    stream = template(__package__, PAGE).stream(
        head=head(report.summary, show),
        since=since(report.summary, report.history, show),
        cards=list(_cards(report, figures, show, terms)),
        terms=terms,
        asks=asks(report.calls, show),
        left_out=[rows.shown(show) for rows in left_out(report.summary["tests"])],
        warnings=[show(text) for text in report.summary["warnings"]],
        evidence=list(_evidence(report, show)),
        first_rows=first_rows(report.results, figures, places, show, show_langtest=report.show_langtest),
        controls=len(figures.loc[places]) - len(tested(figures.loc[places])),
        shown=len(places),
        total=len(figures),
        show_toxic=report.show_toxic,
        island=island,
        marks=MARKS,
        **_inlined(),
    )
    stream.enable_buffering(PIECES)
    return (piece.encode() for piece in stream)


def _evidence(report: Report, show: Show) -> Iterator[OpeningEvidence]:
    for outcome in report.summary["tests"]:
        test = outcome["test_type"]
        became = outcomes(tested(of_test(report.results.figures, test))).value_counts()
        first = next(iter(shown_failures(test, report.failures[test].head(1), show)), None)
        yield evidence_of(outcome, first, failed=int(became.get("fail", 0)), wrong=int(became.get("wrong before", 0)))


def _cards(report: Report, figures: pd.DataFrame, show: Show, terms: Glossary) -> Iterator[Card]:
    counted = tallies(report.results.parts())
    for test in report.summary["tests"]:
        name = test["test_type"]
        yield card(
            test,
            tested(of_test(figures, name)),
            of_test(report.skipped, name),
            counted[name],
            show,
            terms,
            panels=report.panels.get(name, ()),
            runs=report.history.runs,
            show_langtest=report.show_langtest,
            reader=name_of(reader_of(report.summary)),
        )


@cache
def _inlined() -> dict[str, Markup | str]:
    script = "\n".join(['"use strict";', *(read(__package__, name) for name in SCRIPTS)])
    return {
        "style": Markup(style()),  # noqa: S704 (a file of this package)
        "script": Markup(script),  # noqa: S704 (files of this package)
        "style_hash": source_hash(style()),
        "script_hash": source_hash(script),
    }

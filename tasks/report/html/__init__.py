"""report.html: one file that needs nothing else, neither network nor server."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.evidence import reader_of
from contrapose.tasks.report.html.cards import Card, card
from contrapose.tasks.report.html.head import asks, first_rows, head, line
from contrapose.tasks.report.html.meter import tallies
from contrapose.tasks.report.html.sample_data import SampleData, fitting
from contrapose.tasks.report.rows import left_out, name_of, of_test, tested
from contrapose.tasks.report.since import since
from contrapose.tasks.text.masking import Show, shower

SCRIPTS = ("diff.js", "data.js", "page.js")

PIECES = 256
"""Parts of the template that are written at once."""


def render(report: Report) -> Iterator[bytes]:
    """The page in pieces: verdict, what decides each test, a card per test, and the samples, searchable.

    Everything that is shown first is masked and cleaned here. The samples travel as packed data, a part of the
    results at a time; toxic words are raw in there, and the script masks them until its reader reveals them. The
    content security policy allows the one style sheet and the one script by their hashes, and nothing else.
    """
    show = shower(show_toxic=report.show_toxic)
    figures = report.results.figures
    places = fitting(figures)
    island = SampleData(
        results=report.results, places=places, show_toxic=report.show_toxic, show_langtest=report.show_langtest
    )
    stream = _template().stream(
        head=head(report.summary, show),
        lines=[line(test, show) for test in report.summary["tests"]],
        since=since(report.summary, report.history, show),
        cards=list(_cards(report, figures, show)),
        asks=asks(report.calls, show),
        left_out=[found.shown(show) for found in left_out(report.summary["tests"])],
        warnings=[show(text) for text in report.summary["warnings"]],
        first_rows=first_rows(report.results, figures, places, show, show_langtest=report.show_langtest),
        controls=len(figures.loc[places]) - len(tested(figures.loc[places])),
        shown=len(places),
        total=len(figures),
        show_toxic=report.show_toxic,
        island=island,
        **_inlined(),
    )
    stream.enable_buffering(PIECES)
    return (piece.encode() for piece in stream)


def _cards(report: Report, figures: pd.DataFrame, show: Show) -> Iterator[Card]:
    counted = tallies(report.results.parts())
    for test in report.summary["tests"]:
        name = test["test_type"]
        yield card(
            test,
            tested(of_test(figures, name)),
            of_test(report.skipped, name),
            counted[name],
            show,
            panels=report.panels.get(name, ()),
            runs=report.history.runs,
            show_langtest=report.show_langtest,
            reader=name_of(reader_of(report.summary)),
        )


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_read)
    )
    return environment.get_template("page.html.j2")


@cache
def _inlined() -> dict[str, Markup | str]:
    style = _read("style.css")
    script = "\n".join(['"use strict";', *map(_read, SCRIPTS)])
    return {
        "style": Markup(style),  # noqa: S704 (a file of this package)
        "script": Markup(script),  # noqa: S704 (files of this package)
        "style_hash": _source_hash(style),
        "script_hash": _source_hash(script),
    }


def _source_hash(text: str) -> str:
    """How a content security policy names an inline source."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")

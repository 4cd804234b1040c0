"""report.html: one file that needs nothing else, neither network nor server."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

import pandas as pd
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.html.cards import card
from contrapose.tasks.report.html.head import head
from contrapose.tasks.report.html.island import page_rows, to_island
from contrapose.tasks.report.masking import shower
from contrapose.tasks.report.rows import tested

FIRST_ROWS = 20
"""Rows that are there without the script too."""


def render(report: Report) -> bytes:
    """The page: verdict, a card per test, and the samples, searchable.

    Texts are masked and cleaned here, so that raw ones are not in the file at all. The content security
    policy allows the one style sheet and the one script by their hashes, and nothing else.
    """
    show = shower(show_toxic=report.show_toxic)
    figures, rows = report.results.figures, page_rows(report.results, show, show_langtest=report.show_langtest)
    page = _template().render(
        head=head(report.summary, show),
        cards=[
            card(
                test,
                tested(_of(figures, test["test_type"])),
                _of(report.skipped, test["test_type"]),
                show,
                show_langtest=report.show_langtest,
            )
            for test in report.summary["tests"]
        ],
        warnings=[show(text) for text in report.summary["warnings"]],
        first_rows=[each for each in rows if not each.row.control][:FIRST_ROWS],
        controls=sum(each.row.control for each in rows),
        shown=len(rows),
        total=len(figures),
        show_toxic=report.show_toxic,
        island=Markup(to_island(rows)),  # noqa: S704 (the island escapes itself)
        **_inlined(),
    )
    return page.encode()


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_read("page.html.j2"))


@cache
def _inlined() -> dict[str, Markup | str]:
    style, script = _read("style.css"), _read("script.js")
    return {
        "style": Markup(style),  # noqa: S704 (a file of this package)
        "script": Markup(script),  # noqa: S704 (a file of this package)
        "style_hash": _source_hash(style),
        "script_hash": _source_hash(script),
    }


def _source_hash(text: str) -> str:
    """How a content security policy names an inline source."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _of(frame: pd.DataFrame, test: str) -> pd.DataFrame:
    return frame[frame["test_type"] == test] if "test_type" in frame else frame

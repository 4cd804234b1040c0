"""What `contrapose view` serves: the list of runs, their history, and the files of the folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

from markupsafe import Markup

from contrapose.flows.serve.guard import CLOSED
from contrapose.flows.serve.report_server import PageReply
from contrapose.flows.serve.view.runs import Listed, file_reply, listed, run_names
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.history.queries import runs
from contrapose.tasks.history.reading import recorded
from contrapose.tasks.history.series import Point, Series, series
from contrapose.tasks.report import templates
from contrapose.tasks.report.charts.pictures import trend
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import moment, percent

FILES = "/files/"
"""Under which the folder is served."""

RUNS_SHOWN = 50
SERIES_SHOWN = 12
"""On a page."""

MOST_RUNS = 40
"""Of a model in a suite, in the history; the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The site."""

    root: Path
    """Folder of runs, resolved."""
    history: str
    """Folder or URL of the history."""

    def __call__(self, path: str) -> PageReply | None:
        """The reply to a path; None where there is nothing."""
        if path.startswith(FILES):
            return file_reply(self.root, path.removeprefix(FILES).partition("?")[0])
        name, _, query = path.partition("?")
        maker = {"/": self._runs, "/history": self._history}.get(name)
        if maker is None:
            return None
        return PageReply(content=maker(_number(query), shower(show_toxic=False)), policy=policy())

    def _runs(self, number: int, show: Show) -> bytes:
        try:
            names = run_names(self.root)
        except OSError:
            names = []
        pages = Pages.over(len(names), number, RUNS_SHOWN)
        return runs_page(listed(self.root, names[pages.first : pages.end], show, files=FILES), pages)

    def _history(self, number: int, show: Show) -> bytes:
        shown, warning = self._series()
        pages = Pages.over(len(shown), number, SERIES_SHOWN)
        return history_page(shown[pages.first : pages.end], show, pages, warning=show(warning))

    def _series(self) -> tuple[list[Series], str]:
        try:
            history = recorded(self.history)
        except ContraposeError as error:
            return [], str(error)
        return series(runs(history.rows, last=MOST_RUNS)), history.warning


def _number(query: str) -> int:
    """The number of the page that is asked for; the first where it is none."""
    text = parse_qs(query[:100]).get("page", ["1"])[0]
    return int(text) if text.isascii() and text.isdecimal() else 1


def style() -> str:
    """The report's style sheet, and what only these pages have."""
    return templates.style(__package__, "view.css")


def policy() -> str:
    """What these pages may do: use the one style sheet, named by its hash, and run no script at all."""
    return f"{CLOSED}; style-src '{templates.source_hash(style())}'; img-src data:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """One page among several."""

    number: int
    """From 1."""
    count: int
    """At least 1."""
    total: int
    """Items on all of them."""
    first: int
    """Place of the first item here."""
    end: int
    """Place after the last one here."""

    @classmethod
    def over(cls, total: int, number: int, size: int) -> Self:
        """The page of that number, or else the nearest one that there is."""
        count = max(1, -(-total // size))
        chosen = min(max(number, 1), count)
        return cls(number=chosen, count=count, total=total, first=(chosen - 1) * size, end=min(chosen * size, total))


def runs_page(runs: Sequence[Listed], pages: Pages) -> bytes:
    """The list of runs."""
    return _rendered("runs.html.j2", here="runs", found=runs, pages=pages)


def history_page(shown: Sequence[Series], show: Show, pages: Pages, *, warning: str = "") -> bytes:
    """Pass rates over time, a card for each test of each model."""
    cards = [_card(drawn_series, show) for drawn_series in shown]
    return _rendered("history.html.j2", here="history", found=cards, pages=pages, warning=warning)


def _card(drawn_series: Series, show: Show) -> dict[str, Any]:
    last = drawn_series.points[-1]
    return {
        "test": show(drawn_series.test),
        "model": show(drawn_series.model),
        "suite": show(drawn_series.suite),
        "verdict": last.test["verdict"],
        "rate": percent(last.test["pass_rate"]),
        "chart": _drawn(json.dumps([_drawable(point) for point in drawn_series.points]), drawn_series.test),
        "points": [_row(point, show) for point in reversed(drawn_series.points)],
    }


def _drawable(point: Point) -> dict[str, Any]:
    """What a chart depends on."""
    return {"model": point.run["model"], "started": point.run["started"], "tests": [point.test]}


@lru_cache(maxsize=512)
def _drawn(runs: str, test: str) -> Markup | None:
    """The chart of some runs, as JSON. Drawing takes longer than all the rest, and most charts stay what they are."""
    return trend(tuple(json.loads(runs)), test)


def _row(point: Point, show: Show) -> dict[str, Any]:
    ends = point.test["interval"]
    return {
        "started": show(point.run["started"]),
        "moment": show(moment(point.run["started"])),
        "verdict": point.test["verdict"],
        "rate": percent(point.test["pass_rate"]),
        "interval": "–" if ends is None else f"{100 * ends[0]:.1f}–{100 * ends[1]:.1f}%",
        "gate": percent(point.test["min_pass_rate"]),
        "changed": ", ".join(point.changed) or "–",
    }


def _rendered(name: str, **values: Any) -> bytes:
    text = templates.template(__package__, name).render(style=Markup(style()), **values)  # noqa: S704 (files of this package)
    return text.encode()

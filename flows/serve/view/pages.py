"""The pages of `contrapose view`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from markupsafe import Markup

from contrapose.flows.serve.guard import CLOSED
from contrapose.flows.serve.view.runs import Listed
from contrapose.tasks.history.series import Point, Series
from contrapose.tasks.report import templates
from contrapose.tasks.report.charts.scores import trend
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import moment, percent


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

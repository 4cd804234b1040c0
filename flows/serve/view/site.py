"""What `contrapose view` serves: the list of runs, their history, and the files of the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode

from markupsafe import Markup

from contrapose.flows.serve.guard import CLOSED
from contrapose.flows.serve.report_server import ENCLOSED, PageReply
from contrapose.flows.serve.view.on_demand import compared_page, text_page
from contrapose.flows.serve.view.runs import Listed, file_reply, listed, run_names
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.stopping import asked_of, early_stop
from contrapose.tasks.history.queries import runs
from contrapose.tasks.history.reading import recorded
from contrapose.tasks.history.series import Point, Series, series
from contrapose.tasks.report import templates
from contrapose.tasks.report.charts.pictures import trend
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import moment, percent

FILES, TEXTS = "/files/", "/text/"
"""Under which the folder is served, and its Markdown as pages."""

LONGEST_QUERY = 4_000
"""Characters of an address after its path."""

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
        name, _, text = path.partition("?")
        query = parse_qs(text[:LONGEST_QUERY])
        if name.startswith(FILES):
            return file_reply(self.root, name.removeprefix(FILES))
        if name.startswith(TEXTS):
            return self._text(name.removeprefix(TEXTS))
        if name == "/compare":
            return self._compared(query.get("run", []))
        maker = {"/": self._runs, "/history": self._history}.get(name)
        return None if maker is None else PageReply(content=maker(query, masked()), policy=policy())

    def _runs(self, query: Query, show: Show) -> bytes:
        try:
            names = run_names(self.root)
        except OSError:
            names = []
        every = listed(self.root, names, show, files=FILES, texts=TEXTS)
        filters = [RunFilter.of(name, every, query) for name in FILTERED]
        matching = [run for run in every if all(filter_of_runs.lets(run) for filter_of_runs in filters)]
        pages = Pages.over(len(matching), _number(query), RUNS_SHOWN)
        return runs_page(matching[pages.first : pages.end], pages, filters=filters, total=len(every))

    def _compared(self, names: Sequence[str]) -> PageReply:
        try:
            return PageReply(content=compared_page(self.root, names), policy=ENCLOSED)
        except ContraposeError as error:
            text = Markup("<p>{}</p>").format(masked()(str(error)))
            return PageReply(content=_rendered("text.html.j2", title="Not compared", text=text), policy=policy())

    def _text(self, path: str) -> PageReply | None:
        text = text_page(self.root, path)
        if text is None:
            return None
        title = masked()(" / ".join(map(unquote, path.split("/"))))
        return PageReply(content=_rendered("text.html.j2", title=title, text=text), policy=policy())

    def _history(self, query: Query, show: Show) -> bytes:
        shown, warning = self._series()
        pages = Pages.over(len(shown), _number(query), SERIES_SHOWN)
        return history_page(shown[pages.first : pages.end], show, pages, warning=show(warning))

    def _series(self) -> tuple[list[Series], str]:
        try:
            history = recorded(self.history)
        except ContraposeError as error:
            return [], str(error)
        return series(runs(history.rows, last=MOST_RUNS)), history.warning


Query = Mapping[str, Sequence[str]]
"""Parameters of an address."""


def _number(query: Query) -> int:
    """The number of the page that is asked for; the first where it is none."""
    text = query.get("page", ["1"])[0][:20]
    return int(text) if text.isascii() and text.isdecimal() else 1


FILTERED = ("verdict", "model", "suite")
"""By what runs can be filtered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """One way to filter runs."""

    name: str
    values: tuple[str, ...]
    """What there is to choose from, as it is shown."""
    chosen: str
    """Empty: all."""

    @classmethod
    def of(cls, name: str, runs: Sequence[Listed], query: Query) -> Self:
        """The filter over some runs, with what is asked for; values that no run has are passed over."""
        values = tuple(sorted({getattr(run, name) for run in runs} - {""}))
        asked = query.get(name, [""])[0]
        return cls(name=name, values=values, chosen=asked if asked in values else "")

    def lets(self, run: Listed) -> bool:
        """Whether a run is among those that are asked for."""
        return not self.chosen or getattr(run, self.name) == self.chosen


@cache
def masked() -> Show:
    """What makes texts fit to be seen here."""
    return shower(show_toxic=False)


def style() -> str:
    """The report's style sheet, and what only these pages have."""
    return templates.style(__package__, "view.css")


def policy() -> str:
    """What these pages may do: use the one style sheet, named by its hash, and run no script at all."""
    own = CLOSED.replace("form-action 'none'", "form-action 'self'")
    return f"{own}; style-src '{templates.source_hash(style())}'; img-src data:"


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


def runs_page(runs: Sequence[Listed], pages: Pages, *, filters: Sequence[RunFilter], total: int) -> bytes:
    """The list of runs, those on one page of all that match; `total` counts the others too."""
    chosen = {item.name: item.chosen for item in filters if item.chosen}
    kept = f"{urlencode(chosen)}&" if chosen else ""
    return _rendered("runs.html.j2", here="runs", found=runs, pages=pages, filters=filters, total=total, kept=kept)


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
        "asked": asked_of(early) if (early := early_stop(last.test)) else "",
        "caution": drawn_series.caution,
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
    ends, early = point.test["interval"], early_stop(point.test)
    return {
        "started": show(point.run["started"]),
        "moment": show(moment(point.run["started"])),
        "verdict": point.test["verdict"],
        "rate": percent(point.test["pass_rate"]),
        "asked": asked_of(early) if early else "",
        "interval": "–" if ends is None else f"{100 * ends[0]:.1f}–{100 * ends[1]:.1f}%",
        "gate": percent(point.test["min_pass_rate"]),
        "changed": ", ".join(point.changed) or "–",
    }


def _rendered(name: str, **values: Any) -> bytes:
    common = {"style": Markup(style()), "here": "", "kept": "", "pages": None}  # noqa: S704 (files of this package)
    text = templates.template(__package__, name).render(common | values)
    return text.encode()

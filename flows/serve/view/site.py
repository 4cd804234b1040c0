"""The site of `contrapose view`: the list of runs, their history, comparisons, and the files of the folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode

from markdown_it import MarkdownIt
from markupsafe import Markup

from contrapose.flows.serve.guard import CLOSED
from contrapose.flows.serve.report_server import ENCLOSED, PageReply
from contrapose.flows.serve.view.runs import FILES, TEXTS, find_below, find_requested_file, list_runs, reply_with_file
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import find_flips
from contrapose.tasks.core.errors import ComparisonError, ContraposeError
from contrapose.tasks.core.history_records import list_past_criteria
from contrapose.tasks.core.stopping import describe_asked_cases, early_stop
from contrapose.tasks.history.queries import Series, make_series, select_runs
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.report import comparison_page, templates
from contrapose.tasks.report.charts import draw_trend
from contrapose.tasks.text.masking import Show, make_shower
from contrapose.tasks.text.wording import criterion_text, format_moment, percent

LONGEST_QUERY = 4_000
"""Characters of an address after its path."""

RUNS_SHOWN = 50
SERIES_SHOWN = 12
"""Items of a page."""

MOST_RUNS = 40
"""Newest runs of a model in a suite that the history shows."""

FILTERED = ("verdict", "model", "suite")
"""Fields by which runs can be filtered."""

MOST_COMPARED = 8
"""Runs in one comparison."""

COMPARED_FILES = ("summary.json", "manifest.json", "cases.parquet", "results.parquet")

LONGEST_TEXT = 5_000_000
"""Bytes of a text that is shown as a page."""

OWN_TAGS = re.compile(r"<(?!/?(?:b|br|details|summary)>)")
"""Begins everything but the tags of a report's own Markdown, which have no attributes."""

Query = Mapping[str, Sequence[str]]
"""Parameters of an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """One page of a long list, with its number."""

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
        """Return the page with that number, or else the nearest one."""
        count = max(1, -(-total // size))
        chosen = min(max(number, 1), count)
        return cls(number=chosen, count=count, total=total, first=(chosen - 1) * size, end=min(chosen * size, total))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """One way to filter runs."""

    name: str
    values: tuple[str, ...]
    """Values to choose from, as they are shown."""
    chosen: str
    """Empty: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The site: it answers each path below a folder of runs."""

    root: Path
    """Folder of runs, resolved."""
    history: str
    """Folder or URL of the history."""

    def __call__(self, path: str) -> PageReply | None:
        """Return the reply to a path; None if there is no such page."""
        name, _, text = path.partition("?")
        query, show = parse_qs(text[:LONGEST_QUERY]), _make_show()
        if name.startswith(FILES):
            return reply_with_file(self.root, name.removeprefix(FILES))
        if name.startswith(TEXTS):
            below = name.removeprefix(TEXTS)
            markup, title = render_markdown(self.root, below), show(" / ".join(map(unquote, below.split("/"))))
            return None if markup is None else _render("text.html.j2", title=title, text=markup)
        if name == "/compare":
            try:
                return PageReply(content=render_comparison(self.root, query.get("run", [])), policy=ENCLOSED)
            except ContraposeError as error:
                return _render("text.html.j2", title="Not compared", text=Markup("<p>{}</p>").format(show(str(error))))
        page = query.get("page", ["1"])[0][:20]
        number = int(page) if page.isascii() and page.isdecimal() else 1
        if name == "/":
            return self._render_runs(query, number, show)
        return self._render_history(number, show) if name == "/history" else None

    def _render_runs(self, query: Query, number: int, show: Show) -> PageReply:
        """Return the page of the list with the matching runs."""
        listed, filters = list_runs(self.root, show), list[RunFilter]()
        for name in FILTERED:
            # A value that no run has is ignored.
            values, asked = tuple(sorted({getattr(run, name) for run in listed} - {""})), query.get(name, [""])[0]
            filters.append(RunFilter(name=name, values=values, chosen=asked if asked in values else ""))
        chosen = {item.name: item.chosen for item in filters if item.chosen}
        matching = [run for run in listed if all(getattr(run, name) == value for name, value in chosen.items())]
        pages = ListPage.over(len(matching), number, RUNS_SHOWN)
        return _render(
            "runs.html.j2",
            here="runs",
            found=matching[pages.first : pages.end],
            pages=pages,
            filters=filters,
            total=len(listed),
            kept=f"{urlencode(chosen)}&" if chosen else "",
        )

    def _render_history(self, number: int, show: Show) -> PageReply:
        """Return pass rates over time, a card for each test of each model."""
        shown, warning = list[Series](), ""
        try:
            history = read_history(self.history)
        except ContraposeError as error:
            warning = str(error)
        else:
            shown, warning = make_series(select_runs(history.rows, last=MOST_RUNS)), history.warning
        pages = ListPage.over(len(shown), number, SERIES_SHOWN)
        cards = [_make_card(one, show) for one in shown[pages.first : pages.end]]
        return _render("history.html.j2", here="history", found=cards, pages=pages, warning=show(warning))


@cache
def _make_show() -> Show:
    """Return the function that masks and escapes texts for these pages."""
    return make_shower(show_toxic=False)


def _make_card(one: Series, show: Show) -> dict[str, Any]:
    last = one.points[-1]
    rows = []
    for point in reversed(one.points):
        stopping, (first, *others) = early_stop(point.test), list_past_criteria(point.test)
        low, high = first["low"], first["high"]
        rows.append(
            {
                "started": show(point.run["started"]),
                "moment": show(format_moment(point.run["started"])),
                "verdict": point.test["verdict"],
                "rate": percent(first["rate"]),
                "name": show(first["name"].replace("_", " ")),
                "others": [show(criterion_text(other)) for other in others],
                "asked": describe_asked_cases(stopping) if stopping else "",
                "interval": "–" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}%",
                "gate": percent(first["gate"]),
                "changed": ", ".join(point.changed) or "–",
            }
        )
    return {
        "test": show(one.test),
        "model": show(one.model),
        "suite": show(one.suite),
        "verdict": last.test["verdict"],
        "rate": rows[0]["rate"],
        "name": rows[0]["name"],
        "gate": rows[0]["gate"],
        "others": rows[0]["others"],
        "chart": draw_trend(tuple({**point.run, "tests": [point.test]} for point in one.points), one.test),
        "asked": rows[0]["asked"],
        "caution": one.caution,
        "points": rows,
    }


def _render(name: str, **values: Any) -> PageReply:
    """Render a template as a page with one style sheet, named by its hash, and without scripts."""
    style = templates.read_style(__package__, "view.css")
    own = CLOSED.replace("form-action 'none'", "form-action 'self'")
    common = {"style": Markup(style), "here": "", "kept": "", "pages": None}  # noqa: S704 (files of this package)
    content = templates.load_template(__package__, name).render(common | values).encode()
    return PageReply(content=content, policy=f"{own}; style-src '{templates.hash_source(style)}'; img-src data:")


def render_comparison(root: Path, names: Sequence[str]) -> bytes:
    """Return the page that compares some runs; the oldest is the baseline.

    Raises ComparisonError if too few or too many runs are named, or they cannot be compared.
    """
    remedy, folders = "Go back, and tick the runs that are to be compared.", list[str]()
    for name in map(unquote, dict.fromkeys(names)):
        # Each of its files on its own: a link may lead elsewhere.
        if not all(find_below(root, [name, file]) for file in COMPARED_FILES):
            raise ComparisonError(f"{name!r} is no finished run here", expected="runs of this folder", remedy=remedy)
        folders.append(str(root / name))
    if not 2 <= len(folders) <= MOST_COMPARED:
        raise ComparisonError(f"{len(folders)} runs are ticked", expected=f"2 to {MOST_COMPARED}", remedy=remedy)
    comparison = compare(sorted(folders))
    return comparison_page.render(comparison, find_flips(comparison))


def render_markdown(root: Path, path: str) -> Markup | None:
    """Return a Markdown file below a folder as HTML without links and pictures, with only a report's own markup."""
    file = find_requested_file(root, path)
    if file is None or file.suffix.lower() != ".md" or file.stat().st_size > LONGEST_TEXT:
        return None
    reader = _make_reader()
    tokens = reader.parse(file.read_text("utf-8", errors="replace"))
    for token in tokens:
        # The policy of the page allows no style but that of its sheet.
        if "right" in str(token.attrs.pop("style", "")):
            token.attrSet("class", "number")
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704 (the reader escapes it)


@cache
def _make_reader() -> MarkdownIt:
    def escape(_renderer: Any, tokens: Sequence[Any], place: int, _options: Any, _env: Any) -> str:
        return OWN_TAGS.sub("&lt;", tokens[place].content)

    reader = MarkdownIt("commonmark").enable("table").disable(["link", "image", "autolink", "reference"])
    reader.add_render_rule("html_inline", escape)
    reader.add_render_rule("html_block", escape)
    return reader

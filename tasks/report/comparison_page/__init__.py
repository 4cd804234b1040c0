"""comparison.html: models side by side, and the cases that flipped; and the files of a comparison's folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from markupsafe import Markup

from contrapose.tasks.core.comparison import (
    COLOURS,
    DEFINITIONS,
    Comparison,
    Contest,
    FlipCount,
    Flips,
    Standing,
    judged,
)
from contrapose.tasks.core.damage import folder_as_above, put_in_place
from contrapose.tasks.report import comparison_markdown
from contrapose.tasks.report.comparison_markdown import against, allowed, asked, differing, unpaired
from contrapose.tasks.report.comparison_page.flip_data import packed_flips, shown_flips
from contrapose.tasks.report.html.meter import RateMeter, rate_meter
from contrapose.tasks.report.publish import unwritable
from contrapose.tasks.report.summary import to_json
from contrapose.tasks.report.templates import PAGE, SHARED, read, source_hash, style, template
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import ends, percent

FIRST_FLIPS = 20
"""Flips that are there without the script too."""

NONE = FlipCount(lost=0, gained=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """One model in one test; every text is fit to be seen."""

    model: str
    rate: str
    interval: str
    meter: RateMeter
    scored: str
    difference: str
    """To the baseline, in points, with its interval; empty for the baseline."""
    verdict: str
    """Against the baseline; empty for it."""
    colour: str
    flipped: FlipCount


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One test, a cell for each model, the baseline first."""

    test: str
    asked: str
    cells: tuple[MatrixCell, ...]


def render(comparison: Comparison, flips: Flips, *, show_toxic: bool = False) -> bytes:
    """The page: the verdict, a matrix of tests and models, and what flipped, searchable.

    As in a run's report, what is shown first is masked here, the script masks the packed texts until its reader
    reveals them, and the content security policy allows the one style sheet and the one script by their hashes.
    """
    show = shower(show_toxic=show_toxic)
    shown = shown_flips(flips, show, most=FIRST_FLIPS)
    total = sum(sum(count) for count in flips.counts.values())
    text = template(__package__, PAGE).render(
        verdict=comparison["verdict"],
        colour=COLOURS[comparison["verdict"]],
        reason=show(comparison["reason"]),
        models=[{name: show(str(value)) for name, value in model.items()} for model in comparison["models"]],
        margin=allowed(comparison),
        matrix=[_row(comparison, test, flips, show) for test in comparison["tests"]],
        reasons=[show(text) for text in _reasons(comparison)],
        meanings=[(verdict, COLOURS[verdict], meaning) for verdict, meaning in DEFINITIONS.items()],
        warnings=[show(text) for text in comparison["warnings"]],
        flips=shown,
        total=total,
        cut_off=total - len(flips.shown),
        show_toxic=show_toxic,
        data=packed_flips(
            flips,
            tests=[test["test_type"] for test in comparison["tests"]],
            models=[model["name"] for model in comparison["models"]],
            show=show,
            show_toxic=show_toxic,
        ),
        **_inlined(),
    )
    return text.encode()


def write_comparison(folder: Path, comparison: Comparison, flips: Flips, *, show_toxic: bool = False) -> None:
    """Write comparison.html, comparison.md and comparison.json into a folder, which is made where there is none.

    Each file is there whole or not at all, comparison.json the last.

    Raises:
        ConfigError: the folder cannot be written.
    """
    contents = {
        "comparison.html": render(comparison, flips, show_toxic=show_toxic),
        "comparison.md": comparison_markdown.render(comparison),
        "comparison.json": f"{to_json(comparison)}\n".encode(),
    }
    try:
        folder_as_above(folder, exist_ok=True)
        for name, content in contents.items():
            part = folder / f".{name}.part"
            part.write_bytes(content)
            put_in_place(part, folder / name)
    except OSError as error:
        raise unwritable(folder, error, what="the comparison") from error


def _row(comparison: Comparison, test: Contest, flips: Flips, show: Show) -> MatrixRow:
    standings = {standing["name"]: standing for standing in test["standings"]}
    cell = partial(_cell, test, flips=flips, show=show)
    return MatrixRow(
        test=show(test["test_type"]),
        asked=asked(test),
        cells=tuple(cell(standings[model["name"]]) for model in comparison["models"]),
    )


def _cell(test: Contest, standing: Standing, *, flips: Flips, show: Show) -> MatrixCell:
    rate, pair = standing["rate"], against(test, standing["name"])
    verdict = None if pair is None else pair["verdict"]
    value, bounds = (None, None) if rate is None else (rate["value"], rate["interval"])
    return MatrixCell(
        model=show(standing["name"]),
        rate=percent(value),
        interval="–" if bounds is None else ends(bounds),
        meter=rate_meter(value, bounds, gate=standing["gate"]),
        scored=f"{standing['scored']:,} of {standing['asked']:,} scored",
        difference="" if pair is None else differing(pair["difference"]),
        verdict=verdict or "",
        colour=COLOURS[verdict] if verdict else "",
        flipped=flips.counts.get((test["test_type"], standing["name"]), NONE),
    )


def _reasons(comparison: Comparison) -> Iterator[str]:
    """Why each model has its verdict in each test, and what was not scored for both."""
    for test, pair in judged(comparison["tests"]):
        rest = unpaired(pair)
        yield f"{pair['first']} in {test}: {pair['reason']}" + (f" {rest}." if rest else "")


SCRIPTS: Sequence[tuple[str, str]] = (
    *((SHARED, name) for name in ("data.js", "parts.js", "paging.js")),
    (__package__, "flips.js"),
)


@cache
def _inlined() -> Mapping[str, Markup | str]:
    script = "\n".join(['"use strict";', *(read(package, name) for package, name in SCRIPTS)])
    own = style(__package__, "page.css")
    return {
        "style": Markup(own),  # noqa: S704 (files of this package)
        "script": Markup(script),  # noqa: S704 (files of this package)
        "style_hash": source_hash(own),
        "script_hash": source_hash(script),
    }

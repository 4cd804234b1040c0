"""Render comparison.html, which compares models and lists flipped cases, and write the comparison's folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from contrapose.tasks.core.comparison import (
    COLOURS,
    DEFINITIONS,
    Comparison,
    Contest,
    Flip,
    FlipCount,
    Flips,
    list_judged_pairs,
)
from contrapose.tasks.report import comparison_markdown as markdown
from contrapose.tasks.report.failures import MarkedRow, list_texts, mark_row
from contrapose.tasks.report.html.meter import RateMeter
from contrapose.tasks.report.html.sample_data import mark_texts, number_cases, pack_json
from contrapose.tasks.report.publish import write_pages
from contrapose.tasks.report.rows import ReportRow, read_rows
from contrapose.tasks.report.summary import to_json
from contrapose.tasks.report.templates import PAGE, SHARED, inline_files, load_template, read_packaged_text, read_style
from contrapose.tasks.text.masking import Show, make_shower
from contrapose.tasks.text.wording import format_interval, percent

FIRST_FLIPS = 20
"""Flips that are there without the script too."""


def render(comparison: Comparison, flips: Flips, *, show_toxic: bool = False) -> bytes:
    """Render the page: the verdict, a matrix of tests and models, and a searchable list of flipped cases.

    As in a run's report, what is shown first is masked here, the script masks the packed texts until its reader
    reveals them, and the content security policy allows the one style sheet and the one script by their hashes.
    """
    show = make_shower(show_toxic=show_toxic)
    total = sum(sum(count) for count in flips.counts.values())
    reasons = []
    for test_name, pair in list_judged_pairs(comparison["tests"]):
        rest = markdown.format_unpaired(pair)
        reasons.append(f"{pair['first']} in {test_name}: {pair['reason']}" + (f" {rest}." if rest else ""))
    text = load_template(__package__, PAGE).render(
        verdict=comparison["verdict"],
        colour=COLOURS[comparison["verdict"]],
        reason=show(comparison["reason"]),
        models=[{name: show(str(value)) for name, value in model.items()} for model in comparison["models"]],
        margin=markdown.format_margin(comparison),
        matrix=[
            (show(test["test_type"]), markdown.count_cases(test), list(_matrix_cells(comparison, test, flips, show)))
            for test in comparison["tests"]
        ],
        reasons=list(map(show, reasons)),
        meanings=[(verdict, COLOURS[verdict], meaning) for verdict, meaning in DEFINITIONS.items()],
        warnings=list(map(show, comparison["warnings"])),
        flips=[
            {"item": shown, "test": show(shown.flip.test), "model": show(shown.flip.model)}
            for shown in _read_flips(flips.shown[:FIRST_FLIPS], show)
        ],
        total=total,
        cut_off=total - len(flips.shown),
        show_toxic=show_toxic,
        data=_pack_flips(comparison, flips, show, show_toxic=show_toxic),
        **_page_files(),
    )
    return text.encode()


def write_comparison(folder: Path, comparison: Comparison, flips: Flips, *, show_toxic: bool = False) -> None:
    """Write comparison.html, comparison.md and, last, comparison.json into a folder, as `write_pages` does."""
    contents = {
        "comparison.html": render(comparison, flips, show_toxic=show_toxic),
        "comparison.md": markdown.render(comparison),
        "comparison.json": f"{to_json(comparison)}\n".encode(),
    }
    write_pages(folder, contents, what="the comparison")


def _matrix_cells(comparison: Comparison, test: Contest, flips: Flips, show: Show) -> Iterator[dict[str, Any]]:
    """Yield the table cells of each model in one test, the baseline first; texts are safe to show."""
    standings = {standing["name"]: standing for standing in test["standings"]}
    for standing in (standings[model["name"]] for model in comparison["models"]):
        rate, pair = standing["rate"], markdown.find_baseline_pair(test, standing["name"])
        verdict = None if pair is None else pair["verdict"]
        value, bounds = (None, None) if rate is None else (rate["value"], rate["interval"])
        yield {
            "model": show(standing["name"]),
            "rate": percent(value),
            "interval": "–" if bounds is None else format_interval(bounds),
            "meter": RateMeter(value, bounds, standing["gate"]),
            "scored": f"{standing['scored']:,} of {standing['asked']:,} scored",
            # Against the baseline, for which these are empty.
            "difference": "" if pair is None else markdown.format_difference(pair["difference"]),
            "verdict": verdict or "",
            "colour": COLOURS[verdict] if verdict else "",
            "flipped": flips.counts.get((test["test_type"], standing["name"]), FlipCount(lost=0, gained=0)),
        }


class ShownFlip(NamedTuple):
    """A flipped case with the replies of both models, ready to show."""

    flip: Flip
    baseline: MarkedRow
    candidate: ReportRow


def _read_flips(flips: Sequence[Flip], show: Show) -> Iterator[ShownFlip]:
    """Yield the flipped cases with texts that `show` has made safe."""
    if not flips:
        return
    frames = [pd.DataFrame([flip.rows[side] for flip in flips], dtype=object) for side in (0, 1)]
    named = list_texts(dict.fromkeys(flip.test for flip in flips))
    sides = zip(flips, number_cases(frames[0]), *(read_rows(frame, show) for frame in frames), strict=True)
    for flip, number, baseline, candidate in sides:
        yield ShownFlip(flip, mark_row(baseline, named, number=number), candidate)


def _pack_flips(comparison: Comparison, flips: Flips, show: Show, *, show_toxic: bool) -> str:
    """Return all flipped cases packed for the page's script: distinct texts, and each case's text numbers.

    These are both prompts, then both replies and the reason of the baseline, and of the model; then, of what people
    read next to the prompts, a name and the number of its text in turn. Parts of prompts are given by their lengths.
    """
    places: dict[str, int] = {}

    def at(text: str) -> int:
        return places.setdefault(text, len(places))

    tests = [test["test_type"] for test in comparison["tests"]]
    models = [model["name"] for model in comparison["models"]]
    shown, indices = list(_read_flips(flips.shown, str)), []
    for one in shown:
        first, second = one.baseline.row, one.candidate
        said = (text for row in (first, second) for text in (row.before, row.after, row.reason))
        indices.append([*map(at, (first.original, first.changed, *said))])
    context = [[(title, at(text)) for title, text in one.baseline.context] for one in shown]
    texts, parts = mark_texts(places, [(own[0], own[1]) for own in indices], show_toxic=show_toxic)
    return pack_json(
        {
            "tests": list(map(show, tests)),
            "models": list(map(show, models)),
            "texts": texts,
            "flips": [
                {
                    "test": tests.index(one.flip.test),
                    "model": models.index(one.flip.model),
                    "lost": one.flip.lost,
                    "id": one.baseline.row.id,
                    "number": one.baseline.number,
                    "texts": own,
                    "context": named,
                    "parts": lengths,
                }
                for one, own, named, lengths in zip(shown, indices, context, parts, strict=True)
            ],
        }
    )


@cache
def _page_files() -> Mapping[str, Markup | str]:
    shared = (read_packaged_text(SHARED, name) for name in ("data.js", "parts.js", "paging.js"))
    return inline_files(read_style(__package__, "page.css"), *shared, read_packaged_text(__package__, "flips.js"))

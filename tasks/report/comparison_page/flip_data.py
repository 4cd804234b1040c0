"""The cases that flipped: the first as they are shown, and all as packed data of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.core.comparison import Flip, Flips
from contrapose.tasks.report.failures import text_columns
from contrapose.tasks.report.html.sample_data import numbers, pack, page_texts
from contrapose.tasks.report.rows import ReportRow, read_rows
from contrapose.tasks.text.diff import Segments, mark
from contrapose.tasks.text.masking import LONGEST, Show


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFlip:
    """One case with what two models made of it; every text is fit to be seen."""

    flip: Flip
    test: str
    model: str
    number: str
    """Which of its sample's cases it is; empty where a sample has one."""
    baseline: ReportRow
    candidate: ReportRow
    original: Segments
    changed: Segments
    context: tuple[tuple[str, str], ...]
    """What people read beside the prompts: options, articles."""


def shown_flips(flips: Flips, show: Show, *, most: int | None = None) -> list[ShownFlip]:
    """The first flips, in their order; None: all of them."""
    return list(_shown(flips.shown[:most], show, show))


def _shown(flips: Sequence[Flip], show: Show, name: Show) -> Iterator[ShownFlip]:
    """The flips with their texts as one function shows them, and the names as another does."""
    if not flips:
        return
    frames = [pd.DataFrame([flip.rows[side] for flip in flips], dtype=object) for side in (0, 1)]
    named = text_columns(dict.fromkeys(flip.test for flip in flips))
    sides = zip(flips, numbers(frames[0]), *(read_rows(frame, show) for frame in frames), strict=True)
    for flip, number, baseline, candidate in sides:
        marked = mark(baseline.original, baseline.changed)
        yield ShownFlip(
            flip=flip,
            test=name(flip.test),
            model=name(flip.model),
            number=number,
            baseline=baseline,
            candidate=candidate,
            original=marked.original,
            changed=marked.changed,
            context=tuple((title, text) for title, text in baseline.details if title in named),
        )


def packed_flips(flips: Flips, *, tests: Sequence[str], models: Sequence[str], show: Show, show_toxic: bool) -> str:
    """All flips for the script: distinct texts, and of each flip the numbers of its own.

    These are both prompts, then both replies and the reason of the baseline, and of the model; then, of what people
    read beside the prompts, a name and the number of its text in turn. Pieces of prompts are told by their numbers of
    characters.
    """
    places: dict[str, int] = {}

    def at(text: str) -> int:
        return places.setdefault(text, len(places))

    rows = list(_shown(flips.shown, str, show))
    indices = [
        [*map(at, (row.baseline.original, row.baseline.changed, *_said(row.baseline), *_said(row.candidate)))]
        for row in rows
    ]
    context = [[(title, at(text)) for title, text in row.context] for row in rows]
    texts = page_texts(places, show_toxic=show_toxic, longest=LONGEST)
    pairs = {(row[0], row[1]) for row in indices}
    prompts = {pair: mark(*("".join(texts[place]) for place in pair)) for pair in pairs}
    return pack(
        {
            "tests": [show(test) for test in tests],
            "models": [show(model) for model in models],
            "texts": texts,
            "flips": [
                {
                    "test": tests.index(row.flip.test),
                    "model": models.index(row.flip.model),
                    "lost": row.flip.lost,
                    "id": row.baseline.id,
                    "number": row.number,
                    "texts": own,
                    "context": beside,
                    "parts": [[*map(len, side)] for side in prompts[own[0], own[1]]],
                }
                for row, own, beside in zip(rows, indices, context, strict=True)
            ],
        }
    )


def _said(row: ReportRow) -> tuple[str, str, str]:
    return row.before, row.after, row.reason

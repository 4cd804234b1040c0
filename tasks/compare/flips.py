"""Cases that flipped: they passed with the baseline and failed with another model, or the other way round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from contrapose.tasks.compare.rows import Rows, rows_of, whole_rows
from contrapose.tasks.compare.runs import FinishedRun, finished_run
from contrapose.tasks.core.comparison import Comparison, Flip, FlipCount, Flips
from contrapose.tasks.core.places import Place

MOST = 500
"""Flips of one test, model and direction that are shown with their texts."""


def flips_of(comparison: Comparison, *, most: int = MOST) -> Flips:
    """What flipped between the baseline of a comparison and each other model.

    Args:
        comparison: of runs that are still where they were.
        most: flips of one test, model and direction that come with their texts.

    Raises:
        ComparisonError: a run is not there any more.
    """
    runs = [finished_run(model["folder"], Place(".")) for model in comparison["models"]]
    names = [model["name"] for model in comparison["models"]]
    shown: list[Flip] = []
    counts: dict[tuple[str, str], FlipCount] = {}
    for test in (contest["test_type"] for contest in comparison["tests"]):
        rows = rows_of(runs, test)
        for place in range(1, len(runs)):
            lost, gained = _flipped(rows, place)
            counts[test, names[place]] = FlipCount(lost=len(lost), gained=len(gained))
            pair = (runs[0], runs[place])
            shown += _with_texts(pair, test, names[place], lost[:most], lost=True)
            shown += _with_texts(pair, test, names[place], gained[:most], lost=False)
    return Flips(shown=shown, counts=counts)


def _flipped(rows: Rows, place: int) -> tuple[Sequence[str], Sequence[str]]:
    """Ids of the cases that the model lost and gained; a share of repeats is neither passed nor failed."""
    baseline, model = rows.passed[0], rows.passed[place]
    lost, gained = (baseline == 1) & (model == 0), (baseline == 0) & (model == 1)
    return [str(name) for name in rows.ids[np.flatnonzero(lost)]], [
        str(name) for name in rows.ids[np.flatnonzero(gained)]
    ]


def _with_texts(
    runs: tuple[FinishedRun, FinishedRun], test: str, model: str, ids: Sequence[str], *, lost: bool
) -> Iterator[Flip]:
    if not ids:
        return
    one, other = (whole_rows(run, test, ids) for run in runs)
    yield from (Flip(test=test, model=model, lost=lost, rows=(one[name], other[name])) for name in ids)

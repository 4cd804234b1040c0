"""Find flipped cases: they passed with the baseline and failed with another model, or the reverse."""

from __future__ import annotations

import numpy as np

from contrapose.tasks.compare.rows import read_cases, read_full_rows
from contrapose.tasks.compare.runs import read_finished_run
from contrapose.tasks.core.comparison import Comparison, Flip, FlipCount, Flips
from contrapose.tasks.core.places import Place

MOST = 500
"""Flips of one test, model and direction that are shown with their texts."""


def find_flips(comparison: Comparison, *, most: int = MOST) -> Flips:
    """Return the flipped cases between the baseline and each other model; deleted runs are skipped."""
    runs = [read_finished_run(model["folder"], Place(".")) for model in comparison["models"]]
    shown: list[Flip] = []
    counts: dict[tuple[str, str], FlipCount] = {}
    for test in (contest["test_type"] for contest in comparison["tests"]):
        rows = read_cases(runs, test)
        for place, model in enumerate(comparison["models"][1:], start=1):
            # A share of repeats is neither passed nor failed.
            before, after, name = rows.passed[0], rows.passed[place], model["name"]
            lost, gained = (
                rows.ids[np.flatnonzero(own)].tolist()
                for own in ((before == 1) & (after == 0), (before == 0) & (after == 1))
            )
            counts[test, name] = FlipCount(lost=len(lost), gained=len(gained))
            for ids, is_lost in ((lost[:most], True), (gained[:most], False)):
                if ids:
                    one, other = (read_full_rows(run, test, ids) for run in (runs[0], runs[place]))
                    shown += [Flip(test=test, model=name, lost=is_lost, rows=(one[id_], other[id_])) for id_ in ids]
    return Flips(shown=shown, counts=counts)

"""Figures of result rows as the evaluate stage makes them, with what a test leaves out filled in."""

from __future__ import annotations

from typing import Any

import pandas as pd

from contrapose.tasks.evaluate.summarise import estimate_measures

PLAIN: dict[str, Any] = {
    "control": False,
    "cluster": None,
    "pass": None,
    "eval_score": None,
    "scorer": "x",
    "answer_known": None,
}


def figured(probe: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and means of result rows; a row may leave out any column."""
    filled = [{**PLAIN, "sample_id": f"s{number}", **row} for number, row in enumerate(rows)]
    frame = pd.DataFrame(filled, columns=list(dict.fromkeys([*PLAIN, "sample_id", *probe.columns])))
    means = {name: each["value"] for name, each in estimate_measures(probe.measures(frame), frame).items()}
    return {**probe.summarise(frame), **means}

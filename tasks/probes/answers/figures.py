"""Figures over the results of a test that compares two answers."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from contrapose.tasks.probes.base import ColumnType

COLUMNS: Mapping[str, ColumnType] = {
    "chosen_before": "string",
    "chosen_after": "string",
    "right_before": "bool",
    "js_divergence": "float",
}
"""Result columns of such a test."""


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Mean eval_score per scorer; with options, how often the choice changed and was right before."""
    found: dict[str, float | int | None] = {}
    if {"scorer", "eval_score"} <= set(results.columns):
        scores = pd.to_numeric(results["eval_score"], errors="coerce")
        for scorer, mean in scores.groupby(results["scorer"].astype(str)).mean().items():
            found[f"mean_eval_score_{scorer}"] = None if pd.isna(mean) else float(mean)
    return found | _choices(results)


def _choices(results: pd.DataFrame) -> dict[str, float | int | None]:
    if not {"chosen_before", "chosen_after"} <= set(results.columns):
        return {}
    read = results.dropna(subset=["chosen_before", "chosen_after"])
    if read.empty:
        return {}
    found: dict[str, float | int | None] = {
        "choices": len(read),
        "choice_changed": float((read["chosen_before"] != read["chosen_after"]).mean()),
    }
    if "right_before" in read.columns:
        known = read["right_before"].dropna()
        found["right_before"] = float(known.astype(bool).mean()) if len(known) else None
    return found

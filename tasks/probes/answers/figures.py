"""Figures over the results of a test that compares two answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.base import ColumnType, Measure

COLUMNS: Mapping[str, ColumnType] = {
    "chosen_before": "string",
    "chosen_after": "string",
    "right_before": "bool",
    "js_divergence": "float",
    "answer_changed": "bool",
}
"""Result columns of such a test."""


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """How many pairs of choices could be read."""
    if not {"chosen_before", "chosen_after"} <= set(results.columns):
        return {}
    read = results.dropna(subset=["chosen_before", "chosen_after"])
    return {"choices": len(read)} if len(read) else {}


def measures(results: pd.DataFrame, *, net: str = "net_sensitivity") -> Sequence[Measure]:
    """What is a mean over trials.

    Args:
        results: cases and controls.
        net: name of the effect: answers changed, beyond those that a control changes.

    Returns:
        The mean eval_score of each scorer; with options how often the choice changed, was right before, and how far
        the distribution moved; `answer_changed` by whatever scorer, among samples that were not answered wrongly.
    """
    if "pass" not in results or results.empty:
        return []
    scores, scorer = _numbers(results["eval_score"]), results["scorer"].astype(str)
    found = [
        Measure(name=f"mean_eval_score_{name}", values=np.where(scorer == name, scores, np.nan))
        for name in sorted(set(scorer))
    ]
    read = results["chosen_before"].notna() & results["chosen_after"].notna()
    right = _numbers(results["right_before"])
    return [
        *found,
        Measure(name="choice_changed", values=_where(read, results["chosen_before"] != results["chosen_after"])),
        Measure(name="right_before", values=right),
        Measure(name="js_divergence", values=_numbers(results["js_divergence"])),
        Measure(name="answer_changed", values=np.where(right == 0, np.nan, _changed(results)), net=net),
    ]


def _changed(results: pd.DataFrame) -> np.ndarray:
    """A control passes when its answer stayed, and so does a case whose answer should stay."""
    return _where(results["answer_changed"].notna(), results["answer_changed"] == True)  # noqa: E712


def _where(known: pd.Series, values: object) -> np.ndarray:
    return np.where(known, np.asarray(values, dtype=float), np.nan)


def _numbers(values: pd.Series) -> np.ndarray:
    return np.asarray(pd.to_numeric(values, errors="coerce"), dtype=float)

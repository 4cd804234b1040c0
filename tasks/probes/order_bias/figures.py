"""Figures over a run of order_bias: outcomes, accuracy, position bias."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Counts of the outcomes, accuracy over both orders, position bias, and the debiased figures.

    Args:
        results: result rows; rows without an outcome (errors, unscored) are left out.

    Returns:
        `AB`, `AA`, `BB`, `BA`, `unparsed` as counts; shares and means, None where nothing can be computed.
        `position_bias_index` is (share of AA - share of BB)/2 among the parsed pairs, -0.5 to 0.5.
    """
    rows = results[results["outcome"].notna()] if "outcome" in results else results.iloc[:0]
    counts = {name: _count(rows, "outcome", name) for name in ("AB", "AA", "BB", "BA", "unparsed")}
    parsed = sum(counts.values()) - counts["unparsed"]
    original, swapped = _count(rows, "result", "A"), _count(rows, "swapped_result", "B")
    return {
        **counts,
        "accuracy": _ratio(original + swapped, 2 * len(rows)),
        "accuracy_original": _ratio(original, len(rows)),
        "accuracy_swapped": _ratio(swapped, len(rows)),
        "position_bias_index": _ratio(counts["AA"] - counts["BB"], 2 * parsed),
        "content_score": _mean(rows, "content_score"),
        "position_score": _mean(rows, "position_score"),
        "debiased_accuracy": _mean(rows, "debiased_choice_right"),
    }


def _count(rows: pd.DataFrame, column: str, value: str) -> int:
    return sum(each == value for each in rows[column].dropna()) if column in rows else 0


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(rows: pd.DataFrame, column: str) -> float | None:
    values = [float(each) for each in rows[column].dropna()] if column in rows else []
    return math.fsum(values) / len(values) if values else None

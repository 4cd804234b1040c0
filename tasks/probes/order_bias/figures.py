"""Figures over a run of order_bias: outcomes, accuracy, position bias, and what likelihoods add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.base import Measure

OUTCOMES = ("AB", "AA", "BB", "BA", "unparsed")


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Counts of the outcomes; rows without one (errors, unscored) are left out."""
    counted = results["outcome"].value_counts() if "outcome" in results else pd.Series(dtype=int)
    return {name: int(counted.get(name, 0)) for name in OUTCOMES}


def measures(results: pd.DataFrame) -> Sequence[Measure]:
    """What is a mean over pairs.

    Args:
        results: cases and controls. Controls have no outcome.

    Returns:
        `accuracy` over both orders and in each, where an unread reply is not right; `position_bias_index`,
        (share of AA - share of BB)/2 among the parsed pairs, -0.5 to 0.5; `content_score` and `position_score`
        in nats; `debiased_accuracy`, the share of pairs with a positive content score; `choice_changed`, the
        share of pairs in which the order changed which summary was chosen, with its effect: beyond what other
        words for the question change.
    """
    if "outcome" not in results:
        return []
    outcome = results["outcome"]
    judged, parsed = outcome.notna(), outcome.isin(OUTCOMES[:4])
    right = _where(judged, results["result"] == "A"), _where(judged, results["swapped_result"] == "B")
    return [
        Measure(name="accuracy", values=(right[0] + right[1]) / 2),
        Measure(name="accuracy_original", values=right[0]),
        Measure(name="accuracy_swapped", values=right[1]),
        Measure(name="position_bias_index", values=_where(parsed, ((outcome == "AA") * 1 - (outcome == "BB")) / 2)),
        Measure(name="content_score", values=_numbers(results["content_score"])),
        Measure(name="position_score", values=_numbers(results["position_score"])),
        Measure(name="debiased_accuracy", values=_numbers(results["debiased_choice_right"])),
        Measure(name="choice_changed", values=_changed(results, parsed), net="net_order_sensitivity"),
    ]


def _changed(results: pd.DataFrame, parsed: pd.Series) -> np.ndarray:
    """Whether another summary was chosen: the same letter in the other order, or another letter under a control."""
    control = results["control"].astype(bool) & results["pass"].notna()
    changed = np.where(control, results["pass"] == False, results["outcome"].isin(("AA", "BB")))  # noqa: E712
    return _where(parsed | control, changed)


def _where(known: pd.Series, values: object) -> np.ndarray:
    return np.where(known, np.asarray(values, dtype=float), np.nan)


def _numbers(values: pd.Series) -> np.ndarray:
    return np.asarray(pd.to_numeric(values, errors="coerce"), dtype=float)

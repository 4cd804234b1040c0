"""Figures over a run of order_bias: outcomes, accuracy, position bias, and what likelihoods add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.base import Measure
from contrapose.tasks.probes.in_words import in_words_measures
from contrapose.tasks.probes.order_bias.pride import pride
from contrapose.tasks.probes.reading_checks import check_measures
from contrapose.tasks.probes.steps import step_figures
from contrapose.tasks.probes.values import numbers, where

ABILITY_AND_BIAS: Mapping[str, tuple[str, ...]] = {
    "consistent_and_right": ("AB",),
    "consistent_and_wrong": ("BA",),
    "follows_the_position": ("AA", "BB"),
}
"""Shares of the pairs with a choice in both orders, by their outcomes: they add up to 1."""
OUTCOMES = ("AB", "AA", "BB", "BA", "unparsed")


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Counts of the outcomes, and how the choices were read; rows without one (errors, unscored) are left out."""
    counted = results["outcome"].value_counts() if "outcome" in results else pd.Series(dtype=int)
    counts = {name: int(counted.get(name, 0)) for name in OUTCOMES}
    if "result_step" not in results:
        return counts
    judged = results[results["outcome"].notna()]
    return {**counts, **step_figures((judged["result_step"], judged["swapped_step"]))}


def measures(results: pd.DataFrame) -> Sequence[Measure]:
    """What is a mean over pairs.

    Args:
        results: cases and controls. Controls have no outcome.

    Returns:
        `accuracy` over both orders and in each, where an unread reply is not right; ability and bias apart, among the
        parsed pairs: consistent and right, consistent and wrong, following the position; `position_bias_index`,
        (share of AA - share of BB)/2 among the parsed pairs, -0.5 to 0.5; `content_score` and `position_score` in
        nats; `debiased_accuracy`, the share of pairs with a positive content score, where a tie counts half, as in
        the area under a ROC curve; `debiased_tied`, since low precision makes ties common; what PriDe gives;
        `choice_changed`, the share of pairs in which the order changed which summary was chosen, or whether one was,
        with its effect: beyond what other words for the question change; what replies in words say beside likelihoods;
        how well the model reads replies when it is asked back.
    """
    if "outcome" not in results:
        return []
    outcome = results["outcome"]
    judged, parsed = outcome.notna(), outcome.isin(OUTCOMES[:4])
    right = where(judged, results["result"] == "A"), where(judged, results["swapped_result"] == "B")
    accuracy, content = (right[0] + right[1]) / 2, numbers(results["content_score"])
    position, calibrating = numbers(results["position_score"]), np.asarray(results["calibrates"].eq(True))
    return [
        Measure(name="accuracy", values=accuracy, bounds=(0, 1)),
        Measure(name="accuracy_original", share=True, values=right[0]),
        Measure(name="accuracy_swapped", share=True, values=right[1]),
        *(
            Measure(name=name, share=True, values=where(parsed, outcome.isin(outcomes)))
            for name, outcomes in ABILITY_AND_BIAS.items()
        ),
        Measure(
            name="position_bias_index",
            values=where(parsed, ((outcome == "AA") * 1 - (outcome == "BB")) / 2),
            bounds=(-0.5, 0.5),
        ),
        Measure(name="content_score", values=content),
        Measure(name="position_score", values=position),
        Measure(name="debiased_accuracy", values=(np.sign(content) + 1) / 2, bounds=(0, 1)),
        Measure(name="debiased_tied", share=True, values=where(np.isfinite(content), content == 0)),
        *pride(content, position, calibrating=calibrating, accuracy=accuracy),
        Measure(name="choice_changed", share=True, values=_changed(results), net="net_order_sensitivity"),
        *in_words_measures(results),
        *check_measures(results),
    ]


def _changed(results: pd.DataFrame) -> np.ndarray:
    """Whether another summary was chosen, or one in a single reply; unknown where none was in both.

    Under a control, where the order stays, that is what fails.
    """
    first, second = (results[name].isin(("A", "B")) for name in ("result", "swapped_result"))
    control = results["control"].astype(bool)
    known = np.where(control, results["pass"].notna(), first | second)
    changed = np.where(control, results["pass"].eq(False), results["outcome"].isin(("AA", "BB")) | (first != second))
    return np.where(known, changed.astype(float), np.nan)

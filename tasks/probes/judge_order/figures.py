"""What judge_order reports besides two orders: ties and refusals, what a judge prefers, and how steady it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.base import Criterion, Measure
from contrapose.tasks.probes.order_bias.figures import EXPLANATIONS as TWO_ORDERS_EXPLAINED
from contrapose.tasks.probes.order_bias.figures import Positions
from contrapose.tasks.probes.panels import Panel, Quantity, Sheet
from contrapose.tasks.probes.values import if_any, where

PREFERENCES: Mapping[str, str] = {"right_is_longer": "length_preference_p", "right_is_own": "self_preference_p"}
"""What may sway a judge, by the column that says whether it speaks for the better answer, and the test of it."""


EXPLANATIONS: Mapping[str, str] = {
    **TWO_ORDERS_EXPLAINED,
    "tied": "Pairs in which the judge calls a tie in one order or both.",
    "refused": "Pairs in which the judge declines to choose in one order or both.",
    "length_preference_p": "Probability of so great a difference between pairs whose better answer is longer and "
    "shorter if length did not matter. Below 0.05 the judge is hardly indifferent to length.",
    "self_preference_p": "Probability of so great a difference between pairs whose better answer is the judge's own "
    "and another's if that did not matter. Below 0.05 the judge is hardly indifferent to its own answers.",
    "same_choice": "Share of the pairs for which the judge says the same in both orders, right or wrong.",
    "same_choice_rate": "Share of the pairs for which the judge says the same in both orders, right or wrong.",
    "tied_share": "Share of all pairs that the judge calls a tie.",
    "refused_share": "Share of all pairs that the judge declines to judge.",
    "accuracy_where_own": "Accuracy where the judge wrote the better answer. Far above that where another did, it "
    "prefers its own.",
    "accuracy_where_anothers": "Accuracy where the judge wrote the worse answer. Far below that where it wrote the "
    "better one, it prefers its own.",
    "changed_when_asked_again": "Share of the unchanged prompts with another choice the second time: how unsteady the "
    "judge is without any change.",
}
"""What the figures, the gate and the scorers are."""


def preferences(results: pd.DataFrame) -> Mapping[str, float]:
    """Two-sided exact p values of a judge that is swayed by length, or by who wrote an answer.

    Fisher's exact test of the pairs with the same choice in both orders: is the better answer chosen as often where it
    is the longer one (the judge's own) as where it is not? The position cannot have decided these. It takes pairs as
    independent. Nothing where a side has no pairs.
    """
    from scipy.stats import fisher_exact

    figures = {}
    for column, name in PREFERENCES.items():
        if column not in results or "outcome" not in results:
            continue
        table = np.array(
            [
                [int((results[column].eq(side) & results["outcome"].eq(outcome)).sum()) for outcome in ("AB", "BA")]
                for side in (True, False)
            ]
        )
        if table.sum(axis=1).all():
            figures[name] = float(fisher_exact(table).pvalue)
    return figures


def measures(results: pd.DataFrame) -> Sequence[Measure]:
    """What is a mean over pairs, besides what two orders have.

    Args:
        results: cases and controls. Controls have no outcome.

    Returns:
        `same_choice`, the share of pairs in which the order left alone what was said, right or wrong; `tied_share` and
        `refused_share` of all pairs; `accuracy` where the judge wrote the better answer and where it wrote the worse;
        `changed_when_asked_again`, the share of unchanged prompts with another choice the second time.
    """
    if "outcome" not in results:
        return []
    outcome = results["outcome"]
    judged = outcome.notna()
    right = (results["result"].eq("A") * 1.0 + results["swapped_result"].eq("B")) / 2
    read = outcome.notna() & outcome.ne("unparsed")
    again = results["again_same"] if "again_same" in results else pd.Series(None, index=results.index, dtype=object)
    return [
        Measure(name="same_choice", share=True, values=_same_choice(results)),
        Measure(name="tied_share", share=True, values=if_any(read, where(judged, outcome.eq("tied")))),
        Measure(name="refused_share", share=True, values=if_any(read, where(judged, outcome.eq("refused")))),
        *(
            Measure(
                name=name, values=if_any(read, where(judged & results["right_is_own"].eq(own), right)), bounds=(0, 1)
            )
            for name, own in (("accuracy_where_own", True), ("accuracy_where_anothers", False))
            if "right_is_own" in results
        ),
        Measure(name="changed_when_asked_again", share=True, values=where(again.notna(), again.eq(False))),
    ]


def _same_choice(results: pd.DataFrame) -> np.ndarray:
    """Whether the order left alone what was said: 1 or 0, NaN where that is open."""
    outcome = results["outcome"]
    if "said" not in results:
        return np.full(len(results), np.nan)
    same = outcome.isin(("AB", "BA")) | (results["said"].eq("tie") & results["swapped_said"].eq("tie"))
    return where(outcome.notna() & outcome.ne("unparsed"), same)


def consistency(results: pd.DataFrame, wanted: float | None) -> Sequence[Criterion]:
    """The gate on the same choice in both orders; none where none is asked for."""
    if wanted is None:
        return []
    met = _same_choice(results) if "outcome" in results else np.full(len(results), np.nan)
    applies = ~results["control"].to_numpy(dtype=bool)
    return [Criterion(name="same_choice_rate", wanted=wanted, met=met, applies=applies, chance=1 / 2)]


ASPECTS: Mapping[str, str] = {
    "choice_changed": "another choice once the answers are swapped",
    "changed_when_asked_again": "another choice when asked again",
    "accuracy_where_longer": "right where the better answer is longer",
    "accuracy_where_shorter": "right where it is shorter",
    "accuracy_where_own": "right where the judge wrote it",
    "accuracy_where_anothers": "right where the judge wrote the worse one",
}
"""Figures of what may sway a judge, in words."""


class Swayed(Positions):
    """The choices in both orders, and how often they are right among which answers."""

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """The grid of two orders, and a table where something else may sway the judge."""
        estimates = outcome["estimates"]
        rows = tuple(
            (text, (Quantity(value=estimates[name]["value"], interval=estimates[name]["interval"]),))
            for name, text in ASPECTS.items()
            if name in estimates
        )
        sheet = Sheet(
            caption="What may sway the judge",
            header=("choices over both orders", "share (95 %)"),
            rows=rows,
            figures=frozenset(ASPECTS),
        )
        return [*super().panels(outcome), *([sheet] if rows else [])]

"""Figures and gates of a relation: right answers kept or reached, and contrast sets answered completely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.answers.answer_probe import LEAST_RIGHT
from contrapose.tasks.probes.base import Column, Criterion, Measure
from contrapose.tasks.probes.relation.settings import RelationSettings
from contrapose.tasks.probes.values import mean_known, numbers, where

RIGHT_AFTER = "right_after_rate"
CONSISTENCY = "consistency"

COLUMNS: Mapping[str, Column] = {
    "expectation": Column("string", "What the answer should do: stays, changes, not_worse or becomes."),
    "variant": Column("string", "Name of the variant of a contrast set."),
    "right_after": Column("bool", "Whether the reply to the changed prompt gives the right answer to it."),
    "right_both": Column("bool", "Whether both replies give the right answers to their prompts."),
}
EXPLANATIONS: Mapping[str, str] = {
    RIGHT_AFTER: "share of right answers before the change that are also right after it. A model that always gives "
    "the same answer, or knows nothing, does not reach it.",
    CONSISTENCY: "Share of the clusters in which every variant, the original included, was answered correctly. Only "
    "clusters with all variants count.",
    f"{CONSISTENCY}_*": "Share of the clusters in which both the original and this variant were answered correctly.",
    "right_after": "Share of the changed prompts answered correctly.",
    "right_both": "Share of the pairs in which both prompts were answered correctly.",
    "right": "Compares the replies with the known answers.",
    "function": "Compares the replies by a function of your own.",
}
LABELS: Mapping[str, str] = {
    CONSISTENCY: "clusters answered completely",
    "right_both": "both answered correctly",
    "right_after": "changed prompt answered correctly",
}
DEFAULT_RIGHT = 0.7
"""Gate of the right answers after the change where neither the test nor the run sets one."""


def right_after_criterion(results: pd.DataFrame, settings: RelationSettings) -> Sequence[Criterion]:
    """Return the share of samples right before that are right after; nothing where answers are unknown."""
    wanted = DEFAULT_RIGHT if settings.min_right_rate is None else settings.min_right_rate
    cases = ~results["control"].to_numpy(dtype=bool)
    before = numbers(results["right_before"])
    known = cases & results["answer_known"].eq(True).to_numpy()
    if not wanted or not known.any():
        return []
    right = known & (before == 1)
    count = int(right.sum())
    few = f"Before the change the model answered only {count:,} of {int(known.sum()):,} samples correctly; the rate of "
    few += f"right answers after it needs {LEAST_RIGHT}."
    return [
        Criterion(
            name=RIGHT_AFTER,
            wanted=wanted,
            met=where(before == 1, numbers(results["right_after"])),
            applies=known & (before != 0),
            chance=mean_known(1 / numbers(results["option_count"])[right]) if count else None,
            too_few=few if count < LEAST_RIGHT else "",
            knows_answers=settings.expectation == "not_worse",
        )
    ]


def relation_measures(results: pd.DataFrame) -> Iterator[Measure]:
    """Yield how often the changed prompt, and both prompts, were answered correctly, and the clusters' consistency."""
    if "right_after" not in results:
        return
    cases = ~results["control"].to_numpy(dtype=bool)
    for name in ("right_after", "right_both"):
        yield Measure(name=name, share=True, values=where(cases, numbers(results[name])))
    if "variant" in results and results["variant"].notna().any() and "cluster" in results:
        yield from consistency_measures(results[cases].assign(place=np.flatnonzero(cases)), len(results))


def consistency_measures(rows: pd.DataFrame, size: int) -> Iterator[Measure]:
    """Yield the shares of clusters with every variant right, and with the original and each variant right.

    A cluster counts once, at its first row. One wrong reply makes it inconsistent, whatever an unread one says. `place`
    is each row's place among `size` results. Source: A. Ravichander et al., CONDAQA, EMNLP 2022, section 4.
    """
    both = np.where(
        (numbers(rows["right_before"]) == 0) | (numbers(rows["right_after"]) == 0), 0.0, numbers(rows["right_both"])
    )
    known = rows.assign(both=both).dropna(subset=["cluster", "variant"])
    if "repeat" in known:
        known = known[known["repeat"].fillna(0).eq(0)]
    variants = sorted(known["variant"].astype(str).unique(), key=_order)
    values = np.full(size, np.nan)
    for _, group in known.groupby("cluster", sort=False):
        if group["variant"].nunique() == len(variants):
            right = group["both"].to_numpy()
            values[group["place"].iloc[0]] = 0.0 if (right == 0).any() else np.nan if np.isnan(right).any() else 1.0
    yield Measure(name=CONSISTENCY, share=True, values=values)
    for variant in variants if len(variants) > 1 else ():
        own = known[known["variant"].astype(str).eq(variant)]
        pair = np.full(size, np.nan)
        pair[own["place"].to_numpy(dtype=int)] = own["both"]
        yield Measure(name=f"{CONSISTENCY}_{variant}", share=True, values=pair)


def _order(variant: str) -> tuple[float, str]:
    """Return the order of variants: numbers by size, then names."""
    try:
        return float(variant), ""
    except ValueError:
        return float("inf"), variant

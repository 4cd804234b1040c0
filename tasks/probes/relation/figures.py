"""Figures and gates of your own tests: right answers kept or reached, and completely right contrast sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.answers.answer_probe import ChangeCounts, describe_few_right
from contrapose.tasks.probes.base import Column, Criterion, Measure
from contrapose.tasks.probes.choices import RIGHT_ANSWER, RIGHT_ANSWERS, RIGHT_RATE, raise_above_constant, right_rate
from contrapose.tasks.probes.panels import Bars, Panel, shares
from contrapose.tasks.probes.relation.settings import DEFAULT_RIGHT, RelationSettings
from contrapose.tasks.probes.values import average_known, numbers, where

RIGHT_AFTER = "right_after_rate"
CONSISTENCY = "consistency"

COLUMNS: Mapping[str, Column] = {
    "expectation": Column("string", "What the answer should do: stays, changes, not_worse or becomes."),
    "variant": Column("string", "Name of the variant of a contrast set."),
    "right_after": Column("bool", "Whether the reply to the changed prompt gives the right answer to it."),
    "right_both": Column("bool", "Whether both replies give the right answers to their prompts."),
    RIGHT_ANSWER: RIGHT_ANSWERS,
}
EXPLANATIONS: Mapping[str, str] = {
    RIGHT_AFTER: "share of right answers before the change that are also right after it. A model that always gives "
    "the same answer reaches the share of the most frequent right answer, so the gate has to be above it.",
    RIGHT_RATE: "share of answers that stayed and are right, where right answers are known. A model that always gives "
    "the same answer stays, too. It reaches the share of the most frequent right answer.",
    CONSISTENCY: "Share of the clusters in which every variant, the original included, was answered correctly. Only "
    "clusters with all variants count.",
    f"{CONSISTENCY}_*": "Share of the clusters in which both the original and this variant were answered correctly.",
    "right_after": "Share of the changed prompts answered correctly.",
    "right_both": "Share of the pairs in which both prompts were answered correctly.",
    "right": "Compares the replies with the known answers.",
    "function": "Compares the replies by a function of your own.",
}
LABELS: Mapping[str, str] = {
    RIGHT_AFTER: "right answers kept",
    CONSISTENCY: "clusters answered completely",
    "right_both": "both answered correctly",
    "right_after": "changed prompt answered correctly",
}


class RelationBars(ChangeCounts):
    """Counts of changed answers, and of right answers before and after."""

    def __init__(self) -> None:
        super().__init__()
        self._both: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the cases for which it is known whether the answers are right, or changed."""
        super().add(rows.assign(right_before=None))
        known = rows[rows["right_before"].notna() & rows["right_after"].notna()] if "right_after" in rows else rows[:0]
        for before, after in zip(known["right_before"].eq(True), known["right_after"].eq(True), strict=True):
            self._both[RIGHTS[before, after]] += 1

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return bars of the known counts."""
        counts = {name: self._both[name] for name in RIGHTS.values() if self._both.total()}
        bars = Bars(title="Right answers before and after the change", shares=shares(counts))
        return [*super().panels(outcome), *([bars] if bars.shares else [])]


RIGHTS = {
    (True, True): "right before and after",
    (True, False): "right before only",
    (False, True): "right after only",
    (False, False): "wrong both times",
}
"""Names of the bars, by whether the answers before and after are right."""


def make_right_rate_criterion(results: pd.DataFrame, settings: RelationSettings) -> Sequence[Criterion]:
    """Return the gate on answers that stay and are right, because a constant answer also stays."""
    if results["option_count"].isna().all():
        return []
    kept = 1 - numbers(results["answer_changed"])
    return right_rate(results, kept, numbers(results["right_before"]), wanted=settings.min_right_rate)


def make_right_after_criterion(results: pd.DataFrame, settings: RelationSettings) -> Sequence[Criterion]:
    """Return the gate on right answers that are also right after the change; empty if answers are unknown."""
    wanted = DEFAULT_RIGHT if settings.min_right_rate is None else settings.min_right_rate
    cases = ~results["control"].to_numpy(dtype=bool)
    before = numbers(results["right_before"])
    known = cases & results["answer_known"].eq(True).to_numpy()
    if not wanted or not known.any() or settings.score:
        return []
    right = known & (before == 1)
    count = int(right.sum())
    criterion = Criterion(
        name=RIGHT_AFTER,
        wanted=wanted,
        met=where(before == 1, numbers(results["right_after"])),
        applies=known & (before != 0),
        chance=average_known(1 / numbers(results["option_count"])[right]) if count else None,
        too_few=describe_few_right(count, int(known.sum()), RIGHT_AFTER),
        knows_answers=settings.expectation == "not_worse",
    )
    return [raise_above_constant(criterion, results[right], is_set=settings.min_right_rate is not None)]


def yield_relation_measures(results: pd.DataFrame) -> Iterator[Measure]:
    """Yield the shares of right answers after the change and in both prompts, and the consistency of clusters."""
    if "right_after" not in results:
        return
    cases = ~results["control"].to_numpy(dtype=bool)
    for name in ("right_after", "right_both"):
        yield Measure(name=name, share=True, values=where(cases, numbers(results[name])))
    if has_variants(results):
        yield from yield_consistency_measures(results)


def make_consistency_criterion(results: pd.DataFrame, settings: RelationSettings) -> Sequence[Criterion]:
    """Return the gate on clusters with every variant right; empty if it is not set. Each cluster counts once."""
    if not settings.min_consistency or not has_variants(results):
        return []
    clusters = score_complete_clusters(results)
    met = clusters.reindex(range(len(results))).to_numpy(dtype=float)
    applies = np.isin(np.arange(len(results)), clusters.index)
    return [Criterion(name=CONSISTENCY, wanted=settings.min_consistency, met=met, applies=applies)]


def has_variants(results: pd.DataFrame) -> bool:
    """Return whether the results are from contrast sets."""
    return "variant" in results and "cluster" in results and bool(results["variant"].notna().any())


def yield_consistency_measures(results: pd.DataFrame) -> Iterator[Measure]:
    """Yield the shares of clusters with all variants right, and with the original and each single variant right.

    Source: A. Ravichander et al., CONDAQA, EMNLP 2022, section 4.
    """
    rows, places = _list_pairs(results), range(len(results))
    variants = _list_variants(rows)
    shares = {CONSISTENCY: score_complete_clusters(results)}
    if len(variants) > 1:
        shares |= {f"{CONSISTENCY}_{name}": rows.loc[rows["variant"].astype(str).eq(name), "both"] for name in variants}
    for name, values in shares.items():
        yield Measure(name=name, share=True, values=values.reindex(places).to_numpy(dtype=float))


def score_complete_clusters(results: pd.DataFrame) -> pd.Series:
    """Return a score of each cluster with all variants, at the place of its first row: 1 if all its replies are right.

    0 if one is wrong, whatever an unread one says, else NaN if one is unread.
    """
    rows = _list_pairs(results)
    clusters = rows.groupby("cluster", sort=False)
    rows = rows.assign(
        right=clusters["both"].transform(lambda both: 0.0 if (both == 0).any() else both.min(skipna=False))
    )
    complete = clusters["variant"].transform("nunique").eq(len(_list_variants(rows)))
    first: pd.Series = rows.loc[complete & ~rows["cluster"].duplicated(), "right"]
    return first


def _list_pairs(results: pd.DataFrame) -> pd.DataFrame:
    """Return the first request of each pair, with `both`: whether both replies are right."""
    before, after = numbers(results["right_before"]), numbers(results["right_after"])
    both = np.where((before == 0) | (after == 0), 0.0, numbers(results["right_both"]))
    kept = results["variant"].notna() & results["cluster"].notna() & ~results["control"].astype(bool)
    if "repeat" in results:
        kept &= results["repeat"].fillna(0).eq(0)
    rows: pd.DataFrame = results[["cluster", "variant"]].assign(both=both).reset_index(drop=True)
    return rows[kept.to_numpy()]


def _list_variants(rows: pd.DataFrame) -> list[str]:
    """Return the sorted names of the variants."""
    return sorted(rows["variant"].astype(str).unique(), key=_make_variant_key)


def _make_variant_key(variant: str) -> tuple[float, str]:
    """Return the sort key of a variant: numbers by size, then names."""
    try:
        return float(variant), ""
    except ValueError:
        return float("inf"), variant

"""Figures of recorded verdicts: how often a judge contradicts itself, and how often it follows the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from contrapose.tasks.certify.findings import PositionMeans
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.noise import AskingPairs, estimate_lean, estimate_noise, share_of_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionFigures:
    """What the verdicts of one judge show."""

    judge: str
    pairs: int
    """Pairs of answers."""
    verdicts: int
    """Replies, also those without a verdict."""
    unread: int
    """Replies without one verdict."""
    means: PositionMeans


def measure_positions(verdicts: pd.DataFrame) -> list[PositionFigures]:
    """Return the figures of each judge, in the order of their names; rows are those of `read_verdicts`."""
    return [_measure(str(judge), own) for judge, own in verdicts.groupby("judge", sort=True)]


def _measure(judge: str, verdicts: pd.DataFrame) -> PositionFigures:
    """Return the figures of one judge."""
    counts, cluster, lean = [], [], []
    for _, pair in verdicts.groupby("pair", sort=False):
        orders = [pair[pair["order"] == order] for order in (0, 1)]
        counts.append(_count_pairs([own["choice"].dropna().tolist() for own in orders]))
        cluster.append(pair["cluster"].iloc[0])
        # The mean over both orders: the content of the answers cancels.
        lean.append(np.mean([own["place"].mean() for own in orders]))
    pairs, clusters = AskingPairs(*np.array(counts, dtype=float).T), np.array(cluster)
    noise = estimate_noise(pairs, clusters)
    read = verdicts[verdicts["choice"].notna()]
    return PositionFigures(
        judge=judge,
        pairs=len(counts),
        verdicts=len(verdicts),
        unread=len(verdicts) - len(read),
        means=PositionMeans(
            share_of_pairs(pairs.before + pairs.after, pairs.before_changed + pairs.after_changed, cluster=clusters),
            share_of_pairs(pairs.across, pairs.across_changed, cluster=clusters),
            noise.net if noise else None,
            estimate_lean(np.array(lean, dtype=float), clusters),
            mean((read["choice"] == "tie").to_numpy(dtype=float), read["cluster"], share=True) if len(read) else None,
        ),
    )


def _count_pairs(choices: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return pairs of verdicts of one pair of answers, and those that differ: first order, second order, across."""
    counted: list[int] = []
    for own in choices:
        total, same = len(own) * (len(own) - 1) // 2, sum(n * (n - 1) // 2 for n in Counter(own).values())
        counted += (total, total - same)
    first, second = map(Counter, choices)
    total = len(choices[0]) * len(choices[1])
    return (*counted, total, total - sum(count * second[choice] for choice, count in first.items()))

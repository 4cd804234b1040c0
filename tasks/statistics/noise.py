"""Separate noise from effect: how often answers to the same prompt differ, and answers to two prompts.

An endpoint may answer the same prompt differently each time, at temperature 0 too. The share of changed answers under
a change of the prompt holds this noise. What the change adds is

    net = P(an answer to one prompt differs from one to the other) - P(two answers to the same prompt differ),

the second probability averaged over both prompts. Asking only the unchanged prompt again would be biased wherever the
changed prompt is noisier. For answers in categories the net change is half the squared distance between the two
distributions of answers, and so never negative; it is 0 exactly where both prompts are answered alike. A bias that is
drawn anew at each asking with probability b counts as b² of cases with two answers, one that is fixed for a case as 1.
All pairs of askings of a case are compared (a U-statistic), which is unbiased for any number of askings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from contrapose.tasks.statistics.means import FEW, Mean
from contrapose.tasks.statistics.shares import CONFIDENCE, Interval, clustered_share, make_labels, wilson


class AskingPairs(NamedTuple):
    """Numbers of compared and of differing pairs of answers in each case; each array is (cases,)."""

    before: np.ndarray
    """Pairs of answers to the unchanged prompt."""
    before_changed: np.ndarray
    after: np.ndarray
    """Pairs of answers to the changed prompt."""
    after_changed: np.ndarray
    across: np.ndarray
    """Pairs of one answer to each."""
    across_changed: np.ndarray


class Noise(NamedTuple):
    """Noise, change and net change: three shares of pairs of answers, each with its interval."""

    again: Mean
    """Of pairs to the same prompt, the share that differ."""
    across: Mean
    """Of pairs to both prompts, the share that differ."""
    net: Mean
    """What the change of the prompt adds to the noise."""


def estimate_noise(pairs: AskingPairs, cluster: np.ndarray, *, confidence: float = CONFIDENCE) -> Noise | None:
    """Return noise, change and net change of cases in clusters, or None if no case has all three kinds of pairs.

    `cluster` is (cases,) of labels, the same for cases that are not independent. The interval of the net change is that
    of the jackknife over clusters, with Student's t on one degree of freedom fewer than there are clusters (B. Efron,
    C. Stein, Annals of Statistics 9 (1981) 586-596). Its upper end counts one more case that changes with the prompt
    and never else, since a rare effect may be missing among few cases. Where fewer than ten clusters have any answer
    that differs, the interval is put together from Wilson's of both shares (G. Y. Zou, A. Donner, Statistics in
    Medicine 27 (2008) 1693-1702), since ten equal answers do not prove that all are equal.
    """
    import pandas as pd

    counts = np.stack([np.asarray(part, dtype=float) for part in pairs], axis=1)
    complete = (counts[:, ::2] > 0).all(axis=1)
    if not complete.any():
        return None
    counts, codes = counts[complete], pd.factorize(make_labels(cluster)[complete])[0]
    sums = np.stack([np.bincount(codes, weights=column) for column in counts.T], axis=1)
    same, changed = counts[:, 0] + counts[:, 2], counts[:, 1] + counts[:, 3]
    again = compute_pair_share(same, changed, cluster=codes, confidence=confidence)
    across = compute_pair_share(counts[:, 4], counts[:, 5], cluster=codes, confidence=confidence)
    if again is None or across is None:
        return None
    net = float(_net_change(sums.sum(axis=0)))
    if int((sums[:, 1::2].sum(axis=1) > 0).sum()) < FEW:
        interval: Interval | None = _subtract_intervals(across, again, net)
    else:
        changing = counts.mean(axis=0) * (1, 0, 1, 0, 1, 0)
        changing[5] = changing[4]
        low, high = (_jackknife(part, _net_change, confidence) for part in (sums, np.vstack([sums, changing])))
        interval = low and high and Interval(max(-1.0, low.low), min(1.0, max(low.high, high.high)))
    return Noise(again, across, Mean(value=net, interval=interval, rows=len(codes), clusters=len(sums)))


def estimate_lean(lean: np.ndarray, cluster: np.ndarray, *, confidence: float = CONFIDENCE) -> Mean | None:
    """Return the mean lean to the first position, P(first) - P(second), of cases in clusters; None without cases.

    `lean` is (cases,) from -1 to 1, NaN where it is not known, and 0 on average where only noise decides. The interval
    is the jackknife's with Student's t; each end counts one more case that leans to its side as much as can be.
    """
    import pandas as pd

    known = np.isfinite(lean)
    if not known.any():
        return None
    values, codes = lean[known], pd.factorize(make_labels(cluster)[known])[0]
    sums = np.stack([np.bincount(codes, weights=values), np.bincount(codes).astype(float)], axis=1)
    low, high = (_jackknife(np.vstack([sums, (end, 1.0)]), _mean_of_sums, confidence) for end in (-1.0, 1.0))
    interval = low and high and Interval(max(-1.0, low.low), min(1.0, high.high))
    return Mean(value=float(values.mean()), interval=interval, rows=len(values), clusters=len(sums))


def _mean_of_sums(sums: np.ndarray) -> np.ndarray:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _net_change(sums: np.ndarray) -> np.ndarray:
    """Return the net change of sums of pairs in the last axis, in the order of `AskingPairs`."""
    before, after, across = (sums[..., place + 1] / sums[..., place] for place in (0, 2, 4))
    return np.asarray(across - (before + after) / 2)


def compute_pair_share(
    compared: np.ndarray, changed: np.ndarray, *, cluster: np.ndarray, confidence: float = CONFIDENCE
) -> Mean | None:
    """Return the share of compared pairs that differ, or None if none was compared.

    All are (cases,). The interval is Wilson's on the number of independent pairs that tell as much.
    """
    total, differ = compared.astype(int), np.rint(changed).astype(int)
    if not total.any():
        return None
    places = np.arange(total.sum()) - np.repeat(np.cumsum(total) - total, total)
    share = clustered_share(places < np.repeat(differ, total), np.repeat(cluster, total))
    interval = wilson(share, confidence=confidence)
    return Mean(value=share.rate, interval=interval, rows=share.rows, clusters=share.clusters)


def _jackknife(sums: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], confidence: float) -> Interval | None:
    """Return the interval of a statistic of summed clusters, (clusters, parts), or None for one cluster."""
    from scipy.special import stdtrit

    clusters, total = len(sums), sums.sum(axis=0)
    if clusters < 2:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        without_one = statistic(total - sums)
    value = float(statistic(total))
    # A cluster that holds all of one kind of pairs says nothing about how much they vary.
    without_one = np.where(np.isfinite(without_one), without_one, value)
    variance = (clusters - 1) / clusters * float(np.square(without_one - without_one.mean()).sum())
    half = float(stdtrit(clusters - 1, (1 + confidence) / 2)) * variance**0.5
    return Interval(value - half, value + half)


def _subtract_intervals(across: Mean, again: Mean, net: float) -> Interval | None:
    """Return the interval of a difference of two shares by the intervals of both, taken as independent."""
    if across.interval is None or again.interval is None:
        return None
    down = np.hypot(across.value - across.interval.low, again.interval.high - again.value)
    up = np.hypot(across.interval.high - across.value, again.value - again.interval.low)
    return Interval(max(-1.0, net - float(down)), min(1.0, net + float(up)))

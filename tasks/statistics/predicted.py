"""Estimate a mean label from a few labels by people and verdicts of a judge on all replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.statistics.power import find_first
from contrapose.tasks.statistics.shares import CONFIDENCE, Interval, copies, make_labels, wilson_ends

MOST_STRATA = 5
LEAST_LABELS = 5
"""In each stratum; fewer are put into the next one. With one stratum the labels alone are left."""


class Strata(NamedTuple):
    """Counts and mean labels in each stratum of the judge's verdicts."""

    weight: np.ndarray
    """Share of all rows, (strata,)."""
    rate: np.ndarray
    """Mean label, (strata,)."""
    labels: np.ndarray
    """Rows with a label, (strata,)."""
    rows: int
    """With a label and without."""
    design: float
    """Rows that tell as much as one independent label of 0 or 1."""
    freedom: float
    """Degrees of freedom of that."""

    @property
    def value(self) -> float:
        """Return the mean label over all rows."""
        return float(self.weight @ self.rate)

    def interval(self, times: float = 1.0) -> Interval:
        """Return the interval of the mean, with `times` as many labels of the same rates."""
        from scipy.special import stdtrit

        quantile = float(stdtrit(max(1.0, times * (self.freedom + 1) - 1), (1 + CONFIDENCE) / 2))
        low, high = wilson_ends(self.rate, times * self.labels / self.design, quantile)
        between = quantile**2 * float(self.weight @ (self.rate - self.value) ** 2) * self.design / self.rows
        down, up = (float((np.square(self.weight * (self.rate - end)).sum() + between) ** 0.5) for end in (low, high))
        return Interval(max(0.0, self.value - down), min(1.0, self.value + up))


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A mean label, estimated with the judge's verdicts and by labels alone."""

    mean: Mean
    """Over all rows."""
    alone: Mean
    """Of the rows that have a label, without the judge."""
    strata: Strata | None
    """None where one cluster has all labels, which shows nothing about how much they vary."""
    worth: float
    """Labels that would give as narrow an interval without the judge."""

    @property
    def labels(self) -> int:
        """Number of labelled rows."""
        return self.alone.rows

    @property
    def saved(self) -> float:
        """Share of labels that the judge's verdicts save, 0 to 1."""
        return max(0.0, 1 - self.labels / self.worth)


def predict_mean(label: Any, verdict: Any, cluster: Any) -> Predicted | None:
    """Return the estimated mean label over all rows, or None without a label.

    All are (rows,). `label` is from 0 to 1, NaN without one; `verdict` is any number that tends to be higher where the
    label is, NaN where it could not be read. Rows with a label must be drawn at random, or by the verdict alone.

    The judge's verdicts make up to five strata. The mean weights the mean label of each stratum by its share of all
    rows (D. Holt, T. M. F. Smith, JRSS A 142 (1979) 33-46). For two verdicts that is the prediction-powered mean with
    the best weight of the judge (PPI++: A. N. Angelopoulos, J. C. Duchi, T. Zrnic, arXiv 2311.01453). The interval puts
    together Wilson's of all strata (G. Y. Zou, A. Donner, Statistics in Medicine 27 (2008) 1693-1702), with a design
    effect of the clusters and Student's t.
    """
    import pandas as pd

    label, verdict = np.asarray(label, dtype=float), np.asarray(verdict, dtype=float)
    known, codes = np.isfinite(label), pd.factorize(make_labels(cluster))[0]
    if not known.any():
        return None
    stratum, alone = _stratify(verdict, known), np.zeros(int(known.sum()), dtype=int)
    strata = _describe(label, stratum, codes)
    only = _describe(label[known], alone, pd.factorize(codes[known])[0])
    by_label = _as_mean(only, clusters=len(np.unique(codes[known])))
    by_both = _as_mean(strata, clusters=int(codes.max()) + 1)
    varies = by_both.interval is not None
    worth = _worth(strata, only) if varies else float(known.sum())
    return Predicted(mean=by_both, alone=by_label, strata=strata if varies else None, worth=worth)


def count_deciding_labels(predicted: Predicted, gate: float) -> int | None:
    """Return how many more labels would decide a gate, 0 to 1, if all rates stay as they are.

    It is 0 if the gate is decided already, and None if labels of all rows would not decide.
    """
    strata = predicted.strata
    if strata is None:
        return None

    def decides(labels: int) -> bool:
        low, high = strata.interval(labels / predicted.labels)
        return low >= gate or high < gate

    few, many = predicted.labels, strata.rows
    if decides(few):
        return 0
    if not decides(many):
        return None
    return find_first(decides, few, many) - predicted.labels


def _stratify(verdict: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the stratum of each row, in the order of the verdicts; one that could not be read counts as the mean."""
    read = np.isfinite(verdict)
    filled = np.where(read, verdict, verdict[read].mean() if read.any() else 0.0)
    values = np.unique(filled)
    if len(values) <= MOST_STRATA:
        stratum = np.searchsorted(values, filled)
    else:
        ends = np.unique(np.quantile(filled, np.arange(1, MOST_STRATA) / MOST_STRATA, method="lower"))
        stratum = np.searchsorted(ends, filled)
    while (counts := np.bincount(stratum[known], minlength=int(stratum.max()) + 1)).min() < LEAST_LABELS:
        if len(counts) == 1:
            break
        stratum = _merge(stratum, filled, int(counts.argmin()))
    return stratum


def _merge(stratum: np.ndarray, verdict: np.ndarray, place: int) -> np.ndarray:
    """Merge a stratum into its neighbour with the closer verdicts."""
    sizes = np.bincount(stratum)
    means = np.bincount(stratum, weights=verdict) / np.maximum(sizes, 1)
    beside = [other for other in (place - 1, place + 1) if 0 <= other < len(sizes)]
    other = min(beside, key=lambda one: abs(means[one] - means[place]))
    return np.where(stratum >= max(place, other), stratum - 1, stratum)


def _describe(label: np.ndarray, stratum: np.ndarray, codes: np.ndarray) -> Strata:
    """Return the rates of the strata, with the design effect of the clusters."""
    known, rows = np.isfinite(label), len(label)
    weight = np.bincount(stratum) / rows
    labels = np.bincount(stratum[known], minlength=len(weight)).astype(float)
    rate = np.bincount(stratum[known], weights=label[known], minlength=len(weight)) / labels
    worth = weight / labels
    # What each row adds to the error of the mean: by its verdict, and by its label.
    by_verdict = (rate[stratum] - weight @ rate) / rows
    by_label = np.where(known, worth[stratum] * (np.nan_to_num(label) - rate[stratum]), 0.0)
    binomial = float((rate * (1 - rate) * labels) @ worth**2) + float(by_verdict @ by_verdict)
    # One more label of 0 or 1: a few labels that are alike do not show that none varies.
    one = float(worth[stratum[known]].mean()) ** 2
    design = (float(by_label @ by_label) + float(by_verdict @ by_verdict) + one) / (binomial + one)
    sizes = np.bincount(codes[known])
    sizes = sizes[sizes > 0].astype(float)
    least = copies(sizes)
    if len(sizes) < known.sum():
        total = np.bincount(codes, weights=by_verdict + by_label)
        held = np.bincount(codes, weights=known) / known.sum()
        spread = float(np.square(total / np.maximum(1 - held, 1e-9)).sum()) if len(sizes) > 1 else np.inf
        most = known.sum() / least
        design = min(most, max(design, spread / binomial)) if binomial else most
    return Strata(weight, rate, labels, rows, design, least - 1)


def _as_mean(strata: Strata, *, clusters: int) -> Mean:
    interval = strata.interval() if strata.freedom > 0 else None
    return Mean(value=strata.value, interval=interval, rows=strata.rows, clusters=clusters)


def _worth(strata: Strata, only: Strata) -> float:
    """Return how many labels alone would give an interval as narrow at the same mean, and as small a variance.

    The smaller number counts: with few labels, intervals of strata put together are narrower than one of all, also
    where the verdicts say nothing; and labels that all agree within the strata have no variance.
    """
    low, high = strata.interval()
    alone = only._replace(rate=np.array([strata.value]))
    few, many = 0.5, 1e3
    for _ in range(60):
        times = (few + many) / 2
        ends = alone.interval(times)
        few, many = (times, many) if ends.high - ends.low > high - low else (few, times)
    variance = _variance(strata)
    return float(only.labels[0]) * min(many, _variance(alone) / variance if variance else np.inf)


def _variance(strata: Strata) -> float:
    """Return the unbiased variance of the mean."""
    within = np.square(strata.weight) * strata.rate * (1 - strata.rate) / np.maximum(strata.labels - 1, 1)
    between = float(strata.weight @ (strata.rate - strata.value) ** 2) / strata.rows
    return strata.design * (float(within.sum()) + between)

"""Planted judges beside labels of people: intervals that hold the true rate, and how many labels the judge saves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding, covered
from contrapose.tasks.statistics.predicted import Predicted, predict_mean
from contrapose.tasks.statistics.shares import Interval

ROWS = 1_000
LABELS = (30, 50, 100, 300)
RATES = (0.1, 0.3, 0.5, 0.9)
JUDGES: Mapping[str, tuple[float, float]] = {
    "60 %": (0.6, 0.6),
    "80 %": (0.8, 0.8),
    "95 %": (0.95, 0.95),
    "lenient": (0.95, 0.6),
}
"""Share of right verdicts on replies that people pass, and on those that they fail."""
COVERED, CELL = 0.945, 0.93
"""Bars: of all cells of a number of labels together, and of each cell."""
SAVED = 0.25
"""By a judge that is right on 90 % of the replies."""


class Replies(NamedTuple):
    """Replies of one run, (rows,) in each part."""

    label: np.ndarray
    """NaN without one."""
    verdict: np.ndarray
    cluster: np.ndarray


Draw = Callable[[np.random.Generator, int], Replies]


def labels(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Coverage for planted judges, by pass or fail, by a score, with half labels and in clusters; then labels saved."""
    rng = np.random.default_rng(66)
    for count in LABELS:
        shares: dict[str, list[float]] = {"ours": [], "Rogan-Gladen": [], "plug-in": [], "alone": []}
        for rate, (name, (true, false)) in product(RATES, JUDGES.items()):
            held = coverage(rng, lambda own, n, r=rate, t=true, f=false: passes(own, n, r, t, f), count, rate, runs)
            for method, share in held.items():
                shares[method].append(share)
            yield Finding(name=f"{count} labels, rate {rate}, judge {name}", value=held["ours"], low=CELL)
        for method, own in shares.items():
            bar = COVERED if method == "ours" else -np.inf
            yield Finding(name=f"{count} labels, {method}: mean coverage", value=float(np.mean(own)), low=bar)
            yield Finding(name=f"{count} labels, {method}: least coverage", value=min(own))
    yield from _other_kinds(rng, sizes, runs)
    for right in (0.7, 0.8, 0.9, 0.95):
        runs_of = [_predict(passes(rng, 100, 0.5, right, right)) for _ in range(runs // 4)]
        saved = float(np.median([one.saved for one in runs_of]))
        low = SAVED if right >= 0.9 else -np.inf
        yield Finding(name=f"labels saved, 100 labels, judge right on {right}", value=saved, low=low)


def _other_kinds(rng: np.random.Generator, sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Scores, half labels, and clusters of labels and of mistakes."""
    kinds: Mapping[str, tuple[Draw, float]] = {
        "score": (_scores, 0.5),
        "half labels": (_halves, 0.5),
        "clusters": (lambda own, n: in_clusters(own, n, sizes, 0.3), 0.7),
        "clusters, all their rows labelled": (lambda own, n: in_clusters(own, n, sizes, 0.3, together=True), 0.7),
    }
    for count, (name, (draw, rate)) in product(LABELS, kinds.items()):
        held = [covered(_predict(draw(rng, count)).mean.interval, rate) for _ in range(runs)]
        yield Finding(name=f"{count} labels, {name}", value=float(np.mean(held)), low=CELL)


def coverage(rng: np.random.Generator, draw: Draw, count: int, rate: float, runs: int) -> dict[str, float]:
    """Return how often the interval of each method holds the rate."""
    held: dict[str, list[bool]] = {"ours": [], "Rogan-Gladen": [], "plug-in": [], "alone": []}
    for _ in range(runs):
        replies = draw(rng, count)
        predicted = _predict(replies)
        held["ours"].append(covered(predicted.mean.interval, rate))
        held["alone"].append(covered(predicted.alone.interval, rate))
        held["Rogan-Gladen"].append(covered(rogan_gladen(replies), rate))
        held["plug-in"].append(covered(plug_in(replies), rate))
    return {method: float(np.mean(own)) for method, own in held.items()}


def _predict(replies: Replies) -> Predicted:
    predicted = predict_mean(*replies)
    assert predicted is not None
    return predicted


def passes(rng: np.random.Generator, count: int, rate: float, true: float, false: float) -> Replies:
    """Verdicts of pass and fail, by rates of right verdicts."""
    label = rng.random(ROWS) < rate
    right = rng.random(ROWS) < np.where(label, true, false)
    return _hide(rng, label.astype(float), (label == right).astype(float), np.arange(ROWS), count)


def _scores(rng: np.random.Generator, count: int) -> Replies:
    score = rng.normal(size=ROWS)
    label = rng.random(ROWS) < 1 / (1 + np.exp(-2 * score))
    return _hide(rng, label.astype(float), np.rint(2 * score + 5), np.arange(ROWS), count)


def _halves(rng: np.random.Generator, count: int) -> Replies:
    label = rng.choice([0.0, 0.5, 1.0], ROWS, p=[0.4, 0.2, 0.4])
    other = rng.choice([0.0, 0.5, 1.0], ROWS)
    return _hide(rng, label, np.where(rng.random(ROWS) < 0.7, label, other), np.arange(ROWS), count)


def in_clusters(
    rng: np.random.Generator, count: int, sizes: np.ndarray, alike: float, *, together: bool = False
) -> Replies:
    """Labels with a rate of 0.7 and verdicts right on 0.8, both alike within a cluster."""
    own = rng.choice(sizes, ROWS)
    cluster = np.repeat(np.arange(ROWS), own)[:ROWS]

    def draw(rate: float) -> np.ndarray:
        spread = (1 - alike) / alike
        return np.asarray(rng.random(ROWS) < rng.beta(rate * spread, (1 - rate) * spread, ROWS)[cluster])

    label, right = draw(0.7), draw(0.8)
    order = None
    if together:
        order = np.argsort(rng.permutation(int(cluster.max()) + 1)[cluster], kind="stable")
    return _hide(rng, label.astype(float), (label == right).astype(float), cluster, count, order)


def _hide(
    rng: np.random.Generator,
    label: np.ndarray,
    verdict: np.ndarray,
    cluster: np.ndarray,
    count: int,
    order: object = None,
) -> Replies:
    """Keep the first labels of an order of the rows, which is drawn where there is none."""
    places = rng.permutation(ROWS) if order is None else np.asarray(order)
    return Replies(np.where(np.argsort(places) < count, label, np.nan), verdict, cluster)


def rogan_gladen(replies: Replies) -> Interval:
    """Return the interval of W. J. Rogan and B. Gladen's rate (American Journal of Epidemiology 107 (1978) 71-76).

    With rates of the judge that are estimated: Z. Lang, J. Reiczigel, Preventive Veterinary Medicine 113 (2014) 13-22.
    """
    normal, known = 1.959964, np.isfinite(replies.label)
    good, bad = (replies.verdict[replies.label == label] for label in (1.0, 0.0))
    rows, passed = ROWS + normal**2, float(replies.verdict.sum())
    rate = (passed + normal**2 / 2) / rows
    more = (len(good) + 2, len(bad) + 2)
    true, false = (good.sum() + 1) / more[0], ((1 - bad).sum() + 1) / more[1]
    youden = true + false - 1
    assert known.any()
    if youden == 0:
        return Interval(0.0, 1.0)
    mean = float(np.clip((rate + false - 1) / youden, 0, 1))
    parts = (mean * true * (1 - true) / more[0], (1 - mean) * false * (1 - false) / more[1])
    shift = 2 * normal**2 * (parts[0] - parts[1])
    variance = rate * (1 - rate) / rows + mean * parts[0] + (1 - mean) * parts[1]
    half = normal * variance**0.5 / abs(youden)
    return Interval(max(0.0, mean + shift - half), min(1.0, mean + shift + half))


def plug_in(replies: Replies) -> Interval:
    """Return the interval of the prediction-powered mean with the estimated weight (PPI++) and its plug-in variance."""
    known = np.isfinite(replies.label)
    label, own, others = replies.label[known], replies.verdict[known], replies.verdict[~known]
    variance = float(replies.verdict.var())
    covariance = float(np.cov(label, own)[0, 1])
    weight = min(1.0, max(0.0, covariance / variance / (1 + len(own) / len(others)))) if variance else 0.0
    mean = float(label.mean() + weight * (others.mean() - own.mean()))
    spread = (label - weight * own).var(ddof=1) / len(own) + weight**2 * others.var() / len(others)
    half = 1.959964 * float(spread) ** 0.5
    return Interval(max(0.0, mean - half), min(1.0, mean + half))

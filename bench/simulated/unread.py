"""Verdicts where replies stay unread: how often what lies exactly at its gate passes, or fails, though it must not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from itertools import product
from unittest.mock import patch

import numpy as np

from bench.simulated.draws import Finding, answers, labels
from bench.simulated.gates import MOST
from contrapose.tasks.evaluate import gate
from contrapose.tasks.evaluate.gate import Counts, Rules, decide
from contrapose.tasks.evaluate.rates import compute_rate

GATE = 0.7
EXACTLY = 0.05
"""Of independent cases, whose rates are enumerated; those of clusters, which are simulated, are held against `MOST`."""
ROWS = (40, 176, 371, 1000)
UNREAD = (0.0, 0.05, 0.1, 0.2, 0.4)
"""Shares of the cases whose replies stay unread."""
WAYS = ("at random", "among the wrong", "among the right")
"""Which replies these are: a reader that misses one kind more than another is the worst there can be."""
ALIKE = 0.3
"""Correlation of the cases of a cluster."""
RULES = Rules(min_pass_rate=GATE, max_error_share=0.0, gate="interval")


def verdict_of(passed: np.ndarray, undecided: np.ndarray, cluster: np.ndarray) -> str:
    """What the program says of a test.

    Args:
        passed: (cases,) of booleans; False where undecided.
        undecided: (cases,) of booleans: the replies say nothing.
        cluster: (cases,) of labels.
    """
    rate = compute_rate("pass_rate", np.where(undecided, np.nan, passed), cluster, wanted=GATE)
    counts = Counts(asked=len(passed), scored=int((~undecided).sum()), passed=int(passed.sum()), errors=0)
    return decide(counts, [rate] if rate else [], RULES).verdict


def unread(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """The larger of false passes and false failures in each cell."""
    cells = [each for each in product(ROWS, UNREAD, WAYS) if each[1] or each[2] == WAYS[0]]
    # How many further cases would decide an open verdict takes most of its time, and decides nothing.
    with patch.object(gate, "_count_needed_cases", return_value=None):
        for rows, share, way in cells:
            yield _finding(_enumerated(rows, share, way), f"{share:.0%} of {rows} unread {way}", EXACTLY)
        for rows, share, way in cells:
            found = _simulated(_clusters(sizes, rows), share, way, runs=runs)
            yield _finding(found, f"{share:.0%} of {rows} in clusters unread {way}", MOST)


def _finding(rates: tuple[float, float], cell: str, most: float) -> Finding:
    falsely_passed, falsely_failed = rates
    name = f"{cell}: false passes {falsely_passed:.4f}, false failures {falsely_failed:.4f}, the larger"
    return Finding(name=name, value=max(rates), high=most)


def _enumerated(rows: int, share: float, way: str) -> tuple[float, float]:
    """How probable a pass and a failure are, over every number of independent cases that can be right."""
    from scipy.stats import binom

    lost = round(share * rows)
    # Whichever are lost at random: those that are left are independent cases of the same rate.
    drawn = rows - lost if way == "at random" else rows
    right = np.arange(drawn + 1)
    kept = {"among the wrong": np.minimum(right, rows - lost), "among the right": np.maximum(right - lost, 0)}
    fails, passes = _ends(rows, lost)
    counted, chance = kept.get(way, right), binom.pmf(right, drawn, GATE)
    return float(chance[counted >= passes].sum()), float(chance[counted < fails].sum())


def _ends(rows: int, lost: int) -> tuple[int, int]:
    """The fewest right ones that do not fail, and the fewest that pass: the more are right, the better the verdict."""
    counts, order = range(rows - lost + 1), ("fail", "inconclusive", "pass")
    found = [
        bisect_left(counts, place, key=lambda right: order.index(_of_counts(rows, right, lost))) for place in (1, 2)
    ]
    return found[0], found[1]


def _of_counts(rows: int, right: int, lost: int) -> str:
    place = np.arange(rows)
    return verdict_of(place < right, place >= rows - lost, place)


def _simulated(sizes: np.ndarray, share: float, way: str, *, runs: int) -> tuple[float, float]:
    """How often cases in clusters pass, and how often they fail."""
    rows, cluster = int(sizes.sum()), labels(sizes)
    rng = np.random.default_rng([7, rows, round(100 * share), WAYS.index(way)])
    right = answers(rng, sizes, GATE, ALIKE, kind="beta", runs=runs)
    lost = _lost(rng, right, round(share * rows), way)
    judge = partial(verdict_of, cluster=cluster)
    verdicts = [judge(each & ~open_, open_) for each, open_ in zip(right, lost, strict=True)]
    return verdicts.count("pass") / runs, verdicts.count("fail") / runs


def _lost(rng: np.random.Generator, right: np.ndarray, lost: int, way: str) -> np.ndarray:
    """Which cases stay unread, (runs, rows) of booleans; beyond the wrong (or the right) ones, any."""
    first = (
        rng.random(right.shape) + {"at random": 0.0 * right, "among the wrong": right, "among the right": ~right}[way]
    )
    return first.argsort(axis=1).argsort(axis=1) < lost


def _clusters(sizes: np.ndarray, rows: int) -> np.ndarray:
    """Clusters of the given sizes, over and over in an order of their own, that hold so many rows."""
    order = np.random.default_rng(7).permutation(np.resize(sizes, len(sizes) * (rows // int(sizes.sum()) + 1)))
    ends = np.minimum(np.cumsum(order), rows)
    found = np.diff(ends, prepend=0)
    return found[found > 0]

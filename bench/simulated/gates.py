"""How often a gate is passed by what lies exactly at it, alone and among four tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, cast

import numpy as np

from bench.simulated.draws import CORRELATIONS, GATES, KINDS, Finding, answers, labels
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.evaluate.gate import correct_outcomes
from contrapose.tasks.statistics.shares import Share, clustered_share, evidence, make_independent

MOST = 0.06
ROWS = (10, 20, 50, 100, 373)


def boundaries(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Passing at the exact boundary: of independent rows by enumeration, of clusters by simulation."""
    from scipy.stats import binom

    for rows, gate in product(ROWS, GATES):
        passed = [evidence(make_independent(true, rows), gate).bounds.low >= gate for true in range(rows + 1)]
        chance = float(binom.pmf(np.arange(rows + 1), rows, gate) @ np.array(passed, dtype=float))
        yield Finding(name=f"gate {gate} with {rows} rows", value=chance, high=MOST)
    cluster = labels(sizes)
    for gate, alike, kind in product(GATES, CORRELATIONS, KINDS):
        rng = np.random.default_rng([3, int(100 * gate), int(10 * alike)])
        found = answers(rng, sizes, gate, alike, kind=kind, runs=runs)
        passed = [evidence(clustered_share(each, cluster), gate).bounds.low >= gate for each in found]
        yield Finding(name=f"gate {gate} alike {alike} {kind}", value=float(np.mean(passed)), high=MOST)


def families(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Any of four tests at their boundaries, after Holm's correction."""
    cluster = labels(sizes)
    for alike in CORRELATIONS:
        rng = np.random.default_rng([4, int(10 * alike)])
        drawn = [answers(rng, sizes, gate, alike, kind="beta", runs=runs) for gate in GATES[1:5]]
        passed = [
            any(
                each["verdict"] == "pass"
                for each in correct_outcomes(
                    [
                        _outcome(clustered_share(test[run], cluster), gate)
                        for test, gate in zip(drawn, GATES[1:5], strict=True)
                    ]
                )
            )
            for run in range(runs)
        ]
        yield Finding(name=f"any of four gates alike {alike}", value=float(np.mean(passed)), high=MOST)


def _outcome(share: Share, gate: float) -> Outcome:
    """What the correction reads of an outcome; the further cases that a verdict also tells take much longer."""
    bounds, reached, missed = evidence(share, gate)
    known: dict[str, Any] = {"verdict": "pass" if bounds.low >= gate else "inconclusive"}
    known |= {"gate": {"reached": reached, "missed": missed, "further": None}}
    known |= {"pass_rate": share.rate, "min_pass_rate": gate}
    return cast(Outcome, known)

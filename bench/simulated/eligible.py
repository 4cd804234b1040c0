"""Looks along the samples of a test whose rate is over those alone that were answered rightly before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from bench.simulated.draws import Finding
from bench.simulated.gates import MOST
from contrapose.tasks.evaluate.rates import compute_rate
from contrapose.tasks.probes.answers.answer_probe import LEAST_RIGHT
from contrapose.tasks.statistics.looks import Looks

SAMPLES = (120, 400)
ABILITIES = (0.3, 0.6, 0.95)
"""Shares of the samples that are answered rightly before."""
GATES = (0.75, 0.875)
SHARES = tuple(look / 8 for look in range(1, 9))
"""Of the samples, when one looks."""


def eligible(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """How often a model whose noticed rate lies at the gate passes, or fails, at any look: the larger of the two."""
    rng = np.random.default_rng(56)
    for samples, ability, gate in product(SAMPLES, ABILITIES, GATES):
        claims = np.array([_claims(rng, samples, ability, gate) for _ in range(runs)])
        passes, fails = claims.mean(axis=0)
        name = f"{samples} samples, {ability:.0%} right before, gate {gate:.1%}: passes {passes:.4f}, fails {fails:.4f}"
        yield Finding(name=f"{name}, the larger", value=max(passes, fails), high=MOST)


def _claims(rng: np.random.Generator, samples: int, ability: float, gate: float) -> tuple[bool, bool]:
    right, noticed = rng.random(samples) < ability, rng.random(samples) < gate
    passed = failed = False
    for look, share in enumerate(SHARES, start=1):
        kept = noticed[: round(share * samples)][right[: round(share * samples)]]
        if len(kept) < LEAST_RIGHT:
            continue
        rate = compute_rate("noticed_rate", kept, np.arange(len(kept)), wanted=gate, looks=Looks(shares=SHARES[:look]))
        passed, failed = (
            passed or (rate is not None and rate.may_be_reached),
            failed or (rate is not None and rate.may_be_missed),
        )
    return passed, failed

"""How often answers change, or stay, that are mere guesses."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

DRAWS = 20_000
"""Pairs of distributions that a guesser of likelihoods draws: their share has a standard error under 0.4 %."""
SEED = 20


class Guess(NamedTuple):
    """A model that guesses among the options."""

    changes: float
    """Probability that its answer counts as changed."""

    @property
    def stays(self) -> float:
        """Probability that its answer counts as the same."""
        return 1 - self.changes


def guess(options: int, *, upper: float | None, by_likelihood: bool) -> Guess | None:
    """A model that draws both its answers evenly, whatever is asked; None without options.

    Args:
        options: to choose from.
        upper: divergence in bits above which an answer counts as changed though the same option leads; None: unknown.
        by_likelihood: whether the model gives a distribution over the options. Then both are drawn evenly from all
            distributions there are, else each is one option.
    """
    if options < 2:
        return None
    other = 1 - 1 / options
    if upper is None or not by_likelihood:
        return Guess(other)
    return Guess(other + _moved(options, upper))


@cache
def _moved(options: int, upper: float) -> float:
    """Share of pairs of distributions, both drawn evenly, in which the same option leads and the divergence exceeds."""
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(SEED)
    first, second = (rng.dirichlet(np.ones(options), size=DRAWS) for _ in range(2))
    same = first.argmax(axis=1) == second.argmax(axis=1)
    divergence = jensenshannon(first, second, axis=1, base=2) ** 2
    return float(np.mean(same & (divergence > upper)))

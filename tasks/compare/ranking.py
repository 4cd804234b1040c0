"""Ranks of models: those that cannot be told apart share one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contrapose.tasks.compare.pairs import rate
from contrapose.tasks.compare.rows import Rows
from contrapose.tasks.compare.verdicts import direction
from contrapose.tasks.comparison import Contest, Pair, Place, Standing


def standings(rows: Rows, pairs: Sequence[Pair], names: Sequence[str]) -> list[Standing]:
    """The models of one test by rank, those of one rank by pass rate.

    Args:
        rows: of the test.
        pairs: all of them.
        names: of the models, in the order of the rows.
    """
    better = [winner for pair in pairs if (winner := _winner(pair))]
    scored = np.isfinite(rows.passed)
    found = [
        Standing(
            name=name,
            rank=1 + sum(loser == name for _, loser in better),
            asked=int(rows.asked[place].sum()),
            scored=int(scored[place].sum()),
            rate=rate(rows.passed[place][rows.common], rows.cluster[rows.common]),
        )
        for place, name in enumerate(names)
    ]
    return sorted(found, key=lambda each: (each["rank"], -each["rate"]["value"] if each["rate"] else 0.0))


def leaderboard(tests: Sequence[Contest], names: Sequence[str]) -> list[Place]:
    """The models over all tests, by the mean of their ranks; every test counts the same."""
    ranks = {
        name: {test["test_type"]: each["rank"] for test in tests for each in test["standings"] if each["name"] == name}
        for name in names
    }
    means = {name: sum(own.values()) / len(own) for name, own in ranks.items()}
    found = [
        Place(name=name, rank=1 + sum(mean < means[name] for mean in means.values()), mean_rank=means[name], ranks=own)
        for name, own in ranks.items()
    ]
    return sorted(found, key=lambda place: place["rank"])


def _winner(pair: Pair) -> tuple[str, str] | None:
    """The better and the other model of a pair that differs significantly."""
    sides = pair["first"], pair["second"]
    sign = direction(pair)
    return None if sign == 0 else sides if sign > 0 else sides[::-1]

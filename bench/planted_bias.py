"""Whether a judge's position bias is found as often as `contrapose estimate` promises: `python -m bench.planted_bias`.

In each simulated run a judge with a prompt and labels of its own is asked about as many pairs as the estimate names. It
follows the facts in four fifths of the pairs, and the position in the others: the first one 10 points more often than
the second one. Its replies are read by a pattern, scored and counted by order_bias itself. A run finds the bias where
the exact test of its figures is under 5 % and points to the first position. The second line plants none, and tells how
often one is found all the same. The exit status is 1 where the power is under 80 % by more than its own error.
"""

from __future__ import annotations

import argparse
import random
import sys
from math import sqrt

import pandas as pd

from contrapose.tasks.core.records import Completion, SummaryPair, Trial
from contrapose.tasks.forecast.deciding import BIAS
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.statistics.power import DISCORDANCE, POWER, pairs_for

SETTINGS = OrderBiasSettings(
    prompt="{{ article }}\n1: {{ first }}\n2: {{ second }}\nEnd with [[1]] or [[2]].",
    labels=("1", "2"),
    pattern=r"\[\[(\d)\]\]",
)
LEVEL = 0.05


def run(pairs: int, bias: float, *, seed: int) -> dict[str, float | int | None]:
    """The figures of one simulated run."""
    rng, probe = random.Random(seed), OrderBias()
    trials = []
    for number in range(pairs):
        pair = SummaryPair(
            id=str(number), article_sentence="It is.", correct_sentence=f"Yes {number}", incorrect_sentence="No"
        )
        [case] = probe.cases(pair, SETTINGS, rng=rng, likelihoods="none")
        draw = rng.random()
        first_share = (DISCORDANCE + bias) / 2
        replies = ("1", "1") if draw < first_share else ("2", "2") if draw < DISCORDANCE else ("1", "2")
        expected, actual = (Completion(text=f"Both have merits. [[{reply}]]") for reply in replies)
        trials.append(Trial(case=case, expected=expected, actual=actual))
    scores = probe.score(trials, SETTINGS, embed=lambda texts: sys.exit("nothing should be embedded"))
    return dict(probe.summarise(pd.DataFrame([dict(score.columns) for score in scores])))


def found(figures: dict[str, float | int | None]) -> bool:
    """Whether the first position is found to be favoured."""
    p = figures.get("position_bias_p")
    return p is not None and p < LEVEL and (figures["AA"] or 0) > (figures["BB"] or 0)


def main() -> int:
    """Print the shares of runs that find the bias."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    pairs = pairs_for(BIAS)
    if pairs is None:
        return 1
    shares = {bias: sum(found(run(pairs, bias, seed=seed)) for seed in range(runs)) / runs for bias in (BIAS, 0.0)}
    for bias, share in shares.items():
        print(f"{pairs} pairs, {bias:.0%} planted: found in {share:.1%} of {runs} runs")
    return int(shares[BIAS] < POWER - 2 * sqrt(POWER * (1 - POWER) / runs))


if __name__ == "__main__":
    sys.exit(main())

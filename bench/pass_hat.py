"""Whether the intervals of pass^k hold: `python -m bench.pass_hat`.

Each task has a pass rate of its own, drawn from a Beta distribution, and four trials. In groups, half of the tasks of a
group have the rate of the group. The true pass^k is the mean of the k-th powers of the rates.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from contrapose.tasks.certify.agents import estimate_pass_hat

RATES = {"spread (0.6, 0.8)": (0.6, 0.8), "low (0.3, 2)": (0.3, 2.0), "high (4, 0.5)": (4.0, 0.5)}
DESIGNS = ((20, 20), (50, 50), (50, 20))
"""Tasks, and groups of them."""
TRIALS = 4


def main() -> None:
    """Print the coverage of each cell, for k from 1 to 4."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    runs = parser.parse_args().runs
    for (name, shape), (tasks, groups) in product(RATES.items(), DESIGNS):
        true = [float(np.mean(np.random.default_rng(0).beta(*shape, 1_000_000) ** k)) for k in range(1, TRIALS + 1)]
        held = np.zeros(TRIALS)
        for run in range(runs):
            rng = np.random.default_rng(run)
            cluster = np.arange(tasks) % groups
            shared = rng.random(tasks) < (0.5 if groups < tasks else 0)
            rates = np.where(shared, rng.beta(*shape, groups)[cluster], rng.beta(*shape, tasks))
            passed = rng.binomial(TRIALS, rates)
            for k in range(1, TRIALS + 1):
                own = estimate_pass_hat(passed, np.full(tasks, TRIALS), cluster, k)
                held[k - 1] += own is not None and own.interval is not None and _covers(own.interval, true[k - 1])
        print(f"{name}, {tasks} tasks in {groups} groups: {np.round(100 * held / runs, 1)} %", flush=True)


def _covers(interval: tuple[float, float], value: float) -> bool:
    return bool(interval[0] <= value <= interval[1])


if __name__ == "__main__":
    main()

"""pass^k is unbiased, and its interval covers the true value."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.certify.agents import estimate_pass_hat


@settings(max_examples=30)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=6), st.integers(1, 5))
def test_it_is_the_share_of_all_draws_of_k_trials(tasks: list[list[bool]], k: int) -> None:
    enough = [list(combinations(trials, k)) for trials in tasks if len(trials) >= k]
    passed, trials = np.array([sum(task) for task in tasks]), np.array([len(task) for task in tasks])
    for any_of_them, holds in ((False, all), (True, any)):
        estimate = estimate_pass_hat(passed, trials, np.arange(len(tasks)), k, any_of_them=any_of_them)
        if not enough:
            assert estimate is None
            continue
        assert estimate is not None
        assert estimate.rows == len(enough)
        assert estimate.value == pytest.approx(np.mean([np.mean([holds(draw) for draw in draws]) for draws in enough]))


def test_copies_of_a_task_add_nothing() -> None:
    passed, trials = np.array([4, 0, 2, 3, 1, 4, 0, 4, 2, 1, 3, 0] * 2), np.full(24, 4)
    apart = estimate_pass_hat(passed, trials, np.arange(24), 2)
    together = estimate_pass_hat(passed, trials, np.tile(np.arange(12), 2), 2)
    assert apart
    assert together
    assert apart.interval
    assert together.interval
    assert apart.value == together.value
    assert together.clusters == 12
    assert np.ptp(together.interval) > 1.3 * np.ptp(apart.interval)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_interval_covers_the_true_value(k: int) -> None:
    """Of 150 made-up benchmarks of 50 tasks in four trials, about 95 % of the intervals hold the true pass^k."""
    rng, held = np.random.default_rng(k), 0
    true = np.mean(np.random.default_rng(0).beta(0.6, 0.8, 1_000_000) ** k)
    for _ in range(150):
        passed = rng.binomial(4, rng.beta(0.6, 0.8, 50))
        estimate = estimate_pass_hat(passed, np.full(50, 4), np.arange(50), k)
        assert estimate
        assert estimate.interval
        held += bool(estimate.interval.low <= true <= estimate.interval.high)
    assert held / 150 > 0.92

"""A share of the cases against its gate, also at one of several looks."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from contrapose.tasks.evaluate.rates import compute_rate
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.shares import LEVEL, clustered_share, evidence, wilson


def test_votes_of_a_case_count_as_one_case_and_open_votes_either_way() -> None:
    met = np.array([[1, 0, 1, 0]] * 30 + [[1, 1, np.nan, np.nan]] * 10)
    votes = compute_rate("share", met, np.arange(len(met)), wanted=0.4)
    assert (votes.rows, votes.open, votes.votes) == (40, 10, 4)
    assert (votes.worst.rate, votes.best.rate) == (80 / 160, 100 / 160)
    assert votes.value == 80 / 140


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([(0.2,), (0.1, 0.4), (0.25, 0.5, 0.75, 1.0)]))
def test_at_a_look_the_bound_reaches_the_gate_where_the_p_value_reaches_the_level(
    passed: int, failed: int, shares: tuple[float, ...]
) -> None:
    assume(passed + failed)
    met, cluster = np.array([1.0] * passed + [0.0] * failed), np.arange(passed + failed) // 2
    looks = Looks(shares=shares)
    early = compute_rate("pass_rate", met, cluster, wanted=0.7, looks=looks)
    late = compute_rate("pass_rate", met, cluster, wanted=0.7)
    assert early.may_be_reached == (early.reached <= LEVEL) == (early.bounds.low >= 0.7)
    assert early.may_be_missed == (early.missed <= LEVEL) == (early.bounds.high <= 0.7)
    assert early.reached >= late.reached
    assert early.missed >= late.missed
    assert early.interval.low <= late.interval.low <= late.interval.high <= early.interval.high


def test_one_look_changes_nothing_by_a_digit() -> None:
    for passed in range(0, 41, 5):
        met, cluster = np.array([1.0] * passed + [0.0] * (40 - passed)), np.arange(40) // 3
        share = clustered_share(met == 1, cluster)
        now = compute_rate("pass_rate", met, cluster, wanted=0.7, looks=Looks(shares=(1.0,)))
        plain = evidence(share, 0.7)
        assert (now.bounds, now.reached, now.missed, now.interval) == (
            plain.bounds,
            plain.reached,
            plain.missed,
            wilson(share),
        )

"""A share of the cases against its gate."""

from __future__ import annotations

import numpy as np

from contrapose.tasks.evaluate.rates import rate_of


def test_votes_of_a_case_count_as_one_case_and_open_votes_either_way() -> None:
    met = np.array([[1, 0, 1, 0]] * 30 + [[1, 1, np.nan, np.nan]] * 10)
    votes = rate_of("share", met, np.arange(len(met)), wanted=0.4)
    assert (votes.rows, votes.open, votes.votes) == (40, 10, 4)
    assert (votes.worst.rate, votes.best.rate) == (80 / 160, 100 / 160)
    assert votes.value == 80 / 140

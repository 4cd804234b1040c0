"""The divergence of two distributions, against scipy's distance."""

import numpy as np
from scipy.spatial.distance import jensenshannon

from contrapose.tasks.probes.answers.settings import jensen_shannon


def test_bits_are_the_square_of_scipys_distance_digit_for_digit() -> None:
    rng = np.random.default_rng(7)
    for outcomes in (2, 3, 4, 26):
        first, second = (rng.dirichlet(np.full(outcomes, 0.3), size=2_000) for _ in range(2))
        first[0], second[0] = np.eye(outcomes)[:2]
        expected = np.clip(np.nan_to_num(jensenshannon(first, second, axis=1, base=2) ** 2), 0, 1)
        np.testing.assert_array_equal(jensen_shannon(first, second), expected)

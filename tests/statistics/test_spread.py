"""The variance of a mean over clusters, and how sure that is: as their definitions say, worked out another way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from contrapose.tasks.statistics.shares import copies, fewer, spread

SUMS = np.array([4.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.5, 0.0])
SIZES = np.array([4, 3, 3, 4, 5, 4, 3, 4])


def without_each() -> np.ndarray:
    """The mean with each of the clusters left out in turn."""
    return np.array(
        [np.delete(SUMS, place).sum() / np.delete(SIZES, place).sum() for place in range(len(SUMS))], dtype=float
    )


def test_the_variance_is_that_of_the_means_with_one_cluster_left_out() -> None:
    apart = without_each() - SUMS.sum() / SIZES.sum()
    clusters = len(SUMS)
    assert spread(SUMS, SIZES).variance == pytest.approx((clusters - 1) / clusters * float((apart**2).sum()))


def test_its_degrees_of_freedom_are_those_of_a_sum_of_squares_that_vary_so() -> None:
    # Satterthwaite: twice the square of the mean over the variance, here of the sum of the squares.
    squares = (without_each() - SUMS.sum() / SIZES.sum()) ** 2
    expected = 2 * squares.sum() ** 2 / (len(squares) * squares.var())
    assert 1 < expected < copies(SIZES) - 1
    assert spread(SUMS, SIZES).freedom == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_degrees_of_freedom_do_not_depend_on_the_unit(scale: float) -> None:
    usual, other = spread(SUMS, SIZES), spread(SUMS * scale, SIZES)
    assert other.freedom == pytest.approx(usual.freedom)
    assert other.variance == pytest.approx(usual.variance * scale**2)


def test_the_degrees_of_freedom_are_those_of_the_clusters_at_most_and_one_at_least() -> None:
    sizes = np.full(10, 4)
    alike = spread(np.array([1.0, 3.0] * 5), sizes)
    assert alike.freedom == copies(sizes) - 1 == 9
    assert spread(np.array([60.0, 1.0]), np.array([100, 1])).freedom == 1


def test_copies_of_rows_tell_as_much_as_the_squared_sum_over_the_sum_of_squares() -> None:
    assert copies(np.array([1, 2, 3])) == pytest.approx(36 / 14)
    assert copies(np.array([5, 5])) == 2


@pytest.mark.parametrize(("rows", "clusters"), [(100, 5), (40, 12.5), (7, 7)])
def test_few_clusters_cost_the_squared_ratio_of_the_quantiles(rows: float, clusters: float) -> None:
    assert fewer(rows, clusters) == pytest.approx((t.ppf(0.975, rows - 1) / t.ppf(0.975, clusters - 1)) ** 2)
    assert fewer(rows, clusters) <= 1

"""The cheapest design of samples and wordings for an interval of a wanted length."""

from __future__ import annotations

import pytest

from contrapose.tasks.core.slices import WordingVariances
from contrapose.tasks.forecast.designs import Design, assume_variances, cheapest

LIMITS = {"most_samples": 5_000, "most_wordings": 30}


def variances(*, samples: float, wordings: float, rest: float) -> WordingVariances:
    return WordingVariances(samples=samples, wordings=wordings, askings=0.0, rest=rest)


def test_the_half_width_is_students_of_all_three_variances() -> None:
    # t of 0.975 with 5 degrees of freedom is 2.570582.
    design = Design(samples=100, wordings=6, per_sample=2)
    expected = 2.570582 * (0.1 / 100 + 0.02 / 6 + 0.08 / 200) ** 0.5
    assert design.half_width(variances(samples=0.1, wordings=0.02, rest=0.08)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("half_width", [0.05, 0.08, 0.12])
@pytest.mark.parametrize("wordings", [0.0, 0.002, 0.01])
def test_no_cheaper_design_is_short_enough(half_width: float, wordings: float) -> None:
    own = variances(samples=0.1, wordings=wordings, rest=0.1)
    best = cheapest(own, half_width=half_width, **LIMITS)
    assert best is not None
    assert best.half_width(own) <= half_width
    for count in range(6, 31):
        for each in range(1, count + 1):
            samples = (best.cases - 1) // each
            if samples * each >= 2 * count:
                assert Design(samples=samples, wordings=count, per_sample=each).half_width(own) > half_width


def test_more_wordings_spare_cases_where_wordings_differ() -> None:
    own = variances(samples=0.1, wordings=0.005, rest=0.1)
    few, many = (cheapest(own, half_width=0.08, most_samples=5_000, most_wordings=most) for most in (8, 20))
    assert few is not None
    assert many is not None
    assert many.cases < few.cases / 2


def test_few_samples_are_asked_in_more_wordings() -> None:
    own = variances(samples=0.01, wordings=0.0, rest=0.2)
    best = cheapest(own, half_width=0.08, most_samples=60, most_wordings=8)
    assert best is not None
    assert best.samples <= 60
    assert best.per_sample > 1


def test_none_is_enough_where_few_wordings_differ_much() -> None:
    own = variances(samples=0.05, wordings=0.05, rest=0.05)
    assert cheapest(own, half_width=0.05, most_samples=10**6, most_wordings=8) is None
    assert cheapest(own, half_width=0.05, most_samples=10**6, most_wordings=5) is None


def test_what_is_assumed_is_the_variance_of_a_pass_rate() -> None:
    assert sum(value or 0.0 for value in assume_variances().values()) == pytest.approx(0.7 * 0.3)  # type: ignore[misc]

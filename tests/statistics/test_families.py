"""Paired tests and families of tests agree with what is published or counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from contrapose.tasks.statistics.families import (
    benjamini_hochberg,
    binomial_cdf,
    compare_discordant,
    format_p_over_level,
    holm,
    mcnemar,
    wilcoxon,
)


def test_mcnemar_counts_the_pairs_that_differ() -> None:
    found = mcnemar([True, True, False, True], [False, True, True, False])
    assert found == (2, 1, 1.0)


def test_mcnemar_is_the_binomial_test_of_the_split() -> None:
    # Two-sided: 2 x (1 + 10) / 2^10.
    assert compare_discordant(9, 1).p == pytest.approx(2 * 11 / 1024)


def test_answers_that_never_differ_show_nothing() -> None:
    assert mcnemar([True, False], [True, False]).p == 1
    assert wilcoxon([0.0, 0.0]) is None


def test_signed_ranks_of_ten_rises() -> None:
    assert wilcoxon(range(1, 11)) == pytest.approx(2 / 1024)


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("values", [[], [0.2], [0.04, 0.01, 0.03], [0.5, 0.5, 0.02], [1.0, 0.0, 0.3, 0.9, 0.0251]])
def test_holm_and_benjamini_hochberg_are_those_of_statsmodels(values: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    for own, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        theirs = multipletests(values, method=method)[1] if values else []
        assert own(values) == pytest.approx(list(theirs), rel=1e-12)


@pytest.mark.parametrize(("count", "trials"), [(0, 0), (0, 9), (4, 9), (9, 9), (12, 9), (498_000, 1_000_000)])
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_the_tail_of_the_binomial_distribution_is_that_of_scipy(count: int, trials: int, rate: float) -> None:
    assert binomial_cdf(count, trials, rate) == pytest.approx(binom.cdf(count, trials, rate), rel=1e-10)


@pytest.mark.parametrize(
    ("p", "told"),
    [(0.0801, "0.080"), (0.0502, "0.0502"), (0.050004, "0.050004"), (0.0511, "0.051"), (1.0, "1.000")],
)
def test_a_p_value_has_as_many_decimals_as_it_takes(p: float, told: str) -> None:
    assert format_p_over_level(p) == told


@given(p=st.floats(0.05 + 1e-12, 1))
def test_what_is_over_the_level_reads_as_over_it(p: float) -> None:
    assert float(format_p_over_level(p)) > 0.05

"""Looks at a growing sample: the published bounds, what a Brownian motion does, and a p value that counts all looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from bench.simulated.stopping import levels, spent_by
from contrapose.tasks.statistics.looks import ONE_LOOK, SPARED, Looks
from contrapose.tasks.statistics.shares import LEVEL

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)
PATHS = 400_000


def obrien_fleming(share: float, level: float) -> float:
    return float(2 * norm.sf(norm.isf(level / 2) / np.sqrt(share)))


def pocock(share: float, level: float) -> float:
    return float(level * np.log(1 + (np.e - 1) * share))


def decided(bounds: dict[float, float]) -> float:
    """The share of Brownian motions that is decided, from the p value that decides after each share of the cases."""
    rng, sums, before = np.random.default_rng(3), np.zeros(PATHS), 0.0
    undecided = np.ones(PATHS, dtype=bool)
    for share, p in bounds.items():
        sums += rng.normal(scale=np.sqrt(share - before), size=PATHS)
        undecided &= norm.sf(sums / np.sqrt(share)) > p
        before = share
    return 1 - float(undecided.mean())


def later(run: int) -> Looks:
    """At the end of a run, after runs that each ended with fewer cases."""
    return Looks(earlier=tuple(share / FIVE[run] for share in FIVE[:run]))


def close(level: float) -> object:
    """Within three standard errors of so many motions."""
    return pytest.approx(level, abs=3 * np.sqrt(level / PATHS))


def increasing(*, most: int) -> st.SearchStrategy[tuple[float, ...]]:
    return st.lists(st.integers(1, 400), min_size=1, max_size=most, unique=True).map(
        lambda places: tuple(place / 400 for place in sorted(places))
    )


@st.composite
def some_looks(draw: st.DrawFn) -> Looks:
    shares = draw(increasing(most=6))
    earlier = draw(st.integers(0, len(shares) - 1))
    return Looks(shares=shares[earlier:], earlier=shares[:earlier])


P_VALUES = st.floats(1e-12, 1.0)


@pytest.mark.parametrize(
    ("spend", "published"),
    [
        (obrien_fleming, (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
        (pocock, (2.4380, 2.4268, 2.4101, 2.3966, 2.3859)),
    ],
)
def test_bounds_are_those_that_are_published_for_five_looks(spend, published) -> None:  # type: ignore[no-untyped-def]
    # K. K. G. Lan, D. L. DeMets, as printed by their program and by R's gsDesign and ldbounds.
    assert norm.isf(levels(FIVE, 0.025, spend)) == pytest.approx(published, abs=2e-4)


def test_one_look_changes_no_p_value_by_a_digit() -> None:
    for p in (0.0, 1e-300, 0.0123456789, LEVEL, 0.7, 1.0):
        assert ONE_LOOK.overall(p) == p
        assert ONE_LOOK.level(p) == p


def test_a_first_look_spends_its_share_of_the_level() -> None:
    assert Looks(shares=(0.5,)).level(LEVEL) == pytest.approx(LEVEL / 4, rel=1e-9)
    assert Looks(shares=(0.5,)).overall(0.01) == pytest.approx(0.04, rel=1e-6)


@pytest.mark.parametrize("level", [LEVEL, LEVEL / 3, 0.2])
def test_all_looks_together_spend_the_level(level: float) -> None:
    bounds = {share: Looks(shares=FIVE[: count + 1]).level(level) for count, share in enumerate(FIVE)}
    assert decided(bounds) == close(level)


@pytest.mark.parametrize(("runs", "spent"), [(2, 1.1), (3, 1.15), (5, 1.1875)])
def test_later_runs_add_at_most_a_fifth_to_the_level(runs: int, spent: float) -> None:
    assert decided({FIVE[run]: later(run).level(LEVEL) for run in range(runs)}) == close(spent * LEVEL)


def test_a_later_run_may_look_many_times_too() -> None:
    first, own = FIVE[1], FIVE[2:]
    bounds = {share: Looks(shares=own[: count + 1], earlier=(first,)).level(LEVEL) for count, share in enumerate(own)}
    assert decided({first: LEVEL, **bounds}) == close(1.1 * LEVEL)


def test_a_later_look_counts_the_present_one_and_those_of_earlier_runs() -> None:
    assert Looks(shares=(0.4, 0.8), earlier=(0.2,)).after(2.0) == Looks(earlier=(0.125, 0.5))


def test_a_second_look_at_hardly_more_cases_is_no_more_lenient_than_the_first() -> None:
    assert Looks(earlier=(0.999,)).level(LEVEL) == pytest.approx(LEVEL, rel=1e-9)


@given(
    looks=some_looks(),
    level=st.sampled_from([LEVEL, LEVEL / 2, LEVEL / 3, LEVEL / 4, LEVEL / 5]),
    freedom=st.sampled_from([15.0, 40.0, np.inf]),
)
@settings(max_examples=50, deadline=None)
def test_a_p_value_counts_where_it_reaches_the_level_of_its_look(looks: Looks, level: float, freedom: float) -> None:
    p = looks.level(level, freedom=freedom)
    assert looks.overall(p, freedom=freedom) == pytest.approx(level, rel=1e-6)
    assert looks.overall(p * (1 - 1e-6), freedom=freedom) <= level <= looks.overall(p * (1 + 1e-6), freedom=freedom)


def test_few_clusters_have_thicker_tails_than_the_usual_one() -> None:
    early, twenty = Looks(shares=(0.1,)), 20.0
    # The statistic of a p value is the normal quantile; few clusters have shrunk it to fit at 2.5 %.
    at, usual = t.isf(SPARED * early.level(LEVEL), twenty), t.isf(0.025, twenty)
    assert norm.isf(early.level(LEVEL, freedom=twenty)) == pytest.approx(at * norm.isf(0.025) / usual)
    late = Looks(shares=FIVE)
    assert late.level(LEVEL, freedom=twenty) == pytest.approx(SPARED * late.level(LEVEL))
    assert ONE_LOOK.overall(0.001, freedom=twenty) == 0.001


@given(looks=some_looks(), ps=st.tuples(P_VALUES, P_VALUES), freedom=st.sampled_from([1.0, 2.5, 30.0, np.inf]))
@settings(max_examples=50, deadline=None)
def test_a_p_value_that_counts_all_looks_grows_with_the_plain_one(
    looks: Looks, ps: tuple[float, float], freedom: float
) -> None:
    low, high = (looks.overall(p, freedom=freedom) for p in sorted(ps))
    assert min(ps) <= low <= high <= 1
    assert (looks.overall(0.0), looks.overall(1.0)) == (0, 1)


@given(shares=increasing(most=8), level=st.floats(1e-6, 0.3))
@settings(max_examples=50, deadline=None)
def test_between_the_levels_that_are_followed_one_is_close(shares: tuple[float, ...], level: float) -> None:
    assert Looks(shares=shares).level(level) == pytest.approx(levels(shares, level, spent_by)[-1], rel=2e-3)


@pytest.mark.parametrize(
    ("shares", "earlier"), [((), ()), ((0.5, 0.5), ()), ((0.5, 1.1), ()), ((0.0,), ()), ((1.0,), (1.0,))]
)
def test_shares_must_grow(shares: tuple[float, ...], earlier: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="each greater than the one before"):
        Looks(shares=shares, earlier=earlier)

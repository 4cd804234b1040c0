"""Variance components against statsmodels, and what intervals over wordings cover."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.statistics.components import Components, cover_wordings, estimate_components, widen
from contrapose.tasks.statistics.power import count_further_rows
from contrapose.tasks.statistics.shares import Interval, clustered_share, evidence, wilson

SAMPLES, WORDINGS = 24, 7


def drawn(*, seed: int = 0, askings: int = 1, between: float = 0.6) -> pd.DataFrame:
    """Every sample in every wording, as often as asked."""
    rng = np.random.default_rng(seed)
    cells = pd.DataFrame(np.ndindex(SAMPLES, WORDINGS, askings), columns=["sample", "wording", "asking"])
    sample, wording = rng.normal(0, 1.2, SAMPLES), rng.normal(0, between, WORDINGS)
    crossed = rng.normal(0, 0.5, (SAMPLES, WORDINGS))
    effects = sample[cells["sample"]] + wording[cells["wording"]] + crossed[cells["sample"], cells["wording"]]
    return cells.assign(value=3 + effects + rng.normal(0, 0.7, len(cells)))


def of(rows: pd.DataFrame) -> Components:
    parts = estimate_components(rows["value"], rows["sample"], rows["wording"])
    assert parts is not None
    return parts


@pytest.mark.parametrize("seed", range(5))
def test_balanced_data_have_the_components_of_statsmodels_by_reml(seed: int) -> None:
    statsmodels = pytest.importorskip("statsmodels.formula.api")
    rows = drawn(seed=seed).assign(all=1)
    factors = {"sample": "0 + C(sample)", "wording": "0 + C(wording)"}
    fitted = statsmodels.mixedlm("value ~ 1", rows, groups="all", vc_formula=factors, re_formula="0").fit(reml=True)
    theirs = dict(zip(fitted.model.exog_vc.names, fitted.vcomp, strict=True))
    own = of(rows)
    assert own.samples == pytest.approx(theirs["sample"], rel=1e-3)
    assert own.wordings == pytest.approx(theirs["wording"], rel=1e-3)
    assert own.rest == pytest.approx(fitted.scale, rel=1e-3)


def test_mean_squares_are_those_of_statsmodels_where_samples_saw_some_wordings() -> None:
    api = pytest.importorskip("statsmodels.formula.api")
    anova = pytest.importorskip("statsmodels.stats.anova")
    rows = drawn(between=2).sample(frac=0.4, random_state=3)
    table = anova.anova_lm(api.ols("value ~ C(sample) + C(wording)", rows).fit(), typ=2)
    squares = table["sum_sq"] / table["df"]
    own = of(rows)
    assert own.rest == pytest.approx(squares["Residual"])
    cells = pd.crosstab(rows["sample"], rows["wording"]).to_numpy()
    weight = (cells - cells**2 / cells.sum(axis=1, keepdims=True)).sum() / (cells.shape[1] - 1)
    assert own.wordings == pytest.approx((squares["C(wording)"] - squares["Residual"]) / weight)


def test_unbalanced_data_recover_the_variances() -> None:
    own = [of(drawn(seed=seed).sample(frac=0.4, random_state=seed)) for seed in range(1000, 1300)]
    means = np.mean([(one.samples, one.wordings, one.rest) for one in own], axis=0)
    assert means == pytest.approx([1.44, 0.36, 0.25 + 0.49], rel=0.1)


def test_askings_are_a_part_of_the_rest() -> None:
    own = [of(drawn(seed=seed, askings=3)) for seed in range(50)]
    means = np.mean([(one.rest, one.askings) for one in own], axis=0)
    assert means == pytest.approx([0.25 + 0.49 / 3, 0.49 / 3], rel=0.05)


def test_samples_in_one_wording_each_show_wordings_alone() -> None:
    rows = drawn().groupby("sample", group_keys=False).sample(1, random_state=1)
    own = of(rows)
    assert own.samples is None
    assert own.wordings >= 0
    assert own.rest > 0


@pytest.mark.parametrize(
    ("values", "sample", "wording"),
    [([], [], []), ([1.0, 0.0], [0, 1], [4, 4]), ([1.0, 0.0], [0, 1], [0, 1]), ([np.nan] * 3, [0, 1, 2], [0, 1, 2])],
)
def test_nothing_is_known_of_too_few(values: list[float], sample: list[int], wording: list[int]) -> None:
    assert estimate_components(values, sample, wording) is None


def test_rows_that_are_unknown_do_not_count() -> None:
    rows = drawn()
    more = pd.concat([rows, rows.head(30).assign(value=np.nan)])
    assert of(more).rest == pytest.approx(of(rows).rest)
    assert of(more).wordings == pytest.approx(of(rows).wordings)


def worded(*, rate: float, spread: float, seed: int, samples: int = 100) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether each row passes, its sample, and its wording: two of six for each sample."""
    rng = np.random.default_rng(seed)
    own = np.concatenate([rng.permutation(6)[:2] for _ in range(samples)])
    sample = np.repeat(np.arange(samples), 2)
    logit = np.log(rate / (1 - rate)) + rng.normal(0, spread, 6)[own]
    return rng.random(len(own)) < 1 / (1 + np.exp(-logit)), sample, own


def test_evidence_is_weaker_where_wordings_differ() -> None:
    true, sample, own = worded(rate=0.8, spread=1.0, seed=1)
    plain = clustered_share(true, sample)
    covered = cover_wordings(plain, estimate_components(true, sample, own), wordings=6)
    assert covered.effective < plain.effective / 2
    low, high = wilson(plain)
    assert wilson(covered).low < low
    assert wilson(covered).high > high
    assert evidence(covered, 0.7).reached > evidence(plain, 0.7).reached


@pytest.mark.parametrize("seed", range(20))
def test_evidence_never_grows_when_wordings_count(seed: int) -> None:
    true, sample, own = worded(rate=0.9, spread=0.3, seed=seed)
    plain = clustered_share(true, sample)
    covered = cover_wordings(plain, estimate_components(true, sample, own), wordings=6)
    for gate in (0.5, 0.8, 0.95):
        # Beyond one half, where nothing is claimed, weaker evidence has the smaller p value.
        assert evidence(covered, gate).reached >= min(0.5, evidence(plain, gate).reached)
        assert evidence(covered, gate).missed >= min(0.5, evidence(plain, gate).missed)


def test_one_more_pass_never_weakens_evidence_to_that_of_all_passes() -> None:
    sample, own = np.repeat(np.arange(120), 2), np.tile(np.arange(6), 40)
    every = np.ones(240, dtype=bool)
    one = every.copy()
    one[3] = False
    p = [
        evidence(
            cover_wordings(clustered_share(true, sample), estimate_components(true, sample, own), wordings=6), 0.9
        ).reached
        for true in (every, one)
    ]
    assert p[0] <= p[1]


def test_no_number_of_cases_in_the_same_wordings_gets_under_what_these_leave() -> None:
    true, sample, own = worded(rate=0.8, spread=1.2, seed=4, samples=400)
    plain = clustered_share(true, sample)
    covered = cover_wordings(plain, estimate_components(true, sample, own), wordings=6)
    gate = round(covered.rate - 0.03, 2)
    assert count_further_rows(plain, gate) is not None
    assert count_further_rows(covered, gate) is None


def test_an_interval_of_a_mean_is_longer_where_wordings_differ_and_stays_in_its_bounds() -> None:
    parts = of(drawn())
    short = Interval(2.9, 3.1)
    long = widen(short, 3.0, parts)
    assert long.low < 2.7
    assert long.high > 3.3
    assert widen(short, 3.0, parts, bounds=Interval(2.8, 3.2)) == (2.8, 3.2)
    assert widen(short, 3.0, None) == short


def test_nothing_that_varies_widens_nothing() -> None:
    rows = drawn().assign(value=1.0)
    assert widen(Interval(1.0, 1.0), 1.0, of(rows)) == (1.0, 1.0)

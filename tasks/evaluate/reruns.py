"""Simulate reruns of a test, to show how often other samples of this kind would give the same verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from typing_extensions import TypedDict

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.gated_rates import number_wordings, select_gated, split_too_long
from contrapose.tasks.evaluate.rates import GatedCases, find_trivial_gate
from contrapose.tasks.statistics.families import find_holm_divisor
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.statistics.tallies import POWERS, Evidences, Tally, compute_evidences
from contrapose.tasks.tables.results import clusters_of, has_verdict

DRAWS = 1_000
SEED = 0
"""Fixed: the same results always have the same reruns."""
MOST_DRAWN = 4_000_000
"""Counts that are drawn at a time, at most."""


class Reruns(TypedDict):
    """Counts of verdicts in simulated reruns of one test; uncounted reruns are inconclusive."""

    draws: int
    """Simulated reruns."""
    incomplete: int
    """Those in which too many cases got no answer."""
    passes: list[int]
    """Those that pass at 5 % divided by 1, 2, … tests of the run, as Holm's correction does."""
    fails: list[int]
    """Those that fail, likewise."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Groups of clusters with equal counts, which draw alike."""

    clusters: np.ndarray
    """(patterns,): how many clusters are alike."""
    counts: np.ndarray
    """(patterns, 3): cases asked, scored and without an answer in such a cluster."""
    rates: list[np.ndarray]
    """(patterns, 3) for each rate: its votes, those met with open ones as failed, and those met at best."""


def simulate_reruns(results: pd.DataFrame, plan: Plan, rules: Rules) -> Reruns | None:
    """Return the verdicts of reruns whose clusters are drawn from this run, or None if nothing was asked.

    The bootstrap over clusters: B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13, with the
    test's own verdict rule on each draw. Whether a rate counts too few cases is taken from the run itself. None too
    where wordings are a sample of all: reruns would ask in others, of which the clusters show nothing.
    """
    results, _ = split_too_long(results)
    if number_wordings(results, plan) is not None:
        return None
    cases, _, gated = select_gated(results, plan, rules.looks)
    rates = [rate for rate in gated if rate.rows.any() or rate.too_few]
    if cases.empty:
        return None
    patterns = _find_patterns(results, cases, rates)
    rng, total = np.random.default_rng(SEED), patterns.clusters.sum()
    batch = max(1, MOST_DRAWN // len(patterns.clusters))
    counted = Reruns(draws=DRAWS, incomplete=0, passes=[0] * rules.tests, fails=[0] * rules.tests)
    for first in range(0, DRAWS, batch):
        drawn = rng.multinomial(total, patterns.clusters / total, size=min(batch, DRAWS - first))
        asked, scored, errors = (drawn @ patterns.counts).T
        incomplete = (asked > 0) & (errors > rules.max_error_share * asked)
        judged = ~incomplete & (scored > 0) & (scored >= rules.min_coverage * (asked - errors))
        counted["incomplete"] += int(incomplete.sum())
        for step, (passes, fails) in enumerate(_find_claims(drawn, patterns, rates, rules)):
            counted["passes"][step] += int((judged & passes & ~fails).sum())
            counted["fails"][step] += int((judged & fails).sum())
    return counted


def _find_patterns(results: pd.DataFrame, cases: pd.DataFrame, rates: Sequence[GatedCases]) -> _Patterns:
    codes, labels = pd.factorize(clusters_of(results))
    of_cases = codes[~results["control"].to_numpy(dtype=bool)]

    def count(where: np.ndarray, true: np.ndarray) -> np.ndarray:
        return np.bincount(where, weights=true, minlength=len(labels))

    scored, failed = has_verdict(cases).to_numpy(dtype=bool), cases["error"].notna().to_numpy()
    columns = [count(of_cases, own) for own in (np.ones(len(of_cases)), scored, failed)]
    for rate in rates:
        own = np.repeat(codes[rate.rows], rate.met.shape[1] if rate.met.ndim > 1 else 1)
        best, worst = (np.ravel(rate.met if part is None else part) for part in (rate.at_best, rate.at_worst))
        columns += [count(own, part) for part in (np.ones(len(own)), worst == 1, best != 0)]
    patterns, clusters = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    counts, *parts = np.split(patterns, range(3, patterns.shape[1], 3), axis=1)
    return _Patterns(clusters, counts, parts)


class _Claim(NamedTuple):
    """Claims of each draw at one level, each of shape (draws,)."""

    passes: np.ndarray
    fails: np.ndarray


def _find_claims(drawn: np.ndarray, patterns: _Patterns, rates: Sequence[GatedCases], rules: Rules) -> Iterator[_Claim]:
    """Yield the claims of each draw at 5 % divided by 1, 2, … tests."""
    # Rates that count too few cases claim nothing, and keep the others from passing, as in `decide`.
    enough = [(rate, own) for rate, own in zip(rates, patterns.rates, strict=True) if not rate.too_few]
    never = np.zeros(len(drawn), dtype=bool)
    may_pass = bool(enough) and len(enough) == len(rates) and find_trivial_gate([rate for rate, _ in enough]) is None
    if rules.gate == "rate":
        reached, missed = ~never, never
        for rate, own in enough:
            rows, worst, best = (drawn @ own).T
            reached, missed = reached & (worst >= rate.wanted * rows), missed | (best < rate.wanted * rows)
        yield from [_Claim(reached & may_pass, missed)] * rules.tests
        return
    both = [[_evidence(drawn, own[:, [0, part]], rate.wanted, rules.looks) for part in (1, 2)] for rate, own in enough]
    for tests in range(1, rules.tests + 1):
        level, of_one = (rules.looks.level(LEVEL / tests / among) for among in (1, max(1, len(enough))))
        fails = np.any([best.missed <= of_one for _, best in both], axis=0) if both else never
        reached = np.all([worst.reached <= level for worst, _ in both], axis=0) if both else never
        yield _Claim(reached & may_pass, fails)


def _evidence(drawn: np.ndarray, own: np.ndarray, wanted: float, looks: Looks) -> Evidences:
    """Return the evidence about a rate in each draw; a draw without its cases has none."""
    there = own[:, 0] > 0
    drawn, (sizes, true) = drawn[:, there], own[there].T
    kinds = np.unique(sizes)
    kind = (sizes[:, None] == kinds).astype(float)
    sums = np.stack([drawn @ (true[:, None] ** power * kind) for power in POWERS], axis=1)
    clusters, nothing = drawn @ kind, drawn.sum(axis=1) == 0
    # A draw without a case gets one cluster, so that all can be computed at once.
    clusters[nothing, 0] = 1.0
    false, most = (_find_largest_drawn(drawn, part, sizes) for part in (sizes - true, true))
    tally = Tally(sizes=kinds, clusters=clusters, sums=sums, most_false=false, most_true=most)
    now = compute_evidences(tally, wanted)
    up, down, freedom = now if looks == ONE_LOOK else now.at_looks()
    return Evidences(np.where(nothing, 1.0, up), np.where(nothing, 1.0, down), freedom)


def _find_largest_drawn(drawn: np.ndarray, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return each draw's largest count of such rows in a cluster, and that cluster's size: (draws, 2)."""
    order = np.lexsort((sizes, rows))[::-1]
    first = order[(drawn[:, order] > 0).argmax(axis=1)]
    return np.stack([rows[first], sizes[first]], axis=1)


def add_rerun_shares(
    judged: Sequence[Outcome], corrected: Sequence[Outcome], reruns: Mapping[str, Reruns]
) -> list[Outcome]:
    """Return the corrected outcomes with the share of reruns that give the same verdict.

    Args:
        judged: outcomes before Holm's correction.
        corrected: the same after it.
        reruns: of the tests, by name; a test without any keeps none.
    """
    claims = {one["test_type"]: one for one in judged if one["verdict"] != "incomplete" and one["reached"] is not None}
    return [
        _add_share(outcome, own, claims) if (own := reruns.get(outcome["test_type"])) else outcome
        for outcome in corrected
    ]


def _add_share(outcome: Outcome, reruns: Reruns, claims: Mapping[str, Outcome]) -> Outcome:
    counts = {"incomplete": reruns["incomplete"]}
    for verdict, side, own in (("pass", "reached", reruns["passes"]), ("fail", "missed", reruns["fails"])):
        others = [float(one[side] or 0.0) for test, one in claims.items() if test != outcome["test_type"]]  # type: ignore[literal-required]
        step = find_holm_divisor(others) if outcome["test_type"] in claims else 1
        counts[verdict] = own[step - 1]
    counts["inconclusive"] = reruns["draws"] - sum(counts.values())
    return {**outcome, "rerun_share": counts[outcome["verdict"]] / reruns["draws"]}

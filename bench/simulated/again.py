"""Looking again with more cases: how often a gate at its boundary is decided, with and without counting the looks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from bench.simulated.draws import Finding
from bench.simulated.running import ALIKE, SIZES, WANTED, Design, passed_cases, planned
from bench.simulated.stopping import CLAIMS, decided
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.power import count_further_rows
from contrapose.tasks.statistics.shares import LEVEL, evidence, make_independent

LIMITS = range(40, 401, 20)
"""To which somebody raises the limit, as long as nothing is decided."""
TIMES = 5
"""How often the advice on further cases is followed."""
TOO_MANY = 2_000
"""Advice to ask more cases than these is followed by nobody."""
MOST_FALSE = 1.2 * LEVEL
"""What all later looks may add to the level is a fifth of it."""
FEWER = 4
"""The advice is worked out anew for each run, so it is followed in a quarter of the runs."""


def again(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """False verdicts by any of the looks, each side by itself; the bar holds within two standard errors."""
    for alike in (0.0, ALIKE):
        design, name = _limits(alone=not alike), "alone" if not alike else "in clusters"
        passed = passed_cases(design, WANTED, alike, rows=runs).reshape(runs, 1, -1)
        looks = [
            Looks(earlier=tuple((design.asked[:look] / cases).tolist())) for look, cases in enumerate(design.asked)
        ]
        counted = np.array([[look.level(LEVEL)] for look in looks])
        for way, levels in (("not counted", np.full_like(counted, LEVEL)), ("counted", counted)):
            verdict = decided(passed, design, levels).verdict
            yield from _false(f"limits from 40 to 400, cases {name}, looks {way}", verdict[:, 0], bar=way == "counted")
    for first in (40, 100):
        for counts in (False, True):
            ended = np.array([_advised(first, counts=counts, seed=run) for run in range(runs // FEWER)])
            name = f"advice followed {TIMES} times from {first} cases, looks {'' if counts else 'not '}counted"
            yield from _false(name, ended[:, 0], bar=counts)
            yield Finding(name=f"{name}: runs in which it was followed", value=float((ended[:, 1] > 0).mean()))
    yield from _after_stopping(runs)


def _false(name: str, verdict: np.ndarray, *, bar: bool) -> Iterator[Finding]:
    most = MOST_FALSE + 2 * float(np.sqrt(MOST_FALSE * (1 - MOST_FALSE) / len(verdict)))
    for side, claimed in CLAIMS.items():
        share = float((verdict == claimed).mean())
        yield Finding(name=f"{name}: false {side}", value=share, high=most if bar else np.inf)


def _limits(*, alone: bool) -> Design:
    """Looks at the first clusters that reach each limit."""
    rng, most = np.random.default_rng(4), max(LIMITS)
    sizes = np.ones(most, dtype=int) if alone else rng.choice(SIZES, most)
    reached = np.searchsorted(np.cumsum(sizes), list(LIMITS)) + 1
    return Design(sizes=sizes[: reached[-1]], after=reached.tolist())


def _advised(first: int, *, counts: bool, seed: int) -> tuple[int, int]:
    """The verdict of a run at the boundary that asks as many further cases as it says, and how often it did."""
    rng = np.random.default_rng([11, seed])
    rows, true, looked = first, int(rng.binomial(first, WANTED)), ()
    for followed in range(TIMES + 1):
        verdict, more = _judged(true, rows, looked, counts=counts)
        if verdict or more is None or more > TOO_MANY or followed == TIMES:
            return verdict, followed
        looked = (*looked, rows)
        rows, true = rows + more, true + int(rng.binomial(more, WANTED))
    raise AssertionError


@cache
def _judged(true: int, rows: int, looked: tuple[int, ...], *, counts: bool) -> tuple[int, int | None]:
    """The verdict, and the further cases that are advised without one."""
    share, looks = make_independent(true, rows), Looks(earlier=tuple(before / rows for before in looked))
    level, found = looks.level(LEVEL) if counts else LEVEL, evidence(share, WANTED)
    if min(found.reached, found.missed) <= level:
        return (1 if found.reached <= level else -1), None
    return 0, count_further_rows(share, WANTED, looks=looks if counts else None)


def _after_stopping(runs: int) -> Iterator[Finding]:
    """A run that could stop early ended open, and two more follow that may stop early too, each with as many cases."""
    design = planned(1_113, 32, alone=True)
    ends = [int(np.searchsorted(design.asked, cases)) for cases in (371, 742, 1_113)]
    levels, start = [], 0
    for run, end in enumerate(ends):
        cases = design.asked[end]
        earlier = tuple((design.asked[before] / cases).item() for before in ends[:run])
        shares = tuple((design.asked[start : end + 1] / cases).tolist())
        levels += [Looks(shares=shares[: at + 1], earlier=earlier).level(LEVEL) for at in range(len(shares))]
        start = end + 1
    passed = passed_cases(design, WANTED, 0.0, rows=runs).reshape(runs, 1, -1)
    verdict = decided(passed, design, np.array(levels)[:, None]).verdict[:, 0]
    yield from _false("three runs that each may stop early, with as many cases each", verdict, bar=True)

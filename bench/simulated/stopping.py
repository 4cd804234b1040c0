"""Judging while a run goes on: how often that is wrong, and what it saves, where the truth is known.

After each portion the evidence of the finished design is held against the level of that look: for one test, and for
three with Holm's steps, each of which stops where it is decided. Other ways to spread the level over the looks are
compared for one design, and betting, which needs no plan of looks. One test takes two minutes, three take five.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding
from bench.simulated.most_saved import most_saved
from bench.simulated.running import ALIKE, WANTED, Design, Running, passed_cases, planned
from contrapose.tasks.statistics.families import holm
from contrapose.tasks.statistics.looks import START, Looks, _look_again
from contrapose.tasks.statistics.shares import CONFIDENCE, LEVEL

CASES = (371, 2_000)
PORTIONS = (8, 32, 128)
BETS = np.arange(1, 17) / 17
"""Shares of the largest stake that cannot lose more than there is; the wealth of all of them is averaged."""
CLAIMS = {"pass": 1, "fail": -1}
LEAST_SAVED = {0.05: -np.inf, 0.1: 0.5, -0.1: 0.5, -0.3: 0.75}
"""By how far the true rate lies from the gate, the share of the calls that is to be saved."""
MORE_OPEN = 0.05
SEVERAL = 3
"""Tests at once."""
BESIDE = (0.1, 0.0, 0.0)
"""One of them lies above its gate, so that Holm's steps go on to the others."""
CHECKED = 200
"""Runs that are judged by Holm's steps over p values too."""
NEGLIGIBLE = 1e-12
"""A look that may spend less than this decides nothing."""
Spending = Callable[[float, float], float]
"""From the share of the cases that are judged so far, 0 to 1, and a level: how much of it may be spent by now."""


class Decided(NamedTuple):
    """What became of the tests of each run, both of shape (runs, tests)."""

    verdict: np.ndarray
    """1 pass, -1 fail, 0 open to the end."""
    asked: np.ndarray
    """Cases."""


def stopping(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """One test: false verdicts at the gate, and what is saved and left open away from it, beside one look at the end.

    The bars: false verdicts at most 5 %, within two standard errors of so many runs; half of the calls saved at 10
    points and three quarters at 30; at most 5 points more open. Where less is saved, what any rule could save is told
    that leaves so many more open: decision 45 says which bars are missed, and why.
    """
    for design, name, alike in designs():
        yield from _beside_one_look(design, name, alike, tests=1, runs=runs)
    for way in WAYS:
        yield from _compared(way, runs)


def several(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """Three tests with Holm's steps: any false verdict among them, also beside one that passes, is barred likewise."""
    yield _by_p_values()
    for design, name, alike in designs():
        yield from _beside_one_look(design, f"three tests of {name}", alike, tests=SEVERAL, runs=runs)
        passed = np.stack(
            [
                passed_cases(design, WANTED + off, alike, rows=runs, seed=10 + number)
                for number, off in enumerate(BESIDE)
            ],
            axis=1,
        )
        beside = decided(passed, design, holm_levels(design, SEVERAL)).verdict[:, 1:]
        share = float((beside == 1).any(axis=1).mean())
        yield Finding(name=f"three tests of {name}: false pass beside a true one", value=share, high=most(runs))


def most(runs: int) -> float:
    """Of false verdicts, within two standard errors of so many runs."""
    return LEVEL + 2 * float(np.sqrt(LEVEL * CONFIDENCE / runs))


def designs() -> Iterator[tuple[Design, str, float]]:
    """With their names, and how much alike the cases of a cluster are."""
    for cases, alike, portion in product(CASES, (0.0, ALIKE), PORTIONS):
        name = f"{cases} cases {'alone' if not alike else 'in clusters'}, portions of {portion}"
        yield planned(cases, portion, alone=not alike), name, alike


def _beside_one_look(design: Design, name: str, alike: float, *, tests: int, runs: int) -> Iterator[Finding]:
    at_each, end = holm_levels(design, tests), Design(sizes=design.sizes, after=design.after[-1:])
    for off in (0.0, *LEAST_SAVED):
        drawn = passed_cases(design, WANTED + off, alike, rows=runs * tests).reshape(runs, tests, -1)
        late, ended = decided(drawn, end, holm_levels(end, tests)), decided(drawn, design, at_each)
        if not off:
            for verdict, claimed in CLAIMS.items():
                yield Finding(name=f"{name}, one look: false {verdict}", value=_any(late, claimed))
                yield Finding(name=f"{name}: false {verdict}", value=_any(ended, claimed), high=most(runs))
            continue
        open_, saved = _open(late), 1 - float(ended.asked.mean()) / int(design.sizes.sum())
        yield Finding(name=f"{name}, one look: open at {off:+.0%}", value=open_)
        yield Finding(name=f"{name}: open at {off:+.0%}", value=_open(ended), high=open_ + MORE_OPEN)
        least = LEAST_SAVED[off]
        if saved < least and tests == 1:
            limit = most_saved(design.shares, open_, MORE_OPEN)
            yield Finding(name=f"{name}: that any rule saves at {off:+.0%}, at most", value=limit)
        yield Finding(name=f"{name}: saved at {off:+.0%}", value=saved, low=least)


def _any(ended: Decided, claimed: int) -> float:
    """The share of runs in which a test has a verdict."""
    return float((ended.verdict == claimed).any(axis=1).mean())


def _open(ended: Decided) -> float:
    """The share of tests."""
    return float(np.mean(ended.verdict == 0))


def holm_levels(design: Design, tests: int) -> np.ndarray:
    """(looks, tests): the p value that decides at each look where so many tests have been decided, from none on."""
    looks = [Looks(shares=design.shares[: count + 1]) for count in range(len(design.after))]
    return np.array([[look.level(LEVEL / (tests - before)) for before in range(tests)] for look in looks])


def decided(passed: np.ndarray, design: Design, at_each: np.ndarray) -> Decided:
    """Of (runs, tests, clusters) passed cases, judged after each portion until they are decided."""
    runs, tests, clusters = passed.shape
    verdict = np.zeros((runs, tests), dtype=int)
    asked = np.full((runs, tests), int(design.sizes.sum()))
    running, live = Running(passed.reshape(-1, clusters), design.sizes), np.arange(runs * tests)
    for after, cases, at in zip(design.after, design.asked, at_each, strict=True):
        now = running.goes_on(after)
        now = now.at_looks() if len(at_each) > 1 else now
        for claimed, values in ((1, now.reached), (-1, now.missed)):
            p = np.ones(runs * tests)
            p[live] = values
            _step(verdict, p.reshape(runs, tests), at, claimed)
        ended = verdict.ravel()[live] != 0
        asked.ravel()[live[ended]] = cases
        if ended.any():
            live = live[~ended]
            running.keep(~ended)
        if not len(live):
            break
    return Decided(verdict, asked)


def _step(verdict: np.ndarray, p: np.ndarray, at: np.ndarray, claimed: int) -> None:
    """Holm's steps down: each test that is decided makes it easier for the others."""
    for _ in at:
        before = (verdict == claimed).sum(axis=1)
        reached = (verdict == 0) & (p <= at[np.minimum(before, len(at) - 1)][:, None])
        # The smallest p values first: of several at once only as many as their own steps allow.
        first = reached & (p == np.where(reached, p, 2.0).min(axis=1, keepdims=True))
        if not first.any():
            return
        verdict[first] = claimed


def _by_p_values() -> Finding:
    """Verdicts that Holm's steps over the p values that count all looks, one run at a time, do not give."""
    design = planned(371, 32, alone=False)
    passed = passed_cases(design, 0.76, ALIKE, rows=CHECKED * SEVERAL).reshape(CHECKED, SEVERAL, -1)
    quick = decided(passed, design, holm_levels(design, SEVERAL))
    differing = 0
    for run, tests in enumerate(passed):
        values, verdict = np.ones((SEVERAL, 2)), np.zeros(SEVERAL, dtype=int)
        running = Running(tests, design.sizes)
        for count, after in enumerate(design.after, start=1):
            now, look = running.goes_on(after), Looks(shares=design.shares[:count])
            for test in np.flatnonzero(verdict == 0):
                sides = (float(now.reached[test]), float(now.missed[test]))
                values[test] = [look.overall(p, freedom=now.freedom[test]) for p in sides]
            for side, claimed in enumerate((1, -1)):
                verdict[np.array(holm(values[:, side].tolist())) <= LEVEL] = claimed
        differing += int((verdict != quick.verdict[run]).any())
    return Finding(name="verdicts of three tests that Holm's steps over p values do not give", value=differing, high=0)


def obrien_fleming(share: float, level: float) -> float:
    """Little at first, nearly all at the end.

    Source: K. K. G. Lan, D. L. DeMets, Biometrika 70 (1983) 659-663, like P. C. O'Brien, T. R. Fleming, Biometrics 35
    (1979) 549-556.
    """
    from scipy.stats import norm

    return float(2 * norm.sf(norm.isf(level / 2) / np.sqrt(share)))


def pocock(share: float, level: float) -> float:
    """Early: K. K. G. Lan, D. L. DeMets, as above, like S. J. Pocock, Biometrika 64 (1977) 191-199."""
    return level * float(np.log1p((np.e - 1) * share))


def by_betting(passed: np.ndarray, design: Design) -> Decided:
    """Decide where bets against the gate have multiplied their stake by one over the level.

    Source: I. Waudby-Smith, A. Ramdas, JRSS B 86 (2024) 1-27, with the average over a grid of constant bets.
    """
    gains, largest = passed[:, 0] - WANTED * design.sizes, design.sizes.max()
    last = np.array(design.after) - 1
    first = np.full((len(passed), 2), len(last))
    for side, (sign, room) in enumerate(((1, WANTED), (-1, 1 - WANTED))):
        wealth = np.zeros((len(passed), len(last)))
        for bet in BETS:
            grown = np.cumsum(np.log1p(sign * bet / (room * largest) * gains), axis=1)[:, last]
            wealth += np.exp(np.minimum(grown, 50.0)) / len(BETS)
        won = wealth >= 1 / LEVEL
        first[:, side] = np.where(won.any(axis=1), won.argmax(axis=1), len(last))
    at = first.min(axis=1)
    ended = np.r_[design.asked, design.sizes.sum()]
    verdict = np.where(at == len(last), 0, np.where(first[:, 0] <= first[:, 1], 1, -1))
    return Decided(verdict[:, None], ended[at][:, None])


def spent_by(share: float, level: float) -> float:
    """Return the level that a share of the cases may spend: K. Kim, D. L. DeMets, Biometrika 74 (1987) 149-154."""
    return level * share**2


def levels(shares: Sequence[float], level: float, spend: Spending) -> np.ndarray:
    """Return the one-sided p value that decides at each look, of shape (looks,).

    Args:
        shares: of all cases that may be judged, after each look, increasing, the last at most 1.
        level: how often a claim at its boundary may be made falsely, over all looks.
        spend: how the level is spread over them.
    """
    decides, spent, state = np.zeros(len(shares)), 0.0, START
    for look, share in enumerate(shares):
        allowed = spend(share, level) - spent
        if allowed >= NEGLIGIBLE:
            state, spent = _look_again(state, share, np.array([allowed])), spent + allowed
            decides[look] = state.decides[0]
    return decides


def spending(spend: Spending) -> Callable[[np.ndarray, Design], Decided]:
    """Decide at looks that spread the level in some way."""
    return lambda passed, design: decided(passed, design, levels(design.shares, LEVEL, spend)[:, None])


WAYS: Mapping[str, Callable[[np.ndarray, Design], Decided]] = {
    "O'Brien-Fleming": spending(obrien_fleming),
    "share cubed": spending(lambda share, level: level * share**3),
    "share squared": spending(spent_by),
    "share": spending(lambda share, level: level * share),
    "Pocock": spending(pocock),
    "betting": by_betting,
}
"""To spread the level over the looks; by the square of the share is how it is done."""


def _compared(way: str, runs: int) -> Iterator[Finding]:
    """The same figures of a way for 371 cases and portions of 8, without bars."""
    for alike in (0.0, ALIKE):
        design = planned(CASES[0], PORTIONS[0], alone=not alike)
        name = f"{CASES[0]} cases {'alone' if not alike else 'in clusters'} by {way}"
        for off in (0.0, *LEAST_SAVED):
            drawn = passed_cases(design, WANTED + off, alike, rows=runs).reshape(runs, 1, -1)
            ended = WAYS[way](drawn, design)
            if not off:
                for verdict, claimed in CLAIMS.items():
                    yield Finding(name=f"{name}: false {verdict}", value=_any(ended, claimed))
                continue
            saved = 1 - float(ended.asked.mean()) / int(design.sizes.sum())
            yield Finding(name=f"{name}: saved at {off:+.0%}", value=saved)
            yield Finding(name=f"{name}: open at {off:+.0%}", value=_open(ended))

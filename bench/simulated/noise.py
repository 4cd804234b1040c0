"""Judges with planted noise and planted bias: does each figure hold its true value, and is a bias seen where it is?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding
from contrapose.tasks.statistics.noise import AskingPairs, estimate_lean, estimate_noise

DESIGNS = {"24 questions, 4 pairs, 3 askings": (24, 4, 3), "50 pairs, 2 askings": (50, 1, 2)}
LEAST_COVERED, MOST_INVENTED = 0.94, 0.05


class Planted(NamedTuple):
    """A judge: three shares that decide its answers."""

    noise: float
    """Of its answers, those that go against the content, drawn anew at each asking."""
    first: float
    """Those that name the first position instead, drawn anew at each asking."""
    always: float = 0.0
    """Of the pairs of answers, those in which it names the first position at every asking."""

    @property
    def net(self) -> float:
        """True net change: the squared distance of both answer distributions, over the two contents."""
        return (1 - self.always) * self.first**2 + self.always

    @property
    def lean(self) -> float:
        """True P(first) - P(second)."""
        return (1 - self.always) * self.first + self.always


JUDGES = {
    "steady": Planted(0, 0),
    **{f"noise {share:.0%}": Planted(share, 0) for share in (0.05, 0.1, 0.2)},
    **{f"first position {share:.0%}": Planted(0, share) for share in (0.1, 0.3)},
    **{f"first position in {share:.0%} of pairs": Planted(0, 0, share) for share in (0.1, 0.3)},
    "noise 10%, first position 10%": Planted(0.1, 0.1),
    "noise 20%, first position 30%": Planted(0.2, 0.3),
    "noise 10%, first position in 30% of pairs": Planted(0.1, 0, 0.3),
}


def noise(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """Coverage of net change and lean; how often each is above 0, which a judge of pure noise is in 5 % at most."""
    for design, (questions, pairs, askings) in DESIGNS.items():
        for name, judge in JUDGES.items():
            rng = np.random.default_rng(7)
            drawn = [_run(judge, rng, questions=questions, pairs=pairs, askings=askings) for _ in range(runs)]
            covered, shown = np.array(drawn).reshape(runs, 2, 2).mean(axis=0).T
            error = 2 * float(np.sqrt(MOST_INVENTED * (1 - MOST_INVENTED) / runs))
            for place, (figure, truth) in enumerate((("net change", judge.net), ("lean", judge.lean))):
                label = f"{design}, {name}, {figure} {truth:.3f}"
                yield Finding(name=f"{label}: covered", value=float(covered[place]), low=LEAST_COVERED)
                most = MOST_INVENTED + error if truth == 0 else np.inf
                yield Finding(name=f"{label}: shown to be above 0", value=float(shown[place]), high=most)


def _run(judge: Planted, rng: np.random.Generator, *, questions: int, pairs: int, askings: int) -> list[list[bool]]:
    """Return for net change and lean whether the interval holds the truth, and whether it lies above 0."""
    cases, cluster = questions * pairs, np.repeat(np.arange(questions), pairs)
    content, always = rng.integers(0, 2, cases), rng.random(cases) < judge.always
    answers = []
    for first in (0, 1):
        own = np.where(rng.random((askings, cases)) < judge.noise, 1 - content, content)
        answers.append(np.where((rng.random((askings, cases)) < judge.first) | always, first, own))
    before, after = answers
    same = askings * (askings - 1) / 2
    counts = [_differing(before), _differing(after), (before[:, None] != after[None]).sum(axis=(0, 1))]
    compared = (np.full(cases, same), np.full(cases, same), np.full(cases, askings**2))
    parts = [part for both in zip(compared, counts, strict=True) for part in both]
    estimate = estimate_noise(AskingPairs(*parts), cluster)
    lean = estimate_lean(((before == 0).mean(axis=0) - (after == 0).mean(axis=0)), cluster)
    judged = []
    for mean, truth in ((estimate and estimate.net, judge.net), (lean, judge.lean)):
        if mean is None or mean.interval is None:
            raise ValueError("a simulated judge without an interval")
        low, high = mean.interval
        judged.append([low - 1e-9 <= truth <= high + 1e-9, low > 1e-9])
    return judged


def _differing(answers: np.ndarray) -> np.ndarray:
    """Return (cases,): pairs of askings with different answers; answers are 0 or 1, (askings, cases)."""
    ones = answers.sum(axis=0)
    return np.asarray(ones * (len(answers) - ones))

"""Simulate tests that may stop early, to forecast their calls and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise

import numpy as np

from contrapose.tasks.forecast.counting import CallCount
from contrapose.tasks.forecast.deciding import CaseGroups
from contrapose.tasks.infer.chunks import ClusterRows, Look, place_looks
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.power import IN_CLUSTER, IN_SAMPLE
from contrapose.tasks.statistics.tallies import NOTHING, compute_evidences

POINTS = (-30, -20, -10, 0, 10, 20, 30)
"""By how many points the true pass rates that are simulated lie off the gate; instead of those beyond 0 or 1, these."""
RUNS, FEWEST_RUNS = 1_000, 100
"""Simulated runs for each true rate, and how few where a run has very many samples."""
MOST_DRAWN = 4_000_000
"""Samples that are drawn for a true rate, at most, unless that were too few runs."""
NINE_IN_TEN = 0.9
IN_SAMPLE_OF_CLUSTER = (IN_SAMPLE - IN_CLUSTER) / (1 - IN_CLUSTER)
"""Correlation of the cases of a sample beyond what its cluster explains, so that both together are as assumed."""
CERTAIN = 1e-9
"""How near to 0 and 1 a rate is drawn: a distribution around it has to exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRun:
    """Results of many simulated runs of a test with one true pass rate."""

    true_rate: float
    """0 to 1."""
    calls: float
    """Mean of those that are asked."""
    share: float | None
    """The same of all calls, 0 to 1, or None if everything is answered already."""
    share_of_nine_in_ten: float | None
    """Share of all calls that nine runs in ten do not exceed."""
    cost: float | None
    """Mean, in US dollars, or None if no price is known."""
    passes: float
    """Share of the runs that pass, 0 to 1."""
    fails: float
    """Share of the runs that fail."""
    open: float
    """Share of the runs in which all is asked and nothing decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The judged cases that are asked between two looks."""

    samples: np.ndarray
    """(samples,): judged cases of each."""
    begins: np.ndarray
    """(clusters,): with which of these samples each cluster begins."""

    @property
    def clusters(self) -> np.ndarray:
        """(clusters,): judged cases of each."""
        return np.asarray(np.add.reduceat(self.samples, self.begins))


@dataclass(frozen=True, kw_only=True)
class Course:
    """The judged cases of a test in the order of asking, and the positions of the looks."""

    groups: CaseGroups
    """Its samples and clusters, in that order; those of a cluster stand together."""
    counts: Sequence[CallCount]
    """What it asks up to the end of each portion of `groups.judged`, the last one all."""
    size: int | None
    """Least judged cases between two looks, if that was set."""

    @cached_property
    def looks(self) -> list[Look]:
        """Return the looks of the run."""
        return place_looks([ClusterRows(size, size) for size in self.groups.clusters.values()], size=self.size)

    @cached_property
    def parts(self) -> list[Stretch]:
        """Return the stretch before each look."""
        samples = np.array(list(self.groups.samples.values()))
        ends = np.cumsum(samples)
        begins = np.searchsorted(ends, np.cumsum([0, *self.groups.clusters.values()])[:-1], side="right")
        places = [0, *(np.searchsorted(ends, [look.judged for look in self.looks]) + 1).tolist()]
        return [
            Stretch(samples=samples[first:end], begins=begins[(begins >= first) & (begins < end)] - first)
            for first, end in pairwise(places)
        ]

    @cached_property
    def asked(self) -> list[CallCount]:
        """Return the count up to each look; within a portion every case asks as much."""
        at = [look.judged for look in self.looks[:-1]]
        between = {
            name: np.interp(at, self.groups.judged, [getattr(count, name) for count in self.counts]).round().astype(int)
            for name in (field.name for field in fields(CallCount))
        }
        rows = zip(*(numbers.tolist() for numbers in between.values()), strict=True)
        return [*(CallCount(**dict(zip(between, row, strict=True))) for row in rows), self.counts[-1]]

    @property
    def grouped(self) -> bool:
        """Return whether some of its cases are not independent."""
        return len(self.groups.clusters) < self.groups.samples.total()

    @property
    def runs(self) -> int:
        """Return the number of runs simulated for each true rate."""
        return max(FEWEST_RUNS, min(RUNS, MOST_DRAWN // len(self.groups.samples)))


def simulate_rates(
    course: Course, gate: float, *, level: float, cost: Callable[[CallCount], float | None], seed: int
) -> Iterator[ExpectedRun]:
    """Simulate a test, all of whose cases are scored, for several true pass rates around its gate.

    `level` is the p value that a verdict needs over all looks.
    """
    calls, costs = np.array([count.calls for count in course.asked]), [cost(count) for count in course.asked]
    parts = [look.judged / course.looks[-1].judged for look in course.looks]
    # Levels of independent cases: clusters have theirs made thicker.
    levels = [Looks(shares=tuple(parts[:count])).level(level) for count in range(1, len(parts) + 1)]
    known = [own for own in costs if own is not None]
    for rate in sorted({min(1.0, max(0.0, round(gate + points / 100, 6))) for points in POINTS}):
        rng = np.random.default_rng([seed, round(100 * rate)])
        verdicts, ends = _simulate_runs(course.parts, rate, gate=gate, levels=levels, runs=course.runs, rng=rng)
        shares = calls[ends] / calls[-1] if calls[-1] else None
        yield ExpectedRun(
            true_rate=rate,
            calls=float(calls[ends].mean()),
            share=None if shares is None else float(shares.mean()),
            share_of_nine_in_ten=None
            if shares is None
            else float(np.quantile(shares, NINE_IN_TEN, method="inverted_cdf")),
            cost=float(np.array(known)[ends].mean()) if len(known) == len(costs) else None,
            passes=float((verdicts == 1).mean()),
            fails=float((verdicts == -1).mean()),
            open=float((verdicts == 0).mean()),
        )


def _simulate_runs(
    parts: Sequence[Stretch], rate: float, *, gate: float, levels: Sequence[float], runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return each run's verdict (1 pass, -1 fail, 0 none) and the look at which it ended."""
    verdicts, ends = np.zeros(runs, dtype=int), np.full(runs, len(parts) - 1)
    going, tally = np.arange(runs), NOTHING.of(np.zeros(runs, dtype=int))
    for look, (part, level) in enumerate(zip(parts, levels, strict=True)):
        tally = tally.plus(sample_passes(part, rate, runs=len(going), rng=rng), part.clusters)
        now = compute_evidences(tally, gate)
        up, down, _ = now.at_looks() if len(parts) > 1 else now
        high, low = up <= level, down <= level
        verdicts[going[high]], verdicts[going[low]] = 1, -1
        ends[going[high | low]] = look
        going, tally = going[~(high | low)], tally.of(~(high | low))
        if not len(going):
            break
    return verdicts, ends


def sample_passes(part: Stretch, rate: float, *, runs: int, rng: np.random.Generator) -> np.ndarray:
    """(runs, clusters): cases that pass, correlated within samples and clusters as assumed."""
    if rate in (0, 1):
        return np.tile(part.clusters * int(rate), (runs, 1))

    def rates_around(mean: float | np.ndarray, correlation: float, size: int) -> np.ndarray:
        # Beta-distributed rates, so that counts are beta-binomial and cases correlate.
        spread, mean = (1 - correlation) / correlation, np.clip(mean, CERTAIN, 1 - CERTAIN)
        return rng.beta(mean * spread, (1 - mean) * spread, (runs, size))

    samples, several = len(part.samples), part.samples.max() > 1
    rates: float | np.ndarray = rate
    if len(part.begins) < samples:
        of_clusters = rates_around(rate, IN_CLUSTER, len(part.begins))
        rates = of_clusters[:, np.searchsorted(part.begins, np.arange(samples), side="right") - 1]
        rates = rates_around(rates, IN_SAMPLE_OF_CLUSTER, samples) if several else rates
    elif several:
        rates = rates_around(rate, IN_SAMPLE, samples)
    return np.asarray(np.add.reduceat(rng.binomial(part.samples, rates, (runs, samples)), part.begins, axis=1))

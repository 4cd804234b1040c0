"""Estimate the power of a run: what its cases can decide about gates and between two models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from contrapose.tasks.core.records import Case
from contrapose.tasks.statistics.power import Reach, detectable, find_cases, find_least, find_pairs, find_reach, worth
from contrapose.tasks.statistics.shares import compute_penalty, copies

WIDE = 0.2
"""Rates that a gate should not leave undecided: more than ten points on either side."""
BIAS = 0.1
"""A position bias worth finding: share of pairs that choose the first in both orders, minus those that choose the
second."""


@dataclass(slots=True)
class CaseGroups:
    """Counts of the judged cases in each cluster and sample; controls are left out, as at the gate."""

    samples: Counter[str] = field(default_factory=Counter)
    """Cases of each sample."""
    clusters: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """Cases of each cluster; a sample without one is its own, and may be named as a cluster is: the flag tells."""
    judged: list[int] = field(default_factory=lambda: [0])
    """How many of them there were after each portion, and before the first."""

    def counting(self, portions: Iterable[Sequence[Case]]) -> Iterator[Sequence[Case]]:
        """Yield the portions unchanged, and count their cases as they pass."""
        for portion in portions:
            cases = [case for case in portion if is_judged(case)]
            self.samples.update(case.sample_id for case in cases)
            self.clusters.update(map(name_cluster, cases))
            self.judged.append(self.judged[-1] + len(cases))
            yield portion


def is_judged(case: Case) -> bool:
    """Return whether the case will count at the gate."""
    return case.skip_reason is None and not case.control


def name_cluster(case: Case) -> tuple[str, bool]:
    """Return the name of a case's cluster, or of its sample, and whether it is the sample's."""
    return case.cluster or case.sample_id, case.cluster is None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingPower:
    """Gates and differences that the cases of one test can decide, if each is scored."""

    cases: int
    """That will be asked, repeats too, without controls."""
    effective: int
    """Independent cases that would tell as much."""
    gate: float
    """Least pass rate."""
    reach: Reach
    """The true pass rates that are decided."""
    limit: int | None
    """Samples that the data must have, or `limit` allow, to leave fewer rates undecided, or None if none is enough."""
    available: int
    """Samples in the data."""
    difference: float | None
    """Smallest difference between two models that is found, or None if none is."""
    bias_pairs: int | None = None
    """Independent pairs on which a position bias of `BIAS` is found, or None if no orders are compared."""

    @property
    def wide(self) -> bool:
        """Return whether too many rates stay undecided."""
        return self.reach.passes_from is None or self.reach.undecided > WIDE


def find_deciding_power(
    groups: CaseGroups,
    *,
    samples: int,
    rows: int,
    gate: float,
    level: float,
    orders: bool = False,
    wordings: tuple[int, float] | None = None,
) -> DecidingPower | None:
    """Return the deciding power of one test, or None if it asks nothing.

    The `samples` were drawn from the `rows` of the source, skipped ones included; `level` is the p value that a verdict
    needs, and `orders` says whether two orders of the same things are compared. `wordings` are how many count as a
    sample of all wordings, and the share of the variance that lies between them, or None if none do.
    """
    cases = groups.samples.total()
    if not cases:
        return None
    alone = int(worth(list(groups.samples.values()), list(groups.clusters.values())))
    count, part = wordings or (1, 0.0)
    # As `cover_wordings` counts them, of which further cases in the same wordings take nothing away.
    cost, lost = compute_penalty(cases, count) if wordings else 1.0, part / count
    effective = max(1, int(cost / (1 / alone + lost)))
    agreeing = min(effective, copies(np.array(list(groups.clusters.values()))))
    needed = find_cases(gate, level=level, undecided=WIDE)
    times = None
    if needed is not None and cost / needed > lost:
        times = max(1 / (cost / needed - lost) / alone, find_least(gate, level=level) / agreeing)
    return DecidingPower(
        cases=cases,
        effective=effective,
        gate=gate,
        reach=find_reach(effective, gate, level=level, agreeing=agreeing),
        limit=None if times is None else ceil(times * samples),
        available=rows,
        difference=detectable(alone),
        bias_pairs=find_pairs(BIAS) if orders else None,
    )

"""A threshold from the noise: how far the controls of a test move its scores, although they keep the meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from contrapose.tasks.columnar import from_arrow
from contrapose.tasks.plan import Plan
from contrapose.tasks.probes.answers.settings import DOCUMENTED, LEAST_CONTROLS, Thresholds
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.records import Trial
from contrapose.tasks.registry import probe
from contrapose.tasks.tables import Table, batches

CENTRAL = 0.95
"""Share of the controls' scores that a band holds."""

DISTANCES = ("choice", "embedding")
"""Scorers whose scores are never negative: what is large is noise, what is small is not."""

ROUNDING = 1e-6
"""Scores nearer to zero are round-off: a band holds them even where no control moves at all."""


@dataclass(slots=True)
class _Scores:
    """Scores of one scorer's controls."""

    values: list[float] = field(default_factory=list)
    samples: set[str] = field(default_factory=set)

    def add(self, sample: str, value: float) -> None:
        self.values.append(value)
        if len(self.samples) < LEAST_CONTROLS:
            self.samples.add(sample)


def calibrated(plan: Plan, controls: Iterable[Sequence[Trial]], *, embed: Embed) -> Plan:
    """The plan with a band for each scorer in place of `threshold: auto`; any other plan as it is.

    Args:
        plan: a selected test.
        controls: its control trials, a portion at a time; not touched where nothing is calibrated.
        embed: texts to unit vectors.

    Returns:
        Bands of the scorers that at least 20 samples have a scored control of, none for the others.
    """
    if not plan.probe_settings.calibrated:
        return plan
    found: dict[str, _Scores] = {}
    for portion in controls:
        _gather(portion, plan, embed, into=found)
    bands = {scorer: band(scorer, each.values) for scorer, each in found.items() if len(each.samples) >= LEAST_CONTROLS}
    thresholds = {scorer: bands.get(scorer) for scorer in Thresholds.model_fields}
    return plan.model_copy(update={"settings": {**plan.settings, "threshold": thresholds}})


def band(scorer: str, values: Sequence[float]) -> tuple[float, float]:
    """The central 95 % of the controls' scores, and no change at all; of a distance, the lowest 95 %."""
    if scorer in DISTANCES:
        return 0.0, max(float(np.quantile(values, CENTRAL)), ROUNDING)
    low, high = np.quantile(values, ((1 - CENTRAL) / 2, (1 + CENTRAL) / 2))
    return min(float(low), -ROUNDING), max(float(high), ROUNDING)


def controls_in(tables: Iterable[Table]) -> Iterator[list[Trial]]:
    """The control trials of a test, a row group at a time."""
    for table in tables:
        for part in batches(table):
            yield from_arrow(part.filter(pc.struct_field(part["case"], "control")), Trial)


def _gather(portion: Sequence[Trial], plan: Plan, embed: Embed, *, into: dict[str, _Scores]) -> None:
    """Add the scores of controls, which do not depend on the threshold; a pair of any width will do for them."""
    answered = [trial for trial in portion if not (trial.expected.error or trial.actual.error)]
    settings = plan.probe_settings.model_copy(update={"threshold": DOCUMENTED, "documents_scores": False})
    for trial, score in zip(answered, probe(plan.test).score(answered, settings, embed=embed), strict=True):
        if score.value is not None:
            into.setdefault(trial.case.scorer, _Scores()).add(trial.case.sample_id, score.value)

"""Trials into result rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from contrapose.tasks.plan import Plan
from contrapose.tasks.probes.base import Embed, unscored
from contrapose.tasks.records import Trial
from contrapose.tasks.registry import probe
from contrapose.tasks.results import result_table


def score_trials(trials: Sequence[Trial], plan: Plan, *, model: str, embed: Embed) -> pa.Table:
    """Score every trial.

    Args:
        trials: of one test.
        plan: the selected test.
        model: id of the model, for the `model` column.
        embed: texts to unit vectors, called only by scorers that need it.

    Returns:
        One row per trial, in order: the common columns, then the probe's own.
    """
    chosen = probe(plan.test)
    failed = [trial.expected.error or trial.actual.error for trial in trials]
    answered = [trial for trial, error in zip(trials, failed, strict=True) if not error]
    scores = iter(chosen.score(answered, plan.probe_settings, embed=embed))
    every = [unscored(f"The model gave no answer: {error}") if error else next(scores) for error in failed]
    return result_table(trials, every, probe=chosen, model=model)

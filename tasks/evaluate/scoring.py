"""Trials into result rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from contrapose.tasks.config import Plan
from contrapose.tasks.probes.base import Embed, unscored
from contrapose.tasks.records import Score, Trial
from contrapose.tasks.registry import probe
from contrapose.tasks.results import result_row, schema_for


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
    answered = [trial for trial in trials if not _error(trial)]
    scores = iter(chosen.score(answered, plan.probe_settings, embed=embed))
    rows = [
        result_row(trial, _failed(trial) if _error(trial) else next(scores), probe=chosen, model=model)
        for trial in trials
    ]
    return pa.Table.from_pylist(rows, schema=schema_for(chosen))


def _error(trial: Trial) -> str | None:
    return trial.expected.error or trial.actual.error


def _failed(trial: Trial) -> Score:
    return unscored(f"The model gave no answer: {_error(trial)}")

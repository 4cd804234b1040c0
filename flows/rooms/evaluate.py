"""Results of every test."""

from __future__ import annotations

from collections.abc import Mapping

from contrapose.flows.entrance import Run
from contrapose.flows.rooms.timing import timed
from contrapose.flows.rooms.trials import Trials
from contrapose.tasks.core.policy import call
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.evaluate.task import evaluate as evaluate_task
from contrapose.tasks.tables.table import Table


@timed
def evaluate(run: Run, trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Results of every test."""
    return {
        plan.test: call(
            evaluate_task,
            refresh=run.config.refresh,
            plan=plan,
            trials=trials[plan.test].tables,
            model=run.config.model,
            embedding_model=run.config.embedding_model,
            embedding_revision=revision(run.config.embedding_model),
        ).value
        for plan in run.plans
    }

"""Samples of every test."""

from __future__ import annotations

from contrapose.flows.entrance import Run
from contrapose.flows.rooms.timing import timed
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.policy import call
from contrapose.tasks.load.samples import content_sha256
from contrapose.tasks.load.task import Samples
from contrapose.tasks.load.task import load as load_task


@timed
def load(run: Run) -> dict[str, Samples]:
    """Samples of every test."""
    return {plan.test: _loaded(run, plan) for plan in run.plans}


def _loaded(run: Run, plan: Plan) -> Samples:
    """Samples of one test. Whose limit cut them is told here: the task, which is cached, need not know."""
    found: Samples = call(
        load_task,
        refresh=run.config.refresh,
        test=plan.test,
        data=plan.data,
        sha256=content_sha256(plan.data),
        limit=plan.limit,
        seed=run.config.seed,
    ).value
    if plan.limited_by is None or found["table"]["rows"] == found["data"]["rows"]:
        return found
    return {**found, "data": {**found["data"], "limited_by": plan.limited_by}}

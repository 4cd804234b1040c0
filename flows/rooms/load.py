"""Samples of every test."""

from __future__ import annotations

from contrapose.flows.entrance import Run
from contrapose.flows.rooms.timing import timed
from contrapose.tasks.load.samples import content_sha256
from contrapose.tasks.load.task import Samples
from contrapose.tasks.load.task import load as load_task
from contrapose.tasks.policy import call


@timed
def load(run: Run) -> dict[str, Samples]:
    """Samples of every test."""
    return {
        plan.test: call(
            load_task,
            refresh=run.config.refresh,
            test=plan.test,
            data=plan.data,
            sha256=content_sha256(plan.data),
            limit=plan.limit,
            seed=run.config.seed,
        ).value
        for plan in run.plans
    }

"""Cases of every test."""

from __future__ import annotations

from collections.abc import Mapping

from contrapose.flows.entrance import Run
from contrapose.flows.rooms.timing import timed
from contrapose.tasks.core.policy import call
from contrapose.tasks.load.task import Samples
from contrapose.tasks.perturb.guessing import refuse_guessable
from contrapose.tasks.perturb.task import perturb as perturb_task
from contrapose.tasks.tables.table import Table


@timed
def perturb(run: Run, samples: Mapping[str, Samples]) -> dict[str, Table]:
    """Cases of every test.

    Raises:
        ConfigError: guessing reaches the gate of a test.
    """
    cases = {
        plan.test: call(
            perturb_task,
            refresh=run.config.refresh,
            plan=plan,
            samples=samples[plan.test]["table"],
            seed=run.config.seed,
            likelihoods=run.provider.likelihoods(run.spec),
        ).value
        for plan in run.plans
    }
    for plan in run.plans:
        refuse_guessable(plan, cases[plan.test])
    return cases

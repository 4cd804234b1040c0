"""The verdict on every test."""

from __future__ import annotations

from collections.abc import Mapping

from contrapose.flows.entrance import Run
from contrapose.flows.rooms.trials import Trials
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.policy import call
from contrapose.tasks.evaluate.gate import corrected, rules
from contrapose.tasks.evaluate.task import judge as judge_task
from contrapose.tasks.load.task import Samples
from contrapose.tasks.tables.table import Table


def judge(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
) -> list[Outcome]:
    """The verdict on every test, with regard to how many there are."""
    found = [
        stopped(
            call(
                judge_task,
                refresh=run.config.refresh,
                plan=plan,
                cases=cases[plan.test],
                results=results[plan.test],
                data=samples[plan.test]["data"],
                rules=rules(run.config, plan, tests=len(run.plans)),
            ).value,
            trials[plan.test],
        )
        for plan in run.plans
    ]
    return corrected(found)


def stopped(outcome: Outcome, trials: Trials) -> Outcome:
    """The outcome of a test that was stopped before all of it was asked: incomplete, however few are missing."""
    if not trials.unasked:
        return outcome
    reason = f"{trials.unasked} of {trials.asked} cases could not be asked: {trials.stopped}."
    return {**outcome, "verdict": "incomplete", "reason": reason, "gates": [], "reached": None, "missed": None}

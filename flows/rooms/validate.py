"""The gates: before the model, before scoring, before publication."""

from __future__ import annotations

from collections.abc import Mapping

from contrapose.flows.entrance import Run
from contrapose.flows.gate import admit
from contrapose.flows.rooms.timing import timed
from contrapose.flows.rooms.trials import Trials
from contrapose.tasks.core.policy import call
from contrapose.tasks.core.validation import Checked
from contrapose.tasks.load.task import Samples
from contrapose.tasks.tables.table import Table
from contrapose.tasks.validate.task import validate_cases as validate_cases_task
from contrapose.tasks.validate.task import validate_completions as validate_completions_task
from contrapose.tasks.validate.task import validate_results as validate_results_task
from contrapose.tasks.validate.task import validate_samples as validate_samples_task
from contrapose.tasks.validate.wellformed import own_suites


@timed
def validate_cases(run: Run, samples: Mapping[str, Samples], cases: Mapping[str, Table]) -> list[Checked]:
    """The gate before the model: samples and cases."""
    own = own_suites(run.config.expectations, run.plans)
    again = run.config.refresh
    checked = []
    for plan in run.plans:
        table, rows = samples[plan.test]["table"], samples[plan.test]["data"]["rows"]
        checked += [
            call(validate_samples_task, refresh=again, plan=plan, samples=table, rows=rows, own=own).value,
            call(validate_cases_task, refresh=again, plan=plan, cases=cases[plan.test], samples=table, own=own).value,
        ]
    return admit(run, checked)


@timed
def validate_completions(run: Run, cases: Mapping[str, Table], trials: Mapping[str, Trials]) -> list[Checked]:
    """The gate before scoring."""
    own = own_suites(run.config.expectations, run.plans)
    checked = [
        call(
            validate_completions_task,
            refresh=run.config.refresh,
            plan=plan,
            trials=trials[plan.test].tables,
            cases=cases[plan.test],
            own=own,
        ).value
        for plan in run.plans
    ]
    return admit(run, checked)


@timed
def validate_results(run: Run, cases: Mapping[str, Table], results: Mapping[str, Table]) -> list[Checked]:
    """The gate before publication."""
    own = own_suites(run.config.expectations, run.plans)
    checked = [
        call(
            validate_results_task,
            refresh=run.config.refresh,
            plan=plan,
            results=results[plan.test],
            cases=cases[plan.test],
            own=own,
        ).value
        for plan in run.plans
    ]
    return admit(run, checked)

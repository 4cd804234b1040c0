"""Main flow: six stages measure how a model's answers change when its prompts change a little.

    load ──samples──▶ perturb ──cases──▶ infer ──trials──▶ evaluate ──results──▶ validate ──▶ report

A configuration is resolved once, into a `Run`: tests, models, prices, budget, workers. Each stage takes the run and the
tables of the stage before it. Between stages the tables are validated, and a bad one stops the run.
"""

from __future__ import annotations

from prefect import flow

from contrapose.flows.orchestration.form import Form
from contrapose.flows.orchestration.run_names import make_namer
from contrapose.flows.orchestration.verdict_state import FailFlow, emit_finished, end_in_state
from contrapose.flows.reporting import Published, report
from contrapose.flows.run_lifecycle import begin_run, mark_alive
from contrapose.flows.steps import (
    evaluate,
    infer,
    judge,
    load,
    perturb,
    select_asked,
    validate_cases,
    validate_completions,
    validate_results,
)
from contrapose.tasks.core.policy import RESULTS, SERIALIZER

HIDDEN = ("resumed", "fail_flow")
"""Parameters that the form does not show: commands and deployments send them."""


@flow(
    name="evaluate-model",
    flow_run_name=make_namer(lambda sent: f"{sent['config'].suite} on {sent['config'].model}"),
    description="Perturbs prompts, asks a model both versions, and judges what the change did to its answers.",
    persist_result=True,
    result_storage=RESULTS,
    result_serializer=SERIALIZER,
)
def evaluate_model(config: Form, resumed: str | None = None, fail_flow: FailFlow = "on_error") -> Published:
    """Evaluate one model on the selected tests.

    Args:
        config: settings of the run; each field has its own description.
        resumed: id of an unfinished run that goes on; empty for a new one.
        fail_flow: on_gate: a flow run whose verdict is fail or incomplete ends as failed; on_error: after errors alone.

    Returns:
        The folder of the run and the content of its summary.json.

    Raises:
        ContraposeError: something the user can fix; nothing was published.
    """
    run = begin_run(config, resumed=resumed)
    with mark_alive(run), run.workers:
        samples = load(run)

        cases = perturb(run, samples)
        checked = validate_cases(run, samples, cases)

        trials = infer(run, cases)
        cases = select_asked(cases, trials)
        checked += validate_completions(run, cases, trials)

        results = evaluate(run, trials)
        checked += validate_results(run, cases, results)
        outcomes = judge(run, samples, cases, trials, results)

        published = report(run, samples, cases, trials, results, outcomes, checked)
        emit_finished(published)
        return end_in_state(published, fail_flow=fail_flow)


for name in HIDDEN:
    evaluate_model.parameters.properties.pop(name)

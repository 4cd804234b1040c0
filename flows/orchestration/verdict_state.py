"""The verdict of a flow run in Prefect: its final state, tag and label, and an event that starts automations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from uuid import UUID

from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRunPolicy
from prefect.context import FlowRunContext
from prefect.events import emit_event
from prefect.states import Completed, Failed

from contrapose.flows.serve.temporary_server import is_server_kept
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import distinct_percentages

if TYPE_CHECKING:
    from contrapose.flows.reporting import Published

T = TypeVar("T")
FailFlow = Literal["on_error", "on_gate"]
"""Ends a flow run as failed after an error alone, or after a bad verdict too."""
NAMES: dict[Verdict, str] = {
    "pass": "Passed gate",
    "fail": "Failed gate",
    "inconclusive": "Inconclusive",
    "incomplete": "Incomplete",
}
"""Name of the state."""
BAD: tuple[Verdict, ...] = ("fail", "incomplete")
"""Verdicts that fail a flow run on request."""
NAMED = "CONTRAPOSE_STATE_NAMES"
"""Variable that a deployment sets to `verdict`. Prefect's events are called after the names of states, and automations
of an earlier version would not see such a run end."""
LABEL = "contrapose.verdict"
"""Label of the flow run; as a tag `verdict:fail`, and so on."""
FINISHED = "contrapose.finished"


def end_in_state(published: Published, *, fail_flow: FailFlow = "on_error") -> Published:
    """Return the result of a flow that evaluates one model: the run, in a Prefect state that carries its verdict."""
    verdict, message = published["summary"]["verdict"], make_headline(published["summary"])
    error = None
    if fail_flow == "on_gate" and verdict in BAD:
        error = ContraposeError(
            message, expected="a run that passes its gates", remedy=f"Its report is in {published['folder']}."
        )
    summary = published["summary"]
    tags = (f"suite:{summary['suite']}", f"model:{summary['model']['id']}")
    return carry_verdict(published, verdict=verdict, message=message, name=NAMES[verdict], error=error, further=tags)


def carry_verdict(
    value: T,
    *,
    verdict: str,
    message: str,
    name: str = "",
    error: ContraposeError | None = None,
    further: Sequence[str] = (),
) -> T:
    """Return a flow's value in a Prefect state that carries a verdict, if a server keeps the state.

    Callers of the flow get the value itself: Prefect takes it out of the state. Not after an attempt that failed: with
    a state, Prefect would raise the error of that attempt at the end of the one that went well. Tag and label carry the
    verdict then. `error` is what the flow run fails with, if it does; `further` are more tags.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None or not is_server_kept():
        return value
    flow_run = context.flow_run
    tags = [tag for tag in flow_run.tags if not tag.startswith("verdict:")] + [f"verdict:{verdict}"]
    tags += [tag for tag in further if tag not in tags]
    # A flow run that fails by its verdict is not tried again, since it would end the same.
    policy = FlowRunPolicy(retries=0, retry_delay=0) if error is not None else None
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, tags=tags, empirical_policy=policy)
        client.update_flow_run_labels(flow_run.id, {LABEL: verdict})
    if flow_run.run_count > 1:
        if error is not None:
            raise error
        return value
    # Prefect names a state after its type where the name is None.
    named = name if name and os.environ.get(NAMED) == "verdict" else None
    state: State[Any] = Completed(message=message, data=value, name=named)
    if error is not None:
        state = Failed(message=message, data=error, name=named)
    return cast(T, state)


def make_headline(summary: Summary) -> str:
    """Name the tests that decided the verdict, such as `order_bias 30.0% < 70.0%`."""
    deciding = [test for test in summary["tests"] if test["verdict"] == summary["verdict"]]
    return "; ".join(_compare_rates(test) for test in deciding) or summary["reason"]


def _compare_rates(test: Outcome) -> str:
    """Format the rates of a test with their gates; of a failed test, only rates below their gates."""
    known = [(gate, gate["rate"]) for gate in test["gates"] if gate["rate"] is not None]
    if test["verdict"] == "fail":
        known = [(gate, rate) for gate, rate in known if rate < gate["wanted"]] or known
    if test["verdict"] == "incomplete" or not known:
        return f"{test['test_type']}: {make_shower(show_toxic=False)(test['reason'])}"
    rates = []
    for gate, rate in known:
        share, wanted = distinct_percentages(rate, gate["wanted"])
        label = "" if gate["name"] == "pass_rate" else f"{gate['name']} "
        rates.append(f"{label}{share} {'<' if rate < gate['wanted'] else '≥'} {wanted}")
    unsure = ", not sure" if test["verdict"] == "inconclusive" else ""
    early = early_stop(test)
    after = f" after {early['judged']:,} of {early['cases']:,} cases" if early else ""
    return f"{test['test_type']} {', '.join(rates)}{unsure}{after}"


def emit_finished(published: Published) -> None:
    """Emit the event `contrapose.finished` for a published run."""
    summary, run = published["summary"], published["run"]
    emit_verdict(
        FINISHED,
        resource={"prefect.resource.id": f"contrapose.run.{run}", "prefect.resource.name": run},
        payload={
            "verdict": summary["verdict"],
            "reason": summary["reason"],
            "suite": summary["suite"],
            "model": summary["model"]["id"],
            "folder": published["folder"],
        },
    )


def emit_verdict(
    event: str, *, resource: Mapping[str, str], payload: dict[str, Any], number: UUID | None = None
) -> None:
    """Emit an event with a verdict, which is also a label, because triggers do not see the payload.

    Prefect's temporary server has no automations, and would only be kept waiting. `number` is the id of an event that
    may be emitted again.
    """
    if is_server_kept():
        labelled = {**resource, "contrapose.verdict": str(payload["verdict"])}
        emit_event(event, resource=labelled, payload=payload, id=number)

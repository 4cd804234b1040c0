"""The state in which a flow run ends says what came of it, so that people see the verdict in Prefect's list."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, FlowRunPolicy
from prefect.context import FlowRunContext
from prefect.states import Completed, Failed

from contrapose.flows.serve.temporary_server import is_kept
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.text.masking import shower
from contrapose.tasks.text.wording import distinct_percentages

if TYPE_CHECKING:
    from contrapose.flows.reporting import Published

T = TypeVar("T")
FailFlow = Literal["on_error", "on_gate"]
"""What ends a flow run as failed: an error alone, or a bad verdict too."""
NAMES: dict[Verdict, str] = {
    "pass": "Passed gate",
    "fail": "Failed gate",
    "inconclusive": "Inconclusive",
    "incomplete": "Incomplete",
}
"""Of the state."""
BAD: tuple[Verdict, ...] = ("fail", "incomplete")
"""Verdicts that fail a flow run on request."""
NAMED = "CONTRAPOSE_STATE_NAMES"
"""Variable that a deployment sets to `verdict`. Prefect's events are called after the names of states, and automations
of an earlier version would not see such a run end."""
LABEL = "contrapose.verdict"
"""Of the flow run; as a tag `verdict:fail`, and so on."""


def ended(published: Published, *, fail_flow: FailFlow = "on_error") -> Published:
    """What a flow over one model returns: the run, in a state that carries its verdict."""
    verdict, message = published["summary"]["verdict"], headline(published["summary"])
    error = None
    if fail_flow == "on_gate" and verdict in BAD:
        error = ContraposeError(
            message, expected="a run that passes its gates", remedy=f"Its report is in {published['folder']}."
        )
    return in_state(published, verdict=verdict, message=message, name=NAMES[verdict], error=error)


def in_state(value: T, *, verdict: str, message: str, name: str = "", error: ContraposeError | None = None) -> T:
    """What a flow returns, in a state that carries a verdict where a server keeps it.

    Callers of the flow get the value itself: Prefect takes it out of the state. Not after an attempt that failed: with
    a state, Prefect would raise the error of that attempt at the end of the one that went well. Tag and label tell the
    verdict then.

    Args:
        value: what the flow returns.
        verdict: for a tag and a label.
        message: of the state.
        name: of the state, where states are named after verdicts; empty: as Prefect calls it.
        error: what the flow run fails with, if it does.

    Raises:
        ContraposeError: that error, where it is not carried by a state.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None or not is_kept():
        return value
    _mark(context.flow_run, verdict, failed=error is not None)
    if context.flow_run.run_count > 1:
        if error is not None:
            raise error
        return value
    # None is what Prefect calls a state of that type.
    named = name if name and os.environ.get(NAMED) == "verdict" else None
    state: State[Any] = Completed(message=message, data=value, name=named)
    if error is not None:
        state = Failed(message=message, data=error, name=named)
    return cast(T, state)


def _mark(flow_run: FlowRun, verdict: str, *, failed: bool) -> None:
    """Write the verdict on the flow run; one that fails by it is not tried again, since it would end the same."""
    tags = [tag for tag in flow_run.tags if not tag.startswith("verdict:")] + [f"verdict:{verdict}"]
    policy = FlowRunPolicy(retries=0, retry_delay=0) if failed else None
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, tags=tags, empirical_policy=policy)
        client.update_flow_run_labels(flow_run.id, {LABEL: verdict})


def headline(summary: Summary) -> str:
    """The tests that made the verdict, such as `order_bias 30.0% < 70.0%`."""
    deciding = [test for test in summary["tests"] if test["verdict"] == summary["verdict"]]
    return "; ".join(_figures(test) for test in deciding) or summary["reason"]


def _figures(test: Outcome) -> str:
    """The rates of a test beside their gates; of one that failed, those that miss them."""
    known = [(gate, gate["rate"]) for gate in test["gates"] if gate["rate"] is not None]
    if test["verdict"] == "fail":
        known = [(gate, rate) for gate, rate in known if rate < gate["wanted"]] or known
    if test["verdict"] == "incomplete" or not known:
        return f"{test['test_type']}: {shower(show_toxic=False)(test['reason'])}"
    rates = []
    for gate, rate in known:
        share, wanted = distinct_percentages(rate, gate["wanted"])
        label = "" if gate["name"] == "pass_rate" else f"{gate['name']} "
        rates.append(f"{label}{share} {'<' if rate < gate['wanted'] else '≥'} {wanted}")
    unsure = ", not sure" if test["verdict"] == "inconclusive" else ""
    early = early_stop(test)
    after = f" after {early['judged']:,} of {early['cases']:,} cases" if early else ""
    return f"{test['test_type']} {', '.join(rates)}{unsure}{after}"

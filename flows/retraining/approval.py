"""A candidate that is held: a person may decide otherwise."""

from __future__ import annotations

import re

from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import pause_flow_run, suspend_flow_run
from prefect.input import RunInput
from prefect.runtime import deployment
from pydantic import Field

from contrapose.tasks.core.decision import Decision, PersonsAnswer
from contrapose.tasks.report.decision_markdown import render

POLL_SECONDS = 5


class ApprovalReply(RunInput):
    """What the form asks."""

    # No list to choose from: in the older interface a list inside a dialog closes as soon as a mouse opens it.
    approve: bool = Field(default=False, description="Promotes the candidate; otherwise it is held.")
    reason: str = Field(min_length=1, max_length=500, description="Why; it is kept with the verdict.")


def ask(decision: Decision, *, hours: float) -> PersonsAnswer | None:
    """Pause until a person approves or rejects the candidate; None where nobody answered in time.

    A run of a deployment leaves its process meanwhile, and is started again with the answer.
    """
    form = ApprovalReply.with_initial_data(description=render(decision).decode())
    # A flow run that is resumed finds its answer by the key: what was said of another decision is none to this one.
    key = f"ask-{re.sub('[^0-9]', '', decision['decided'])}"
    seconds = max(1, round(3600 * hours))
    try:
        if deployment.id:
            reply = suspend_flow_run(wait_for_input=form, timeout=seconds, key=key)
        else:
            reply = pause_flow_run(wait_for_input=form, timeout=seconds, poll_interval=POLL_SECONDS, key=key)
    except FlowPauseTimeout:
        return None
    return PersonsAnswer(approved=reply.approve, reason=reply.reason)

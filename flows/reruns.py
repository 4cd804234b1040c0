"""A flow run that starts once more, after a crash or by a retry, goes on with the run that it began."""

from __future__ import annotations

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from prefect.settings import PREFECT_API_URL

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.store.runs import Runs

LABEL = "contrapose.run"
"""Of a flow run: id of the run that it began."""
STARTS = 5
"""A flow run that crashed so often will crash again: what crashes starts again by itself, and would never end."""


def begun(store: Runs) -> str | None:
    """Id of the unfinished run that this flow run began when it started before; None where there is none.

    Raises:
        ContraposeError: it was started too often.
    """
    flow_run = _here()
    if flow_run is None or flow_run.run_count <= 1:
        return None
    if flow_run.run_count > STARTS:
        raise ContraposeError(
            f"the flow run was started {flow_run.run_count} times, and never came to its end",
            expected=f"at most {STARTS} starts",
            remedy="Its log tells what ended it. Start a new run: what was answered is not asked again.",
            where=flow_run.name,
        )
    with _client() as client:
        name = client.read_flow_run(flow_run.id).labels.get(LABEL)
    row = store.get(str(name)) if name else None
    return row.id if row is not None and row.state in ("running", "incomplete") else None


def note(run: str) -> None:
    """Keep the id of the run that this flow run began."""
    flow_run = _here()
    if flow_run is not None:
        with _client() as client:
            client.update_flow_run_labels(flow_run.id, {LABEL: run})


def _here() -> FlowRun | None:
    """This flow run, where a server keeps it: Prefect's temporary one ends with the process."""
    context = FlowRunContext.get()
    return context.flow_run if context is not None and PREFECT_API_URL.value() else None


def _client() -> SyncPrefectClient:
    return get_client(sync_client=True)

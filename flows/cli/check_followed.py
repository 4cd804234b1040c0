"""`contrapose announce --wait`: the check that an announcement starts is followed to its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import TYPE_CHECKING

from contrapose.tasks.core.errors import ConfigError

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.objects import FlowRun

BEGIN_SECONDS = 120.0
"""How long the automation may take to start a check."""
LOOK_SECONDS = 2.0
CLOCKS_APART = timedelta(minutes=2)
"""How far the clocks of this machine and of the server may be apart."""
CODES = {"promote": 0, "hold": 1, "insufficient evidence": 3}
"""Exit codes of verdicts; 4: the check came to none."""
NO_VERDICT = 4


def follow(announced: Mapping[str, str], *, since: datetime) -> Iterator[str | int]:
    """The link to the check and its outcome, a line each; at last the exit code.

    Args:
        announced: the payload of the event.
        since: when it was sent.

    Raises:
        ConfigError: no check begins.
    """
    from prefect.client.orchestration import get_client
    from prefect.utilities.urls import url_for

    with get_client(sync_client=True) as client:
        run = _begun(client, announced, since=since - CLOCKS_APART)
        yield url_for(run) or f"flow run {run.name} ({run.id})"
        while run.state is None or not run.state.is_final():
            sleep(LOOK_SECONDS)
            run = client.read_flow_run(run.id)
    from contrapose.flows.orchestration.verdict_state import LABEL

    verdict = str(run.labels.get(LABEL, ""))
    yield f"{verdict or run.state.name}: {run.state.message}" if run.state.message else verdict or str(run.state.name)
    yield CODES.get(verdict, NO_VERDICT) if run.state.is_completed() else NO_VERDICT


def _begun(client: SyncPrefectClient, announced: Mapping[str, str], *, since: datetime) -> FlowRun:
    """The check that was started for what was announced, the newest where there are several."""
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName, FlowRunFilter, FlowRunFilterExpectedStartTime
    from prefect.client.schemas.sorting import FlowRunSort

    end = monotonic() + BEGIN_SECONDS
    while monotonic() < end:
        runs = client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=["check-retrained-model"])),
            flow_run_filter=FlowRunFilter(expected_start_time=FlowRunFilterExpectedStartTime(after_=since)),
            sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        )
        for run in runs:
            if all(str(run.parameters.get(key, "")) == value for key, value in announced.items()):
                return run
        sleep(LOOK_SECONDS)
    raise ConfigError(
        f"no check of {announced['model']} began within {BEGIN_SECONDS:.0f} seconds",
        expected="an automation that starts it",
        remedy="`contrapose deploy` makes it; `contrapose doctor` looks whether it is there and switched on.",
        where="--wait",
    )

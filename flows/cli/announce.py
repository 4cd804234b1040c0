"""`contrapose deploy announce`: Prefect learns that a model was retrained, which starts its check."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import TYPE_CHECKING

from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.serve.server_key import bring_key_as_configured, refuse_silent_server
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import without_user
from contrapose.tasks.promotion.settings import RETRAINED, resource, retrained

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


def announce(model: str, *, revision: str = "", training_run: str = "") -> str:
    """Send the event `model.retrained`, wait until the Prefect server has it, and return its id.

    Args:
        model: id as in a run, such as `hf/<org>/<name>` or `openai/<model>`.
        revision: which one it is, where the id does not tell.
        training_run: what made it; this or the revision is needed.

    Raises:
        ConfigError: a value cannot be used, or there is no server that can be reached.
    """
    from prefect.events import Event
    from prefect.events.clients import get_events_client
    from prefect.settings import PREFECT_API_URL
    from prefect.utilities.asyncutils import run_coro_as_sync

    payload = retrained(model, revision=revision, training_run=training_run)
    bring_key_as_configured()
    server = PREFECT_API_URL.value()
    if not server:
        raise _no_server("no Prefect server is named", where="PREFECT_API_URL")
    refuse_silent_server()
    event = Event(event=RETRAINED, resource=resource(model), payload=payload)

    async def send() -> None:
        # A checkpoint after each event: when the client closes, the server has confirmed it.
        async with get_events_client(reconnection_attempts=2, checkpoint_every=1) as client:
            await client.emit(event)

    try:
        # Also where an event loop is running, as in a notebook.
        run_coro_as_sync(send())
    except Exception as error:
        problem = f"the Prefect server did not take the event ({type(error).__name__})"
        raise _no_server(problem, where=without_user(server)) from error
    return str(event.id)


def _no_server(problem: str, *, where: str) -> ConfigError:
    expected = "a server that can be reached, whose automation starts the check"
    remedy = "Set PREFECT_API_URL; contrapose ui starts a server with everything deployed."
    return ConfigError(problem, expected=expected, remedy=remedy, where=where)


def follow_check(announced: Mapping[str, str], *, since: datetime) -> int:
    """Print the link to the check of an event's payload and its outcome, a line each, and return the exit code."""
    from prefect.client.orchestration import get_client
    from prefect.utilities.urls import url_for

    from contrapose.flows.orchestration.verdict_state import LABEL

    with get_client(sync_client=True) as client:
        run = _find_check(client, announced, since=since - CLOCKS_APART)
        print(url_for(run) or f"flow run {run.name} ({run.id})", flush=True)
        while run.state is None or not run.state.is_final():
            sleep(LOOK_SECONDS)
            run = client.read_flow_run(run.id)
    verdict = str(run.labels.get(LABEL, ""))
    print(": ".join(filter(None, (verdict or str(run.state.name), run.state.message))), flush=True)
    return CODES.get(verdict, NO_VERDICT) if run.state.is_completed() else NO_VERDICT


def _find_check(client: SyncPrefectClient, announced: Mapping[str, str], *, since: datetime) -> FlowRun:
    """Wait for the check that was started for what was announced; the newest where there are several."""
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


def add_announcement(command: argparse.ArgumentParser) -> None:
    """Add the options that say which model was retrained."""
    add = command.add_argument
    add("retrained", metavar="MODEL", help="its id: hf/<org>/<name>, hf/<folder>, openai/<model>")
    add("--revision", default="", metavar="R", help="which one it is, where the id does not tell")
    add("--training-run", default="", metavar="T", help="what made it; this or --revision is needed")
    add("--wait", action="store_true", help="print the link to its check, and exit with the verdict")
    command.epilog = (
        "exit codes with --wait: 0 promote, 1 hold, 3 insufficient evidence, 4 no verdict, 2 usage or configuration"
    )


def announce_from(arguments: argparse.Namespace) -> int:
    """Announce the model of parsed arguments, wait for its check where that is asked, and return the exit code."""
    named = {"revision": arguments.revision, "training_run": arguments.training_run}
    since = datetime.now(UTC)
    event = announce(arguments.retrained, **named)
    code = print_lines([f"announced {arguments.retrained} (event {event})"])
    return follow_check(retrained(arguments.retrained, **named), since=since) if arguments.wait else code

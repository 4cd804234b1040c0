"""`contrapose announce`: Prefect is told that a model was retrained, which starts its check."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.serve.server_key import bring_key_as_configured, refuse_silent_server
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import without_user
from contrapose.tasks.promotion.settings import RETRAINED, resource, retrained

if TYPE_CHECKING:
    from prefect.events import Event

TRIES = 2
"""Further connections to the server where one fails."""


def announce(model: str, *, revision: str = "", training_run: str = "") -> str:
    """Send the event `model.retrained`, and wait until the Prefect server has it.

    Args:
        model: id as in a run, such as `hf/<org>/<name>` or `openai/<model>`.
        revision: which one it is, where the id does not tell.
        training_run: what made it; this or the revision is needed.

    Returns:
        Id of the event.

    Raises:
        ConfigError: a value cannot be used, or there is no server that can be reached.
    """
    from prefect.events import Event
    from prefect.settings import PREFECT_API_URL
    from prefect.utilities.asyncutils import run_coro_as_sync

    payload = retrained(model, revision=revision, training_run=training_run)
    bring_key_as_configured()
    server = PREFECT_API_URL.value()
    if not server:
        raise _no_server("no Prefect server is named", "PREFECT_API_URL")
    refuse_silent_server()
    event = Event(event=RETRAINED, resource=resource(model), payload=payload)
    try:
        # Also where an event loop is running, as in a notebook.
        run_coro_as_sync(_send(event))
    except Exception as error:
        raise _no_server(
            f"the Prefect server did not take the event ({type(error).__name__})", without_user(server)
        ) from error
    return str(event.id)


async def _send(event: Event) -> None:
    from prefect.events.clients import get_events_client

    # A checkpoint after each event: when the client closes, the server has confirmed it.
    async with get_events_client(reconnection_attempts=TRIES, checkpoint_every=1) as client:
        await client.emit(event)


def _no_server(problem: str, where: str) -> ConfigError:
    return ConfigError(
        problem,
        expected="a server that can be reached, whose automation starts the check",
        remedy="Set PREFECT_API_URL; contrapose ui starts a server with everything deployed.",
        where=where,
    )


def _options(command: argparse.ArgumentParser) -> None:
    """Which model was retrained."""
    command.add_argument("retrained", metavar="MODEL", help="its id: hf/<org>/<name>, hf/<folder>, openai/<model>")
    command.add_argument("--revision", default="", metavar="R", help="which one it is, where the id does not tell")
    command.add_argument("--training-run", default="", metavar="T", help="what made it; this or --revision is needed")
    command.add_argument("--wait", action="store_true", help="print the link to its check, and exit with the verdict")


def _announce(arguments: argparse.Namespace) -> int:
    named = {"revision": arguments.revision, "training_run": arguments.training_run}
    since = datetime.now(UTC)
    event = announce(arguments.retrained, **named)
    code = print_lines([f"announced {arguments.retrained} (event {event})"])
    if not arguments.wait:
        return code
    from contrapose.flows.cli.check_followed import follow

    for line in follow(retrained(arguments.retrained, **named), since=since):
        if isinstance(line, int):
            return line
        print(line, flush=True)
    return code


VERB = Verb(
    options=_options,
    act=_announce,
    example="announce hf/org/name --revision v2",
    exits="Exit codes with --wait: 0 promote, 1 hold, 3 insufficient evidence, 4 no verdict, 2 usage or configuration.",
)

"""Telling Prefect that a model was retrained: the event that starts a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contrapose.flows.command.server_key import bring_key_as_configured
from contrapose.tasks.config.secrets import without_user
from contrapose.tasks.core.errors import ConfigError
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


def _no_server(found: str, where: str) -> ConfigError:
    return ConfigError(
        found,
        expected="a server that can be reached, whose automation starts the check",
        remedy="Set PREFECT_API_URL; contrapose ui starts a server with everything deployed.",
        where=where,
    )

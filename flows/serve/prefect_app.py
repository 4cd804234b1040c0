"""A local Prefect server that answers only requests with a key; runs and `contrapose ui` start it.

Prefect asks for the key itself, over HTTP and in every websocket; it asks for tokens against forged requests, and names
no origin that may read along. The layer before it does what its settings cannot: it checks the name of the machine and
the origin, and takes a cookie from a browser, which Prefect would ask for the key and keep that where scripts read it.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

from contrapose.flows.serve.guard import HOST, NAMES, App, Guard, Message, Receive, Send, encode_key, guard_app

if TYPE_CHECKING:
    from fastapi import FastAPI

KEPT = "CONTRAPOSE_KEY_FILE"
"""Environment variable: the file that holds the server's key, where one does; a browser is shown its name."""

OPEN = frozenset({"/api/health"})
"""Path that Prefect asks before it knows the key: whether the server is there."""

UI_SETTINGS = "/ui-settings"
"""Path where Prefect's pages learn whether they must ask for the key."""


def make_server_settings(key: str, port: int) -> dict[str, str]:
    """Return the environment for a Prefect server on a port of this machine, and for its clients."""
    return {
        "PREFECT_API_AUTH_STRING": key,
        "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "true",
        "PREFECT_SERVER_API_AUTH_STRING": key,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://{HOST}:{port}",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }


def serve(port: int, *, log_level: str) -> None:
    """Serve Prefect on loopback until a signal ends it; read its settings from the environment."""
    import uvicorn
    from prefect.settings import get_current_settings

    from contrapose.flows.serve.prefect_database import use_own_database
    from contrapose.flows.serve.queued_sqlite import queue_writes

    use_own_database()

    api = get_current_settings().server.api
    with queue_writes():
        uvicorn.run(
            "contrapose.flows.serve.prefect_app:create",
            factory=True,
            host=HOST,
            port=port,
            lifespan="on",
            log_level=log_level,
            # Nobody is in between: such a header is made up by a page.
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=api.keepalive_timeout,
            ws_ping_interval=api.websocket_ping_interval,
            ws_ping_timeout=api.websocket_ping_timeout,
        )


def create() -> App:
    """Create Prefect's server behind the guard.

    Raises:
        RuntimeError: no key is set, and everybody would be answered.
    """
    from prefect.server.api.server import create_app
    from prefect.settings import PREFECT_SERVER_API_AUTH_STRING, get_current_settings, temporary_settings

    api = get_current_settings().server.api
    key = api.auth_string.get_secret_value() if api.auth_string else ""
    if not key:
        raise RuntimeError("a server without PREFECT_SERVER_API_AUTH_STRING would answer everybody")
    _let_actions_in(key)
    app: FastAPI = create_app()

    async def report_no_login(scope: Message, receive: Receive, send: Send) -> None:
        """Report to Prefect's pages that no login is needed, because the guard has let the browser in."""
        asks_for_login = (scope["type"], scope.get("path")) == ("http", UI_SETTINGS)
        with temporary_settings({PREFECT_SERVER_API_AUTH_STRING: None}) if asks_for_login else nullcontext():
            await app(scope, receive, send)

    pages: App = report_no_login
    if not get_current_settings().server.analytics_enabled:
        pages = block_telemetry(pages, api.port)
    return guard_app(pages, Guard(key=key, port=api.port, kept=os.environ.get(KEPT, ""), open_paths=OPEN))


def block_telemetry(app: App, port: int) -> App:
    """Return an application whose pages load from, and send to, this server only.

    Prefect's newer pages ask Amplitude for its settings before they look whether telemetry is off.
    """
    from starlette.datastructures import MutableHeaders

    sockets = " ".join(f"ws://{name}:{port}" for name in NAMES)
    here = "'self' 'unsafe-inline' 'unsafe-eval' blob:"
    policy = f"connect-src 'self' data: blob: {sockets}; script-src {here}; worker-src {here}; frame-src 'self' blob:"

    async def layer(scope: Message, receive: Receive, send: Send) -> None:
        async def add_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Content-Security-Policy", policy)
            await send(message)

        await app(scope, receive, add_policy)

    return layer


def _let_actions_in(key: str) -> None:
    """Let the server's own automations pause and resume other automations.

    Prefect's client for these actions brings neither the key nor a token, so that its own server refuses it.
    """
    from prefect.server.events import actions
    from prefect.server.events.clients import PrefectServerEventsAPIClient

    class Admitted(PrefectServerEventsAPIClient):
        """Prefect's client for automations, with key and token."""

        def __init__(self, additional_headers: dict[str, str] | None = None) -> None:
            super().__init__({**(additional_headers or {}), "Authorization": encode_key(key)})
            self._http_client.enable_csrf_support = True

    actions.PrefectServerEventsAPIClient = Admitted  # type: ignore[attr-defined]


def main() -> None:
    """Serve on the port that the environment sets."""
    from prefect.settings import get_current_settings

    server = get_current_settings().server
    serve(server.api.port, log_level=server.logging_level.lower())


if __name__ == "__main__":
    main()

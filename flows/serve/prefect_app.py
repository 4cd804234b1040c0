"""Prefect's server behind the guard: what `contrapose ui` and a run without a server of its own start.

Prefect asks for the key itself, over HTTP and in every websocket; it asks for tokens against forged requests, and names
no origin that may read along. The layer before it does what its settings cannot: it checks the name of the machine and
the origin, and takes a cookie from a browser, which Prefect would ask for the key and keep that where scripts read it.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from contrapose.flows.serve.guard import HEADERS, HOST, Guard, GuardAnswer, GuardedRequest, basic

if TYPE_CHECKING:
    from fastapi import FastAPI

KEPT = "CONTRAPOSE_KEY_FILE"
"""Environment variable: the file that holds the server's key, where one does; a browser is told its name."""

OPEN = frozenset({"/api/health"})
"""What Prefect asks before it knows the key: whether the server is there."""

UI_SETTINGS = "/ui-settings"
"""Where Prefect's pages learn whether they must ask for the key."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def settings(key: str, port: int) -> dict[str, str]:
    """Environment of a Prefect server on a port of this machine, and of whatever speaks to it."""
    return {
        "PREFECT_API_AUTH_STRING": key,
        "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "true",
        "PREFECT_SERVER_API_AUTH_STRING": key,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://{HOST}:{port}",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }


def serve(port: int, *, log_level: str) -> None:
    """Serve Prefect on loopback until a signal ends it; its settings are in the environment."""
    import uvicorn
    from prefect.settings import get_current_settings

    api = get_current_settings().server.api
    uvicorn.run(
        f"{__name__}:create",
        factory=True,
        host=HOST,
        port=port,
        lifespan="on",
        log_level=log_level,
        # Nobody stands between: what such a header says is what a page made up.
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=api.keepalive_timeout,
        ws_ping_interval=api.websocket_ping_interval,
        ws_ping_timeout=api.websocket_ping_timeout,
    )


def create() -> App:
    """Prefect's server behind the guard.

    Raises:
        RuntimeError: no key is set, and everybody would be answered.
    """
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    api = get_current_settings().server.api
    key = api.auth_string.get_secret_value() if api.auth_string else ""
    if not key:
        raise RuntimeError("a server without PREFECT_SERVER_API_AUTH_STRING would answer everybody")
    _let_actions_in(key)
    guard = Guard(key=key, port=api.port, kept=os.environ.get(KEPT, ""), open_paths=OPEN)
    app: FastAPI = create_app(final=True)
    return guarded(app, guard)


def guarded(app: App, guard: Guard) -> App:
    """An ASGI application that answers only what its guard lets in."""

    async def layer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _http(app, guard, scope, receive, send)
        elif scope["type"] != "websocket":
            await app(scope, receive, send)
        elif guard.misplaced(_asked(scope)):
            await send({"type": "websocket.close", "code": 1008})
        else:
            # Its first message brings the key, and Prefect looks at it.
            await app(scope, receive, send)

    return layer


async def _http(app: App, guard: Guard, scope: Message, receive: Receive, send: Send) -> None:
    async def sealed(message: Message) -> None:
        """Every answer carries the headers that keep other pages away."""
        if message["type"] == "http.response.start":
            ours = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}
            theirs = [(name, value) for name, value in message["headers"] if name.lower() not in ours]
            message = {**message, "headers": [*theirs, *ours.items()]}
        await send(message)

    if (answer := guard.answer(_asked(scope))) is not None:
        return await _answered(answer, sealed)
    # Who was let in by a cookie brings the key from here on.
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    admitted = {**scope, "headers": [*headers, (b"authorization", basic(guard.key).encode())]}
    with _without_login() if scope["path"] == UI_SETTINGS else nullcontext():
        await app(admitted, receive, sealed)
    return None


def _asked(scope: Message) -> GuardedRequest:
    query = scope["query_string"].decode("latin-1")
    return GuardedRequest(
        method=scope.get("method", "GET"),
        target=scope["raw_path"].decode("latin-1") + (f"?{query}" if query else ""),
        headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        port=scope["server"][1],
    )


async def _answered(answer: GuardAnswer, send: Send) -> None:
    headers = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **dict(answer.headers)}
    sent = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": sent})
    await send({"type": "http.response.body", "body": answer.text.encode()})


def _without_login() -> Any:
    """Prefect's pages are told that no key is asked for: whoever sees them has been let in."""
    from prefect.settings import PREFECT_SERVER_API_AUTH_STRING, temporary_settings

    return temporary_settings({PREFECT_SERVER_API_AUTH_STRING: None})


def _let_actions_in(key: str) -> None:
    """Let the server's own automations pause and resume one another.

    Prefect's client for these actions brings neither the key nor a token, so that its own server refuses it.
    """
    from prefect.server.events import actions
    from prefect.server.events.clients import PrefectServerEventsAPIClient

    class Admitted(PrefectServerEventsAPIClient):
        """The same, with both."""

        def __init__(self, additional_headers: dict[str, str] | None = None) -> None:
            super().__init__({**(additional_headers or {}), "Authorization": basic(key)})
            self._http_client.enable_csrf_support = True

    actions.PrefectServerEventsAPIClient = Admitted  # type: ignore[attr-defined]

"""Guard of every local server: its rules decide which requests are answered.

A server on loopback is reached by every page that a browser shows. Such a page sends requests to it, and under a name
of its own for the address (DNS rebinding) it reads the replies too. So a request must name this machine, must not come
from another page, and must bring what was made when the server started: the key, or the cookie that a browser is
given once for the ticket in the printed address.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""Names of this machine in a browser."""

USER = "contrapose"
TICKET = "ticket"
"""Parameter of the address that is printed."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of every answer of every server: nobody frames it, embeds it, or learns its address."""

CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Policy of what is not meant to run or to load anything."""

SANDBOX = "sandbox allow-scripts allow-downloads"
"""Addition to a policy for the page of a run, which may be anybody's: its scripts run in an origin of their own."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
"""An ASGI application."""

ATTRIBUTES = "Path=/; HttpOnly; SameSite=Lax"
"""No script reads the cookie, and no request that another site causes brings it, but for one that goes to a page.

The page of a run has an origin of its own, as if it were another site: its links, and reloading it, lead nowhere with
`Strict`. Whoever goes to a page sees it; the page that led there does not.
"""

ELSEWHERE = "This server answers under its own address only.\n"
FOREIGN = "This server answers its own pages only.\n"
UNKNOWN = (
    "This server answers the browser that opened the address which contrapose printed. Open that one; it works once.\n"
)
KEPT = "For another browser, name and password stand in {}, with a colon between them.\n"


def make_login_key() -> str:
    """Make a login key that nobody can guess: a name and 256 random bits."""
    return f"{USER}:{secrets.token_urlsafe(32)}"


def encode_key(key: str) -> str:
    """Return the `Authorization` header for a key."""
    return f"Basic {b64encode(key.encode()).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardAnswer:
    """The reply to a request that the guard does not let in."""

    status: int
    text: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The rules for one server, or for several servers that share a key."""

    key: str
    """The authentication string."""
    port: int
    """Names the cookie, which browsers send to every port: two servers must not replace each other's."""
    kept: str = ""
    """File that holds the key, for people; empty where none does."""
    open_paths: frozenset[str] = frozenset()
    """Paths that are answered without a key: they show no secret."""
    _ticket: Lock = field(default_factory=Lock)
    """Taken when the ticket has been used."""

    def link(self, path: str = "/") -> str:
        """Return a path with the ticket: the first browser that opens it gets the cookie."""
        return f"{path}?{TICKET}={self._derive('ticket')}"

    def answer(self, scope: Message) -> GuardAnswer | None:
        """Return the guard's answer to an ASGI request; None if the request is let in."""
        if refused := self.refuse_misplaced(scope):
            return refused
        path, query = (scope[name].decode("latin-1") for name in ("raw_path", "query_string"))
        cookie, cookies = f"{USER}-{self.port}={self._derive('cookie')}", ";".join(get_header(scope, "cookie"))
        has_cookie = _is_in(cookie, [part.strip() for part in cookies.split(";")])
        ticket = parse_qs(query).get(TICKET, [None])[0]
        if ticket is not None and scope["method"] == "GET":
            valid = hmac.compare_digest(ticket.encode(), self._derive("ticket").encode())
            if has_cookie or (valid and self._ticket.acquire(blocking=False)):
                # Never the address of another machine, as "//name" would be.
                page = "/" + path.lstrip("/\\")
                return GuardAnswer(status=303, headers=(("Location", page), ("Set-Cookie", f"{cookie}; {ATTRIBUTES}")))
        elif has_cookie or path in self.open_paths or _is_in(encode_key(self.key), get_header(scope, "authorization")):
            return None
        asks = (("WWW-Authenticate", f'Basic realm="{USER}"'),) if self.kept and _is_navigation(scope) else ()
        return GuardAnswer(status=401, text=UNKNOWN + (KEPT.format(self.kept) if self.kept else ""), headers=asks)

    def refuse_misplaced(self, scope: Message) -> GuardAnswer | None:
        """Refuse a request that names another machine, or comes from another page, even if it has the key."""
        host, port = get_header(scope, "host"), scope["server"][1]
        # Browsers leave port 80 out.
        known = [f"{name}:{port}" for name in NAMES] + ([*NAMES] if port == 80 else [])
        if host not in [[name] for name in known]:
            return GuardAnswer(status=404, text=ELSEWHERE)
        own_page = get_header(scope, "sec-fetch-site") in ([], ["same-origin"], ["none"]) or _is_navigation(scope)
        if get_header(scope, "origin") not in ([], [f"http://{host[0]}"]) or not own_page:
            return GuardAnswer(status=403, text=FOREIGN)
        return None

    def _derive(self, purpose: str) -> str:
        """Derive from the key a text that does not reveal it."""
        return hmac.new(self.key.encode(), purpose.encode(), sha256).hexdigest()


def get_header(scope: Message, name: str) -> list[str]:
    """Return all values of a header of an ASGI request; give the name in lower case."""
    return [value.decode("latin-1") for header, value in scope["headers"] if header.decode("latin-1").lower() == name]


def _is_navigation(scope: Message) -> bool:
    """Return True if a person opens a page, as by a link: then the reply is shown, and no other page reads it."""
    shown = get_header(scope, "sec-fetch-mode"), get_header(scope, "sec-fetch-dest")
    return shown == (["navigate"], ["document"]) and scope.get("method", "GET") in ("GET", "HEAD")


def _is_in(secret: str, values: Sequence[str]) -> bool:
    """Return True if the secret is one of the values; compare in constant time."""
    return any(hmac.compare_digest(secret.encode(), value.encode()) for value in values)


def guard_app(app: App, guard: Guard) -> App:
    """Return an ASGI application that answers requests that its guard lets in; a websocket checks the key itself."""

    async def layer(scope: Message, receive: Receive, send: Send) -> None:
        # Imported here: every command looks for a key, and few of them serve anything.
        from starlette.datastructures import MutableHeaders
        from starlette.responses import PlainTextResponse

        async def seal(message: Message) -> None:
            """Send a message with the headers that keep other pages from reading it."""
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if SANDBOX in headers.get("content-security-policy", ""):
                    # By the standard of HTML, browsers refuse a page with both.
                    del headers["Cross-Origin-Opener-Policy"]
            await send(message)

        if scope["type"] == "websocket" and guard.refuse_misplaced(scope):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await app(scope, receive, send)
        elif (answer := guard.answer(scope)) is not None:
            headers = {"Cache-Control": "no-store", "Content-Security-Policy": CLOSED, **dict(answer.headers)}
            await PlainTextResponse(answer.text, answer.status, headers)(scope, receive, seal)
        else:
            # A browser that was let in by a cookie brings the key from here on.
            kept = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
            own = {**scope, "headers": [*kept, (b"authorization", encode_key(guard.key).encode())]}
            await app(own, receive, seal)

    return layer

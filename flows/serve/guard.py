"""Who may ask a server on this machine: one set of rules for all that a command starts.

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
"""How a browser may name this machine."""

USUAL_PORT = 80
"""The port that browsers leave out."""

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
"""Of every answer of every server: nobody frames it, embeds it, or learns its address."""

CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Policy of what is not meant to run or to load anything."""

SANDBOX = "sandbox allow-scripts allow-downloads"
"""What a policy adds for the page of a run, which may be anybody's: its scripts run in an origin of their own."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
"""An ASGI application."""

ELSEWHERE = "This server answers under its own address only.\n"
FOREIGN = "This server answers its own pages only.\n"
UNKNOWN = (
    "This server answers the browser that opened the address which contrapose printed. Open that one; it works once.\n"
)
KEPT = "For another browser, name and password stand in {}, with a colon between them.\n"


def new_key() -> str:
    """An authentication string that nobody can guess: a name and 256 random bits, as Prefect and browsers take it."""
    return f"{USER}:{secrets.token_urlsafe(32)}"


def basic(key: str) -> str:
    """The `Authorization` header that brings a key."""
    return f"Basic {b64encode(key.encode()).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedRequest:
    """What the rules look at in a request."""

    method: str
    """In capital letters."""
    target: str
    """Path and query, as they were sent."""
    headers: Sequence[tuple[str, str]]
    """Names, in whatever letters, and values."""
    port: int
    """Port on which it came."""

    def values(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for header, value in self.headers if header.lower() == name]

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def ticket(self) -> str | None:
        """What the address says to have been printed."""
        return parse_qs(self.target.partition("?")[2]).get(TICKET, [None])[0]

    @property
    def navigates(self) -> bool:
        """Whether somebody goes to a page with it, as by a link: the reply is shown, and no other page reads it."""
        shown = self.values("sec-fetch-mode") == ["navigate"] and self.values("sec-fetch-dest") == ["document"]
        return shown and self.method in ("GET", "HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardAnswer:
    """What is answered in place of what was asked for."""

    status: int
    text: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The rules, for one server or for several that share a key."""

    key: str
    """The authentication string."""
    port: int
    """Names the cookie, which browsers send to every port: two servers must not replace each other's."""
    kept: str = ""
    """File that holds the key, for people; empty where none does."""
    open_paths: frozenset[str] = frozenset()
    """Paths that are answered without a key: what they tell is no secret."""
    _ticket: Lock = field(default_factory=Lock)
    """Taken when the ticket has been used."""

    def link(self, path: str = "/") -> str:
        """A path with the ticket: who opens it first is given the cookie."""
        return f"{path}?{TICKET}={self._derived('ticket')}"

    def answer(self, asked: GuardedRequest) -> GuardAnswer | None:
        """What is answered in place of what was asked for; None where that may be had."""
        if refused := self.misplaced(asked):
            return refused
        if asked.ticket is not None and asked.method == "GET":
            return self._entered(asked)
        if asked.path in self.open_paths or self._brings_key(asked) or self._brings_cookie(asked):
            return None
        return self._unknown(asked)

    def misplaced(self, asked: GuardedRequest) -> GuardAnswer | None:
        """The refusal of what names another machine, or comes from another page, whatever it brings."""
        host = asked.values("host")
        known = [f"{name}:{asked.port}" for name in NAMES] + ([*NAMES] if asked.port == USUAL_PORT else [])
        if host not in [[name] for name in known]:
            return GuardAnswer(status=404, text=ELSEWHERE)
        if asked.values("origin") not in ([], [f"http://{host[0]}"]):
            return GuardAnswer(status=403, text=FOREIGN)
        if asked.values("sec-fetch-site") not in ([], ["same-origin"], ["none"]) and not asked.navigates:
            return GuardAnswer(status=403, text=FOREIGN)
        return None

    def _entered(self, asked: GuardedRequest) -> GuardAnswer:
        """The cookie for the ticket, and the way to the page itself."""
        valid = hmac.compare_digest((asked.ticket or "").encode(), self._derived("ticket").encode())
        if not self._brings_cookie(asked) and not (valid and self._ticket.acquire(blocking=False)):
            return self._unknown(asked)
        # Never the address of another machine, as "//name" would be.
        page = "/" + asked.path.lstrip("/\\")
        return GuardAnswer(status=303, headers=(("Location", page), ("Set-Cookie", f"{self._cookie}; {ATTRIBUTES}")))

    def _unknown(self, asked: GuardedRequest) -> GuardAnswer:
        asks = (("WWW-Authenticate", f'Basic realm="{USER}"'),) if self.kept and asked.navigates else ()
        return GuardAnswer(status=401, text=UNKNOWN + (KEPT.format(self.kept) if self.kept else ""), headers=asks)

    def _brings_key(self, asked: GuardedRequest) -> bool:
        return _among(basic(self.key), asked.values("authorization"))

    def _brings_cookie(self, asked: GuardedRequest) -> bool:
        return _among(self._cookie, [part.strip() for header in asked.values("cookie") for part in header.split(";")])

    @property
    def _cookie(self) -> str:
        return f"{USER}-{self.port}={self._derived('cookie')}"

    def _derived(self, purpose: str) -> str:
        """What stands for the key, and does not tell it."""
        return hmac.new(self.key.encode(), purpose.encode(), sha256).hexdigest()


ATTRIBUTES = "Path=/; HttpOnly; SameSite=Lax"
"""No script reads the cookie, and no request that another site causes brings it, but for one that goes to a page.

The page of a run has an origin of its own, as if it were another site: its links, and reloading it, lead nowhere with
`Strict`. Whoever goes to a page sees it; the page that led there does not.
"""


def _among(secret: str, values: Sequence[str]) -> bool:
    """Whether a secret is there; the time that a value takes does not tell how much of it was right."""
    return any(hmac.compare_digest(secret.encode(), value.encode()) for value in values)


def guarded(app: App, guard: Guard) -> App:
    """An ASGI application that answers only what its guard lets in; a websocket it asks for the key itself."""

    async def layer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _http(app, guard, scope, receive, send)
        elif scope["type"] != "websocket":
            await app(scope, receive, send)
        elif guard.misplaced(request_in(scope)):
            await send({"type": "websocket.close", "code": 1008})
        else:
            await app(scope, receive, send)

    return layer


async def _http(app: App, guard: Guard, scope: Message, receive: Receive, send: Send) -> None:
    # Imported here: every command looks for a key, and few of them serve anything.
    from starlette.datastructures import MutableHeaders
    from starlette.responses import PlainTextResponse

    async def sealed(message: Message) -> None:
        """Every answer carries the headers that keep other pages away."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            if SANDBOX in headers.get("content-security-policy", ""):
                # By the standard of HTML, browsers refuse a page with both.
                del headers["Cross-Origin-Opener-Policy"]
        await send(message)

    if (answer := guard.answer(request_in(scope))) is not None:
        of_answer = {"Cache-Control": "no-store", "Content-Security-Policy": CLOSED, **dict(answer.headers)}
        await PlainTextResponse(answer.text, answer.status, of_answer)(scope, receive, sealed)
        return
    # Who was let in by a cookie brings the key from here on.
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    await app({**scope, "headers": [*headers, (b"authorization", basic(guard.key).encode())]}, receive, sealed)


def request_in(scope: Message) -> GuardedRequest:
    """What the rules look at, in the scope of an ASGI request."""
    query = scope["query_string"].decode("latin-1")
    return GuardedRequest(
        method=scope.get("method", "GET"),
        target=scope["raw_path"].decode("latin-1") + (f"?{query}" if query else ""),
        headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        port=scope["server"][1],
    )

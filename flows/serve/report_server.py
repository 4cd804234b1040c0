"""Server of pages over HTTP on loopback, for `contrapose ui` and `contrapose view`."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, PlainTextResponse, Response

from contrapose.flows.serve.guard import (
    CLOSED,
    HOST,
    SANDBOX,
    Guard,
    Message,
    Receive,
    Send,
    guard_app,
    make_login_key,
)
from contrapose.tasks.core.errors import ConfigError

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

ENCLOSED = f"{CLOSED}; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; {SANDBOX}"
"""Policy of the page of a run: it may save pictures, and reaches neither this server nor another one, opens no window
and sends no form."""

SERVED = re.compile(r"/([\w.-]{1,200})/(report\.html|validation\.html)")
"""A run and a page of it; raw answers are not served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReply:
    """A reply to a browser: content, type and status."""

    content: bytes | Path
    """The body, or the file that holds it."""
    kind: str = HTML
    """Its content type."""
    policy: str = CLOSED
    """Content security policy."""
    download: bool = False
    """To be kept, not shown."""


Site = Callable[[str], PageReply | None]
"""From the path that was asked, as it was sent, to the reply; None where there is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedSite:
    """A site that is being served, with its address and guard."""

    url: str
    """Its address, without a path."""
    guard: Guard
    """The rules that let requests in."""

    def link(self, path: str = "/") -> str:
        """Return the address of a page with a ticket for the first browser that opens it."""
        return self.url + self.guard.link(path)


def _respond(site: Site, scope: Message) -> Response:
    """Return the page, or the reason why there is none; refuse everything except reading."""
    path, query = (scope[name].decode("latin-1") for name in ("raw_path", "query_string"))
    policy = CLOSED
    response: Response = PlainTextResponse("There is no such page.\n", 404)
    if scope["method"] not in ("GET", "HEAD"):
        response = PlainTextResponse("Pages are read here, nothing else.\n", 405, {"Allow": "GET, HEAD"})
    elif reply := site(f"{path}?{query}" if query else path):
        content, policy = reply.content, reply.policy
        headers = {"Content-Type": reply.kind, **({"Content-Disposition": "attachment"} if reply.download else {})}
        if isinstance(content, bytes):
            response = Response(content, headers=headers)
        elif content.is_file() and os.access(content, os.R_OK):
            response = FileResponse(content, headers=headers)
        else:
            policy = CLOSED
    response.headers.update({"Cache-Control": "no-store", "Content-Security-Policy": policy})
    return response


@contextmanager
def serve_site(site: Site, *, port: int = 0, guard: Guard | None = None) -> Iterator[ServedSite]:
    """Serve a site on loopback, on the port or any free one, until the end of the context.

    Without a guard, a new key is made. Raises ConfigError if the port cannot be used.
    """

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        response = await run_in_threadpool(_respond, site, scope)
        await response(scope, receive, send)

    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError):
        raise make_port_error(port) from None
    chosen = int(listening.getsockname()[1])
    chosen_guard = guard or Guard(key=make_login_key(), port=chosen)
    config = uvicorn.Config(
        guard_app(app, chosen_guard),
        lifespan="off",
        log_config=None,
        log_level="critical",
        # Nobody is in between: such a header is made up by a page.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield ServedSite(url=f"http://{HOST}:{chosen}", guard=chosen_guard)
    finally:
        server.should_exit = True
        thread.join()


def make_port_error(port: int | None, *, where: str = "--port") -> ConfigError:
    """Return the error that a port cannot be used."""
    return ConfigError(
        f"port {port} cannot be used",
        expected="a free port, 1 to 65535",
        remedy="Name another one, or none: a free one is found.",
        where=where,
    )


def make_report_site(folder: Path) -> Site:
    """Return a site with the reports of the runs in a folder."""

    def page(path: str) -> PageReply | None:
        match = SERVED.fullmatch(path)
        if match is None or ".." in match[1]:
            return None
        return PageReply(content=folder / match[1] / match[2], policy=ENCLOSED)

    return page

"""Pages over HTTP on loopback: the one server behind `contrapose ui` and `contrapose view`."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, PlainTextResponse, Response

from contrapose.flows.serve.guard import (
    CLOSED,
    HOST,
    SANDBOX,
    App,
    Guard,
    GuardedRequest,
    Message,
    Receive,
    Send,
    guarded,
    new_key,
    request_in,
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
    """What is sent to a browser."""

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


def application(site: Site) -> App:
    """The ASGI application that serves a site, to be read only."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        response = await run_in_threadpool(_response, site, request_in(scope))
        await response(scope, receive, send)

    return app


def _response(site: Site, asked: GuardedRequest) -> Response:
    """The page, or why there is none."""
    if asked.method not in ("GET", "HEAD"):
        return _sealed(PlainTextResponse("Pages are read here, nothing else.\n", 405, {"Allow": "GET, HEAD"}))
    reply = site(asked.target)
    if reply is None or (isinstance(reply.content, Path) and not _readable(reply.content)):
        return _sealed(PlainTextResponse("There is no such page.\n", 404))
    headers = {"Content-Type": reply.kind, **({"Content-Disposition": "attachment"} if reply.download else {})}
    if isinstance(reply.content, Path):
        return _sealed(FileResponse(reply.content, headers=headers), reply.policy)
    return _sealed(Response(reply.content, headers=headers), reply.policy)


def _sealed(response: Response, policy: str = CLOSED) -> Response:
    response.headers.update({"Cache-Control": "no-store", "Content-Security-Policy": policy})
    return response


def _readable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A site that is being served."""

    url: str
    """Its address, without a path."""
    guard: Guard
    """Who is let in."""

    def link(self, path: str = "/") -> str:
        """The address of a page that lets the first browser in which opens it."""
        return self.url + self.guard.link(path)


@contextmanager
def serving_site(site: Site, *, port: int = 0, guard: Guard | None = None) -> Iterator[Served]:
    """A site on loopback, until the end of the context.

    Args:
        site: what is served.
        port: on loopback; 0: any that is free.
        guard: who is let in; None: whoever has the link, or the new key.

    Raises:
        ConfigError: the port cannot be used.
    """
    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError):
        raise ConfigError(
            f"port {port} cannot be used",
            expected="a free port, 1 to 65535",
            remedy="Name another one, or none: a free one is found.",
            where="--port",
        ) from None
    chosen = int(listening.getsockname()[1])
    chosen_guard = guard or Guard(key=new_key(), port=chosen)
    config = uvicorn.Config(
        guarded(application(site), chosen_guard),
        lifespan="off",
        log_config=None,
        log_level="critical",
        # Nobody stands between: what such a header says is what a page made up.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield Served(url=f"http://{HOST}:{chosen}", guard=chosen_guard)
    finally:
        server.should_exit = True
        thread.join()


def reports(folder: Path) -> Site:
    """The reports of the runs in a folder."""
    return partial(report_page, folder)


def report_page(folder: Path, path: str) -> PageReply | None:
    """One page of one run."""
    match = SERVED.fullmatch(path)
    return (
        None if match is None or ".." in match[1] else PageReply(content=folder / match[1] / match[2], policy=ENCLOSED)
    )

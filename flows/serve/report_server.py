"""Pages over HTTP on loopback: the one server behind `contrapose ui` and `contrapose view`."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

from contrapose.flows.serve.guard import HEADERS, HOST, Guard, GuardAnswer, GuardedRequest, new_key
from contrapose.tasks.core.errors import ConfigError

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Policy of what is not meant to run or to load anything."""

ENCLOSED = f"{CLOSED}; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:"
"""Policy of a report: what it holds may run, and reaches nothing else. Its own policy in the page is stricter."""

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


class Handler(BaseHTTPRequestHandler):
    """Serves a site to whom its guard lets in."""

    server: Server
    server_version, sys_version = "contrapose", ""
    timeout = 60

    def __init__(self, *args: Any, site: Site, **kwargs: Any) -> None:
        self.site, self.policy = site, CLOSED
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        """The page, or 404; whoever is not let in is told so."""
        asked = GuardedRequest(
            method=self.command, target=self.path, headers=self.headers.items(), port=self.server.server_address[1]
        )
        if (answer := self.server.guard.answer(asked)) is not None:
            return self._send_answer(answer)
        if (found := self.site(self.path)) is None:
            return self.send_error(404)
        try:
            body = BytesIO(found.content) if isinstance(found.content, bytes) else found.content.open("rb")
        except OSError:
            return self.send_error(404)
        with body:
            size = body.seek(0, 2)
            body.seek(0)
            self._send_head(found, size)
            if self.command != "HEAD":
                shutil.copyfileobj(body, self.wfile)
        return None

    do_HEAD = do_GET  # noqa: N815 (the name that http.server calls)

    def _send_head(self, found: PageReply, size: int) -> None:
        self.policy = found.policy
        self.send_response(200)
        self.send_header("Content-Type", found.kind)
        self.send_header("Content-Length", str(size))
        if found.download:
            self.send_header("Content-Disposition", "attachment")
        self.end_headers()

    def _send_answer(self, answer: GuardAnswer) -> None:
        text = answer.text.encode()
        self.send_response(answer.status)
        for name, value in (("Content-Type", TEXT), ("Content-Length", str(len(text))), *answer.headers):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def end_headers(self) -> None:
        """Errors, too, are sent with every header."""
        for name, value in {**HEADERS, "Cache-Control": "no-store", "Content-Security-Policy": self.policy}.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Says nothing about browsers that go away."""

    guard: Guard
    """Set before the first request is read."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is nobody's mistake."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


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
        server = Server((HOST, port), partial(Handler, site=site))
    except (OSError, OverflowError):
        raise ConfigError(
            f"port {port} cannot be used",
            expected="a free port, 1 to 65535",
            remedy="Name another one, or none: a free one is found.",
            where="--port",
        ) from None
    chosen = int(server.server_address[1])
    server.guard = guard or Guard(key=new_key(), port=chosen)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Served(url=f"http://{HOST}:{chosen}", guard=server.guard)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def reports(folder: Path) -> Site:
    """The reports of the runs in a folder."""
    return partial(report_page, folder)


def report_page(folder: Path, path: str) -> PageReply | None:
    """One page of one run."""
    found = SERVED.fullmatch(path)
    return (
        None if found is None or ".." in found[1] else PageReply(content=folder / found[1] / found[2], policy=ENCLOSED)
    )

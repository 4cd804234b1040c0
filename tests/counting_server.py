"""A server on loopback that counts every request, whatever its path, and keeps the headers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Counting:
    """Where it listens, and what it was asked."""

    port: int = 0
    redirects_to: str = ""
    """The address that every answer points to; empty: none does."""
    only_methods: tuple[str, ...] = ("GET", "POST")
    """Which requests are redirected."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request."""
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """As `base_url` takes it."""
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def counting(*, redirects_to: str = "", only_methods: tuple[str, ...] = ("GET", "POST")) -> Iterator[Counting]:
    """Start it on a free port; stop it at the end."""
    seen = Counting(redirects_to=redirects_to, only_methods=only_methods)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.asked.append((self.command, self.path))
            seen.headers.append({name.lower(): value for name, value in self.headers.items()})
            redirected = seen.redirects_to and self.command in seen.only_methods
            self.send_response(307 if redirected else 200)
            if redirected:
                self.send_header("Location", seen.redirects_to)
            body = b'{"data": [], "object": "list", "choices": [{"message": {"content": "A"}}]}'
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    seen.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)

"""A receiver of webhooks on loopback, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """Where it listens, and what it was sent."""

    statuses: list[int]
    """Of its answers, in order; 200 after the last."""
    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)


@contextmanager
def receiving(statuses: Sequence[int] = (), *, location: str = "") -> Iterator[Receiver]:
    """Start it on a free port; stop it at the end.

    Args:
        statuses: of its answers.
        location: where it sends those on whom it redirects.
    """
    receiver = Receiver(statuses=list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            receiver.headers.append(dict(self.headers))
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
            self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)

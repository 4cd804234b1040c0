"""A server on loopback, in a thread, whose every answer a test gives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Asked(BaseHTTPRequestHandler):
    """A request, whatever its method; it is read by its attributes and answered with `reply`."""

    answer: Callable[[Asked], None]

    def do_GET(self) -> None:
        type(self).answer(self)

    do_HEAD = do_POST = do_PATCH = do_PUT = do_GET  # noqa: N815

    def read(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, body: bytes = b"", *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def answering(answer: Callable[[Asked], None]) -> Iterator[str]:
    """Start it on a free port and give its address; stop it at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Asked,), {"answer": answer}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)

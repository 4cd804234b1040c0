"""The reports of finished runs over HTTP on loopback, so that the Prefect UI can link to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

HOST = "127.0.0.1"
SERVED = re.compile(r"/([\w.-]{1,200})/(report\.html|validation\.html)")
"""A run and a page of it; raw answers are not served."""


class Reports(BaseHTTPRequestHandler):
    """Serves one page of one run, to a browser that asked this very address."""

    def __init__(self, *args: Any, folder: Path, **kwargs: Any) -> None:
        self.folder = folder
        super().__init__(*args, **kwargs)

    @property
    def own_name(self) -> str:
        """Host and port, as a browser names them."""
        return f"{HOST}:{self.connection.getsockname()[1]}"

    def do_GET(self) -> None:
        """The page, or 404."""
        found = SERVED.fullmatch(self.path)
        # Another name for this address would let a foreign page read along.
        if found is None or ".." in found[1] or self.headers.get("Host") != self.own_name:
            return self.send_error(404)
        try:
            content = self.folder.joinpath(found[1], found[2]).read_bytes()
        except OSError:
            return self.send_error(404)
        self.send_response(200)
        for name, value in (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)
        return None

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The URL under which the runs in a folder can be read, until the end of the context."""
    server = ThreadingHTTPServer((HOST, 0), partial(Reports, folder=folder))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

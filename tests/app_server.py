"""An application behind an address on loopback, which repeats what it is asked and fails when told to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class AppServer:
    """How it behaves, and what it saw."""

    port: int = 0
    faults: dict[int, int] = field(default_factory=dict)
    """Status of the request with this number, from 0 on."""
    bodies: list[Any] = field(default_factory=list)
    """What it was sent: JSON, or a query."""
    headers: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/ask"

    async def ask(self, request: web.Request) -> web.Response:
        """Reply in several places of the JSON."""
        number = len(self.bodies)
        body = dict(request.query) if request.method == "GET" else await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if number in self.faults:
            text = f"no, said with {request.headers.get('Authorization')}"
            return web.Response(status=self.faults[number], text=text, headers={"Location": "http://localhost/"})
        said = f"Said: {next(body[name] for name in ('question', 'prompt', 'q') if name in body)}"
        return web.json_response({"reply": said, "answers": [{"text": said}]})


@contextmanager
def app_serving() -> Iterator[AppServer]:
    """Start it on a free port, in a thread; stop it at the end."""
    serving, loop, ready = AppServer(), asyncio.new_event_loop(), threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/ask", serving.ask)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        serving.port = runner.addresses[0][1]
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield serving
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)

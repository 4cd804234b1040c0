"""An application behind an address on loopback, which repeats what it is asked and fails when told to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from fake_endpoint import Endpoint


@dataclass
class AppServer(Endpoint):
    """How it behaves besides, and what it saw."""

    statuses: dict[int, int] = field(default_factory=dict)
    """Of the request with this number, from 0 on."""
    sent: list[Mapping[str, str]] = field(default_factory=list)
    """Headers of the requests."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/ask"

    @property
    def further_routes(self) -> list[web.RouteDef]:
        return [web.route("*", "/ask", self.ask)]

    async def ask(self, request: web.Request) -> web.Response:
        """Reply in several places of the JSON."""
        number = len(self.bodies)
        body: dict[str, Any] = dict(request.query) if request.method == "GET" else await request.json()
        self.bodies.append(body)
        self.sent.append(dict(request.headers))
        if number in self.statuses:
            text = f"no, said with {request.headers.get('Authorization')}"
            return web.Response(status=self.statuses[number], text=text, headers={"Location": "http://localhost/"})
        said = f"Said: {next(body[name] for name in ('question', 'prompt', 'q') if name in body)}"
        return web.json_response({"reply": said, "answers": [{"text": said}]})

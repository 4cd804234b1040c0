"""A small OpenAI-compatible server on loopback, in a thread, that counts what it is asked."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

LETTERS = ["A", "B", "Answer: A", "The answer is B.", "(A)", "**B**", "Both", "I cannot tell."]


@dataclass
class Endpoint:
    """Where it listens, how it behaves, and what it saw."""

    port: int = 0
    fail: bool = False
    """Answer every request with status 500."""
    garble: bool = False
    """Answer every request with broken JSON."""
    header: str = ""
    """The last Authorization header; a failing server repeats it."""
    asked: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, object]] = field(default_factory=list)

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.header = request.headers.get("Authorization", "")
        return self.answer(body, body["messages"][-1]["content"], "message")

    async def complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        return self.answer(body, body["prompt"], "text")

    def answer(self, body: dict[str, object], prompt: str, kind: str) -> web.Response:
        self.asked[prompt] += 1
        self.bodies.append(body)
        if self.fail:
            key = self.header
            return web.json_response({"error": {"message": f"fell over with {key}"}}, status=500)
        if self.garble:
            return web.Response(body=b'{"id": "x", "choi', content_type="application/json")
        text = LETTERS[hashlib.sha256(prompt.encode()).digest()[0] % len(LETTERS)]
        choice = {"index": 0, "finish_reason": "stop"}
        choice |= {"message": {"role": "assistant", "content": text}} if kind == "message" else {"text": text}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        named = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
        return web.json_response({**named, "choices": [choice], "usage": usage})


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Start it on a free port; stop it at the end."""
    endpoint, loop, ready = Endpoint(), asyncio.new_event_loop(), threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", endpoint.chat)
        app.router.add_post("/v1/completions", endpoint.complete)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        endpoint.port = runner.addresses[0][1]
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
        yield endpoint
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)

"""A small OpenAI-compatible server on loopback, in a thread, that counts what it is asked."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from aiohttp import web

FORMS = {
    "json_schema": lambda body: body["response_format"]["json_schema"]["schema"]["properties"]["answer"]["enum"],
    "structured_outputs": lambda body: body["structured_outputs"]["choice"],
    "guided_choice": lambda body: body["guided_choice"],
}
"""Where the labels stand in a request that wants one of them, by the form."""

LETTERS = ["A", "B", "Answer: A", "The answer is B.", "(A)", "**B**", "Both", "I cannot tell."]


@dataclass
class Request:
    """A request as the server saw it."""

    prompt: str
    came: float
    """By `time.monotonic()`."""
    left: float = math.inf
    """When its reply left; infinite as long as it has not."""


@dataclass
class Endpoint:
    """Where it listens, how it behaves, and what it saw."""

    port: int = 0
    faults: dict[int, str] = field(default_factory=dict)
    """What befalls the request with this number, from 0 on: a key of FAULTS, or `status <code>`."""
    always: str = ""
    """What befalls every request that `faults` leaves alone."""
    error: dict[str, object] = field(default_factory=dict)
    """Further fields of the error in replies with an error status."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of replies with an error status."""
    logprobs: dict[str, float] | None = None
    """Log-probabilities of the first tokens, for those who ask for them."""
    lists: Callable[[str], dict[str, float]] | None = None
    """The same by the prompt; None: those of `logprobs` for all."""
    window: int = 10**9
    """Characters of a prompt above which it refuses one as too long."""
    most_listed: int = 20
    """Status 400 above as many log-probabilities."""
    takes: tuple[str, ...] = ()
    """Forms by which its replies can be held to labels; others are ignored."""
    refuses: tuple[str, ...] = ()
    """Forms that get status 400."""
    falls_over: tuple[str, ...] = ()
    """Forms that get status 500."""
    schema_reply: str = ""
    """What is replied to a schema instead of the label as JSON."""
    reply_text: str = ""
    """What is replied to a plain prompt, if it is always the same."""
    refusal: str = ""
    """What the model declines with, in the field that schemas have for it."""
    says: Callable[[str], str] | None = None
    """What it replies to a prompt; None: something drawn by its hash."""
    finish: str = "stop"
    """Why it says that its replies ended."""
    compress: bool = False
    """Pack replies."""
    delay: float = 0.0
    """Seconds before every reply."""
    live: int = 0
    peak: int = 0
    """Most requests at a time."""
    header: str = ""
    """The last Authorization header; a failing server repeats it."""
    asked: Counter[str] = field(default_factory=Counter)
    requests: list[Request] = field(default_factory=list)
    """In the order in which they came."""
    bodies: list[dict[str, object]] = field(default_factory=list)

    @property
    def further_routes(self) -> list[web.RouteDef]:
        """Of servers that do more."""
        return []

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.header = request.headers.get("Authorization", "")
        if "messages" not in body:
            return web.json_response({"error": {"message": "messages is missing"}}, status=400)
        return await self.reply(request, body, body["messages"][-1]["content"], "message")

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.header = request.headers.get("Authorization", "")
        return await self.reply(request, body, body["prompt"], "text")

    async def reply(self, request: web.Request, body: dict[str, object], prompt: str, kind: str) -> web.StreamResponse:
        fault = self.faults.get(len(self.bodies), self.always)
        self.asked[prompt] += 1
        self.bodies.append(body)
        seen = Request(prompt=prompt, came=time.monotonic())
        self.requests.append(seen)
        self.live += 1
        self.peak = max(self.peak, self.live)
        try:
            await asyncio.sleep(self.delay)
            seen.left = time.monotonic()
            return await self.fault(request, fault) if fault else self.answer(body, prompt, kind)
        finally:
            self.live -= 1

    async def fault(self, request: web.Request, fault: str) -> web.StreamResponse:
        """A server that misbehaves."""
        if fault == "garbled":
            return web.Response(body=b'{"id": "x", "choi', content_type="application/json")
        if fault == "page":
            return web.Response(text="<h1>Not Found</h1>", content_type="text/html", status=404)
        if fault in ("hang", "half"):
            stream = web.StreamResponse()
            if fault == "half":
                await stream.prepare(request)
                await stream.write(b'{"choices": ')
            await asyncio.sleep(60)
            return stream
        if fault == "drop":
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        error = {"message": f"fell over with {self.header}", **self.error}
        return web.json_response({"error": error}, status=int(fault.removeprefix("status ")), headers=self.headers)

    def answer(self, body: dict[str, object], prompt: str, kind: str) -> web.Response:
        """A server that behaves."""
        if len(prompt) > self.window:
            message = "This model's maximum context length is 64 tokens. Please reduce the length of the messages."
            return web.json_response({"error": {"message": message, "code": "context_length_exceeded"}}, status=400)
        listed = max(int(str(body.get("top_logprobs", 0))), int(body.get("logprobs", 0)))  # type: ignore[call-overload]
        if listed > self.most_listed:
            return web.json_response({"error": {"message": f"logprobs: at most {self.most_listed}"}}, status=400)
        for status, forms in ((400, self.refuses), (500, self.falls_over)):
            if form_in(body) in forms:
                return web.json_response({"error": {"message": "Unrecognized request argument"}}, status=status)
        text = self.text(body, prompt) if self.says is None else self.says(prompt)
        choice: dict[str, object] = {"index": 0, "finish_reason": self.finish}
        choice |= {"message": {"role": "assistant", "content": text}} if kind == "message" else {"text": text}
        if self.refusal and form_in(body) in self.takes:
            choice["message"] = {"role": "assistant", "content": None, "refusal": self.refusal}
        logprobs = self.lists(prompt) if self.lists else self.logprobs
        if listed and logprobs:
            top = [{"token": token, "logprob": value} for token, value in logprobs.items()]
            chat = {"content": [{**top[0], "top_logprobs": top}]}
            choice |= {"logprobs": chat if kind == "message" else {"top_logprobs": [logprobs]}}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        named = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
        response = web.json_response({**named, "choices": [choice], "usage": usage})
        if self.compress:
            response.enable_compression()
        return response

    def text(self, body: dict[str, object], prompt: str) -> str:
        """What it replies: a label where the request has a form that it takes."""
        number, form = hashlib.sha256(prompt.encode()).digest()[0], form_in(body)
        if form not in self.takes:
            return self.reply_text or LETTERS[number % len(LETTERS)]
        labels = FORMS[form](body)
        label = str(labels[number % len(labels)])
        return (self.schema_reply or json.dumps({"answer": label})) if form == "json_schema" else label


def form_in(body: dict[str, object]) -> str:
    """The form of a request; `plain` where it has none."""
    names = {"response_format": "json_schema", "structured_outputs": "structured_outputs"}
    return next((name for field, name in {**names, "guided_choice": "guided_choice"}.items() if field in body), "plain")


@contextmanager
def serving(endpoint: Endpoint | None = None) -> Iterator[Endpoint]:
    """Start it on a free port; stop it at the end."""
    with serving_this(endpoint or Endpoint()) as started:
        yield started


Served = TypeVar("Served", bound=Endpoint)


@contextmanager
def serving_this(endpoint: Served) -> Iterator[Served]:
    """The same for a server that does more."""
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", endpoint.chat)
        app.router.add_post("/v1/completions", endpoint.complete)
        app.router.add_routes(endpoint.further_routes)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
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

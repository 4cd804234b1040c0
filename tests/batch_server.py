"""A server with OpenAI's Batch API on loopback, which answers each line as the endpoint beneath answers a request."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from typing import Any

from aiohttp import web
from fake_endpoint import Endpoint


def asked_in(body: dict[str, Any]) -> str:
    """The prompt of a request."""
    return str(body["messages"][-1]["content"] if "messages" in body else body["prompt"])


@dataclass
class BatchServer(Endpoint):
    """Files and batches, and what befalls them."""

    failing: float = 0.0
    """Share of the lines that come back as errors, by the hash of the prompt and of how often it was asked."""
    looks: int = 0
    """How often a batch is still going on when it is looked at."""
    refuses_key: bool = False
    """Whether it takes no file, since it does not know the key."""
    breaks_off: bool = False
    """Make the next batch, and break off instead of saying so."""
    delay_made: float = 0.0
    """Seconds between making a batch and saying so."""
    ends_as: str = "completed"
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    """How often each custom_id was answered."""

    @property
    def further_routes(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/models", self._models),
            web.post("/v1/files", self._upload),
            web.get("/v1/files/{id}/content", self._content),
            web.post("/v1/batches", self._create),
            web.get("/v1/batches", self._list),
            web.get("/v1/batches/{id}", self._look),
            web.post("/v1/batches/{id}/cancel", self._cancel),
        ]

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})

    async def _upload(self, request: web.Request) -> web.Response:
        if self.refuses_key:
            return web.json_response({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, status=401)
        # By the standard library: aiohttp's own reader of forms warns of itself.
        head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
        parts = {
            str(part.get_param("name", header="Content-Disposition")): part
            for part in message_from_bytes(head + await request.read(), policy=HTTP).iter_parts()
        }
        assert parts["purpose"].get_payload() == "batch"
        name = f"file-{len(self.files)}"
        content = parts["file"].get_payload(decode=True)
        assert isinstance(content, bytes)
        self.files[name] = content
        return web.json_response({"id": name, "object": "file", "purpose": "batch", "filename": "batch.jsonl"})

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["id"]])

    async def _create(self, request: web.Request) -> web.StreamResponse:
        wanted = await request.json()
        name = f"batch_{len(self.batches)}"
        lines = [json.loads(line) for line in self.files[wanted["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {wanted["endpoint"]}
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "created_at": 0,
            "status": "in_progress",
            "looks": self.looks,
            **{key: wanted[key] for key in ("input_file_id", "endpoint", "completion_window", "metadata")},
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        await asyncio.sleep(self.delay_made)
        if self.breaks_off:
            self.breaks_off = False
            assert request.transport is not None
            request.transport.close()
        return web.json_response(self.batches[name])

    async def _list(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": list(self.batches.values()), "has_more": False})

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        batch["status"] = "cancelled"
        return web.json_response(batch)

    async def _look(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        if batch["status"] == "in_progress":
            batch["looks"] -= 1
            if batch["looks"] < 0:
                self._end(batch)
        return web.json_response(batch)

    def _end(self, batch: dict[str, Any]) -> None:
        batch["status"] = self.ends_as
        if self.ends_as == "failed":
            batch["errors"] = {"object": "list", "data": [{"code": "invalid", "message": "no such model"}]}
            return
        answered, failed = [], []
        for line in map(json.loads, self.files[batch["input_file_id"]].splitlines()):
            prompt, key = asked_in(line["body"]), line["custom_id"]
            self.paid[key] += 1
            drawn = hashlib.sha256(f"{prompt}{self.paid[key]}".encode()).digest()[0] / 256
            reply: dict[str, Any] = {"id": f"r-{key}", "custom_id": key, "error": None}
            if drawn < self.failing:
                error = {"error": {"message": "the server had an error"}}
                failed.append({**reply, "response": {"status_code": 500, "request_id": "q", "body": error}})
                continue
            kind = "message" if "messages" in line["body"] else "text"
            content = self.answer(line["body"], prompt, kind).body
            assert isinstance(content, bytes)
            answered.append({**reply, "response": {"status_code": 200, "request_id": "q", "body": json.loads(content)}})
        batch["request_counts"] |= {"completed": len(answered), "failed": len(failed)}
        for field_name, lines in (("output_file_id", answered), ("error_file_id", failed)):
            if lines:
                batch[field_name] = f"file-{len(self.files)}"
                # A batch comes back in any order.
                self.files[batch[field_name]] = b"".join(json.dumps(line).encode() + b"\n" for line in lines[::-1])

"""An OpenAI-compatible server on loopback, behind which a planted or a recorded judge answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web
from fake_endpoint import Endpoint
from planted_judges import right
from planted_model import PlantedModel

Constraint = Literal["obeyed", "refused", "ignored"]
"""What a server does that is told in which form to reply."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a reply is to have."""

    letters: Sequence[str]
    """One of these."""
    key: str | None = None
    """Under which it stands in a JSON object; None: the letter alone."""


@dataclass
class ReplayServer(Endpoint):
    """Says what a judge says; faults, delays and counts are those of any fake endpoint."""

    model: PlantedModel = field(default_factory=lambda: PlantedModel(right, {}))
    """Who answers."""
    constraint: Constraint = "refused"
    """Whether it holds the judge to a letter where that is asked for."""
    held: int = 0
    """Replies that were held to a letter."""

    def answer(self, body: dict[str, object], prompt: str, kind: str) -> web.Response:
        """The judge's reply, in the form that is asked for where the server obeys."""
        form = form_of(body)
        if form is not None and self.constraint == "refused":
            message = "response_format of this type is unavailable"
            return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)
        text = (
            self._held(prompt, form) if form is not None and self.constraint == "obeyed" else self.model.reply(prompt)
        )
        said = {"message": {"role": "assistant", "content": text}} if kind == "message" else {"text": text}
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split()) + 1}
        return web.json_response(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", **said}],
                "usage": {**usage, "total_tokens": sum(usage.values())},
            }
        )

    def _held(self, prompt: str, form: Form) -> str:
        self.held += 1
        letter = self.model.letter(prompt, form.letters)
        return letter if form.key is None else json.dumps({form.key: letter})


def form_of(body: Mapping[str, Any]) -> Form | None:
    """What a request wants of its reply, in OpenAI's or in vLLM's words; None where it leaves that open."""
    choices = body.get("guided_choice") or (body.get("structured_outputs") or {}).get("choice")
    if choices:
        return Form(choices)
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema") or {}
    listed = [(key, each["enum"]) for key, each in schema.get("properties", {}).items() if "enum" in each]
    return Form(listed[0][1], listed[0][0]) if listed else None

"""An endpoint that refuses parameters, in the words of a server of one's choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from fake_endpoint import Endpoint

Body = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is refused, and how."""

    when: Callable[[Body], bool]
    told: object
    status: int = 400


@dataclass
class Refusing(Endpoint):
    """An endpoint with rules of its own; what none of them refuses is answered."""

    rules: Sequence[Rule] = ()
    refused: list[Body] = field(default_factory=list)
    """The requests that were refused."""
    answered: list[Body] = field(default_factory=list)
    """The others."""

    def answer(self, body: Body, prompt: str, kind: str) -> web.Response:
        for rule in self.rules:
            if rule.when(body):
                self.refused.append(body)
                return web.json_response(rule.told, status=rule.status)
        self.answered.append(body)
        return super().answer(body, prompt, kind)


def having(name: str) -> Callable[[Body], bool]:
    return lambda body: name in body


def openai(message: str, *, param: str | None = None, code: str | None = None) -> dict[str, object]:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return {"error": error}


def unsupported(name: str, more: str = "") -> dict[str, object]:
    message = f"Unsupported parameter: '{name}' is not supported with this model.{more}"
    return openai(message, param=name, code="unsupported_parameter")


def extra_forbidden(name: str) -> dict[str, object]:
    return {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]}


NEWER = Rule(when=having("max_tokens"), told=unsupported("max_tokens", " Use 'max_completion_tokens' instead."))
"""What is said of the older name of the longest reply."""
GREEDY = Rule(
    when=lambda body: body.get("temperature", 1) != 1,
    told=openai(
        "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is.",
        param="temperature",
        code="unsupported_value",
    ),
)
NO_LOGPROBS = Rule(
    when=having("logprobs"), told=openai("You are not allowed to request logprobs from this model"), status=403
)

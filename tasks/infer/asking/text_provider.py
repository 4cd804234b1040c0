"""Base class of providers that give only replies: such a provider needs just one async `generate`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import ClassVar

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion, Likelihoods, Usage
from contrapose.tasks.infer.asking.asker import ONE_CALL, Transport
from contrapose.tasks.infer.asking.endpoint import AskingPace
from contrapose.tasks.infer.asking.outcomes import Failure, Reply, make_timeout_failure
from contrapose.tasks.infer.asking.pool import PooledModel
from contrapose.tasks.infer.base import PACE, read_pace, refuse_unknown

SHOWN = 300
"""Characters of an error that are shown."""
BYTES_PER_TOKEN = 2
TOKENS_PER_MESSAGE = 16


class TextProvider:
    """A provider of replies; budget, store, retries and rate limits are outside of it.

    A subclass has `generate`, and may change everything else: its arguments, price, identity and check.
    """

    cases_per_task: ClassVar[int] = 2000
    local: ClassVar[bool] = False
    knows_weights: ClassVar[bool] = False
    concurrency: ClassVar[int] = 4
    arguments: ClassVar[Mapping[str, Argument]] = {
        "revision": Argument(type="text", description="Version of the model; each version has its own cached answers."),
        **PACE,
    }

    async def generate(self, prompt: str, spec: ModelSpec) -> str | Completion | Failure:
        """Return the reply to a prompt.

        `spec.name` is the model, `spec.messages(prompt)` has the system instruction and the examples, `spec.generation`
        the greatest length and the temperature. A `Completion` also has the tokens used, a `Failure` says what to do
        next. An OSError, such as ConnectionError, is tried again; every other exception is an error of this prompt.
        """
        raise NotImplementedError

    def price(self, spec: ModelSpec) -> Price | None:
        """Return the price of tokens, or None if it is unknown."""
        return None

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """Return "none", because it gives only replies."""
        return "none"

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return model and version: every value becomes part of an answer's key."""
        refuse_unknown(spec, self.arguments)
        return {"revision": str(spec.args.get("revision", "")), "dtype": "unknown", "device": "remote"}

    def check(self, spec: ModelSpec) -> Check:
        """Raise an error for a model whose identity cannot be found."""
        self.identity(spec)
        return Check(state="ok", observed=f"{spec.id} is there")

    def open(self, spec: ModelSpec) -> PooledModel:
        """Return the model behind shared limits."""
        pace = AskingPace(
            **read_pace(spec, concurrency=self.concurrency, timeout=60), address=spec.id, called="the provider"
        )
        return PooledModel(pace, lambda: GenerateTransport(self, spec), processes=spec.processes)


class GenerateTransport(Transport):
    """Calls `generate` of a provider for each prompt."""

    def __init__(self, provider: TextProvider, spec: ModelSpec) -> None:
        self.provider, self.spec = provider, spec

    def max_usage(self, question: Question) -> Usage:
        """Return an estimate of the greatest usage of a call."""
        return Usage(
            calls=1,
            prompt_tokens=estimate_tokens(self.spec, question.prompt),
            completion_tokens=self.spec.generation.max_new_tokens,
        )

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Call `generate` once, and return its failure, if any, instead of raising it."""
        start = time.monotonic()
        try:
            reply = await asyncio.wait_for(self.provider.generate(question.prompt, self.spec), timeout)
        except TimeoutError:
            return make_timeout_failure(timeout)
        except Exception as error:
            message = " ".join(f"{type(error).__name__}: {error}".split())[:SHOWN]
            is_lost = isinstance(error, OSError)
            return Failure(
                kind="connection" if is_lost else "error", message=message, then="retry" if is_lost else "give up"
            )
        if isinstance(reply, Failure):
            return reply
        completion = reply if isinstance(reply, Completion) else Completion(text=reply, usage=ONE_CALL)
        return Reply(completion=completion, seconds=time.monotonic() - start)


def estimate_tokens(spec: ModelSpec, prompt: str, *, further: int = 0) -> int:
    """Return the tokens that a prompt has at most, with system instruction, examples and `further` bytes.

    Text of any script has two bytes or more to a token (English four), and a chat template adds some tokens to each
    message; only a prompt of symbols and rare words may exceed the estimate, which settling corrects.
    """
    messages, chat = spec.messages(prompt), parse_chat(prompt)
    texts = [message["content"] for message in messages]
    if chat is not None:
        # Tools and calls are read as JSON.
        texts += [json.dumps(part) for part in (chat.tools, [message.get("tool_calls") for message in messages])]
    size = further + sum(len(text.encode(errors="replace")) for text in texts)
    return size // BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * max(1, len(messages))

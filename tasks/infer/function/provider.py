"""Provider `function`: a function of this process, such as one of a notebook, asked in threads beside the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar, Literal

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.infer.app.process_way import reply_of
from contrapose.tasks.infer.arguments import rate, seconds_of, whole
from contrapose.tasks.infer.asking.asker import WithoutTokens
from contrapose.tasks.infer.asking.endpoint import Endpoint
from contrapose.tasks.infer.asking.outcomes import Failure, Reply
from contrapose.tasks.infer.asking.pool import Pool
from contrapose.tasks.infer.base import Broker, refuse_unknown
from contrapose.tasks.infer.function.offering import OfferedFunction, find_offered

CONCURRENCY = 4
MOST_HANGING = 64
"""Calls that may hang: no thread can be ended from outside, and each keeps what it holds."""
SHOWN = 300
"""Characters of an error that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """How a function is asked."""

    address: str
    """The id of the model."""
    concurrency: int
    """The most calls at a time."""
    timeout: float
    """Seconds after which nobody waits for a call any more."""
    total_timeout: float
    """More than that: there is no second try."""
    requests_per_minute: float | None
    """The most calls a minute; None is no limit."""
    retries: int = 0
    """A function that failed would most likely fail again."""
    tokens_per_minute: None = None
    """Nobody counts tokens here."""
    called: str = "the function"
    """In messages."""


class Function:
    """A function that is offered in this process, asked by the id that it has there."""

    cases_per_task: ClassVar[int] = 2000
    local: ClassVar[bool] = False
    knows_weights: ClassVar[bool] = False
    concurrency: ClassVar[int] = CONCURRENCY
    answers_only: ClassVar[Literal[True]] = True
    arguments: ClassVar[Mapping[str, Argument]] = {
        "revision": Argument(type="text", description="Version of the function: it keeps answers, and finds them."),
        "concurrency": Argument(
            type="whole number", description="Most calls at a time.", default=CONCURRENCY, role="pace"
        ),
        "timeout": Argument(type="seconds", description="For one call.", default=60, role="pace"),
        "requests_per_minute": Argument(type="number", description="Most calls a minute.", role="pace"),
    }

    def price(self, spec: ModelSpec) -> Price | None:
        """Unknown: whoever wrote it knows."""
        return None

    def check(self, spec: ModelSpec) -> Check:
        """Whether it is offered."""
        find_offered(spec.id)
        return Check(state="ok", observed=f"{spec.id} is there")

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """None: replies are all that a function gives."""
        return "none"

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """The version that the user names; without one, this offer of it alone.

        Neither its name nor its code tells what it answers: it may ask anything that lies outside of it.
        """
        settings_of(spec)
        offer = find_offered(spec.id)
        revision = spec.args.get("revision")
        served = str(revision) if revision not in (None, "") else f"this call alone ({offer.token})"
        return {"revision": spec.name, "dtype": "unknown", "device": "this process", "served": served}

    def open(self, spec: ModelSpec) -> FunctionModel:
        """Settings and shared limits; the function is looked for when there are prompts."""
        return FunctionModel(settings_of(spec))


class FunctionModel:
    """Answers of a function, some at a time."""

    def __init__(self, settings: FunctionSettings) -> None:
        self.settings = settings
        self.endpoint = Endpoint(settings)

    def answer(self, questions: Sequence[Question], broker: Broker) -> None:
        """Ask what is open, and put each answer as it comes."""
        asyncio.run(Pool(questions=questions, broker=broker, endpoint=self.endpoint, opened=self._opened).run())

    def notes(self) -> Mapping[str, str | float]:
        """Lowest and final concurrency."""
        return self.endpoint.notes()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[FunctionWay]:
        # Looked up each time: the same id may by now be a newer function.
        yield FunctionWay(offer=find_offered(self.settings.address))


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionWay(WithoutTokens):
    """Calls of a function."""

    offer: OfferedFunction
    """What is called."""

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Call it once. Whatever goes wrong is told, never raised."""
        if (hanging := len(self.offer.hanging)) >= MOST_HANGING:
            why = f"{hanging} calls of the function hang, and no thread can be ended"
            return Failure(kind="hanging", message=why, then="stop", certain=True)
        start = time.monotonic()
        future = self.offer.begin(question.prompt, timeout=timeout)
        try:
            heard = await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        except TimeoutError:
            self.offer.hanging.add(future)
            future.add_done_callback(self.offer.hanging.discard)
            return Failure(kind="timeout", message=f"no reply in {timeout:g} s", then="give up")
        if "error" in heard:
            return Failure(kind="error", message=str(heard["error"])[:SHOWN], then="give up")
        return reply_of(heard, seconds=time.monotonic() - start)


def settings_of(spec: ModelSpec) -> FunctionSettings:
    """The settings of a function.

    Raises:
        ModelError: an argument is unknown or wrong, or there is a system instruction.
    """
    refuse_unknown(spec, Function.arguments)
    if spec.system_instruction:
        raise ModelError(
            "a system instruction",
            expected="none: what a function tells a model besides the prompt is its own",
            remedy="Leave system_instruction out.",
            where=spec.id,
        )
    timeout = seconds_of(spec, "timeout", 60)
    return FunctionSettings(
        address=spec.id,
        concurrency=whole(spec, "concurrency", CONCURRENCY, low=1, high=1000),
        timeout=timeout,
        total_timeout=2 * timeout,
        requests_per_minute=rate(spec, "requests_per_minute"),
    )

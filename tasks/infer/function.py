"""Provider `function`: runs ask a Python function of this process, such as one in a notebook, in threads.

Nothing finds such a function by its name, and nothing pickles it: `contrapose.evaluate` offers it for as long as that
call lasts.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from threading import Lock, Thread
from typing import Any, ClassVar, Literal
from uuid import uuid4

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import convert_for_application
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.app.transports import make_call_outcome
from contrapose.tasks.infer.app.worker import format_callable_error, make_reply_message
from contrapose.tasks.infer.asking.asker import Transport
from contrapose.tasks.infer.asking.endpoint import AskingPace
from contrapose.tasks.infer.asking.outcomes import Failure, Reply
from contrapose.tasks.infer.asking.pool import PooledModel
from contrapose.tasks.infer.asking.text_provider import TextProvider
from contrapose.tasks.infer.base import PACE, read_pace, refuse_frame, refuse_unknown

PROVIDER = "function"
MOST_HANGING = 64
"""Calls that may hang: no thread can be ended from outside, and each keeps what it holds."""

Answering = Callable[[Any], str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]]
"""A function that takes a prompt and returns the reply, or will; with what it retrieved, a mapping with both."""


class FunctionLoop:
    """An event loop in its own thread for an async function, because HTTP clients must stay in one loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = Lock()

    def wait_for(self, awaitable: Awaitable[Any], *, timeout: float) -> Any:
        """Run an awaitable in the loop, wait for its result, and raise its error here."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=_run_loop, args=(self._loop,), daemon=True).start()

        async def result_or_error() -> tuple[Any, BaseException | None]:
            # An event loop would end with SystemExit and the like.
            try:
                return await awaitable, None
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                return None, error

        waiting = asyncio.run_coroutine_threadsafe(result_or_error(), self._loop)
        try:
            value, error = waiting.result(timeout)
        finally:
            waiting.cancel()
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """End the loop and its thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    with suppress(BaseException), asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()
        # What a task of the function's own raises, such as SystemExit, comes up here; the others go on.
        while True:
            with suppress(BaseException):
                loop.run_forever()
                break


@dataclass(slots=True, kw_only=True, eq=False)
class OfferedFunction:
    """A function that runs of this process may call."""

    function: Answering
    """Takes a prompt: a text, or the list of messages of a conversation."""
    context: Context
    """Context variables of the code that offers it, which each call sees."""
    token: str = field(default_factory=lambda: uuid4().hex)
    """Differs from that of every other function, and of the same one when it is offered again."""
    loop: FunctionLoop = field(default_factory=FunctionLoop)
    """Where it answers if it is async."""
    hanging: set[Future[Mapping[str, Any]]] = field(default_factory=set)
    """Calls that nobody waits for any more, and that have not ended."""

    def call(self, prompt: str, *, timeout: float) -> Future[Mapping[str, Any]]:
        """Call the function in a new thread; return the message that a worker process would send.

        A pool's threads would be waited for at the end of the process, those that hang too.
        """
        future: Future[Mapping[str, Any]] = Future()
        future.set_running_or_notify_cancel()

        def answer() -> None:
            try:
                reply: Any = self.function(convert_for_application(prompt))
                if inspect.isawaitable(reply):
                    # A little longer: the transport has given it up by then, and says so.
                    reply = self.loop.wait_for(reply, timeout=timeout + 1)
                future.set_result(make_reply_message(reply))
            except BaseException as error:
                # SystemExit and the like are errors of the function too.
                future.set_result({"error": format_callable_error(error)})

        Thread(target=self.context.copy().run, args=(answer,), daemon=True).start()
        return future


_OFFERED: dict[str, OfferedFunction] = {}
"""Functions that may be asked in this process, by the id of the model."""
_OFFERING = Lock()


@contextmanager
def offer_function(function: Answering) -> Iterator[str]:
    """Let runs of this process call a function; yield its model id for this time, such as `function/answer`."""
    offer = OfferedFunction(function=function, context=copy_context())
    with _OFFERING:
        name = make_function_name(function)
        numbered = (f"{PROVIDER}/{name}" + ("" if number == 1 else f"-{number}") for number in count(1))
        model = next(candidate for candidate in numbered if candidate not in _OFFERED)
        _OFFERED[model] = offer
    try:
        yield model
    finally:
        with _OFFERING:
            del _OFFERED[model]
        offer.loop.stop()


def make_function_name(function: object) -> str:
    """Return the name of a function for a model id: `make.answer` for a function that `make` returned."""
    inner = function.func if isinstance(function, partial) else function
    name = str(getattr(inner, "__qualname__", type(inner).__qualname__))
    plain = name.replace("<locals>.", "").replace("<lambda>", "lambda")
    return re.sub(r"[^\w.-]+", "-", plain).strip("-.")[-60:] or PROVIDER


def find_offered(model: str) -> OfferedFunction:
    """Return the function that a model id names, or raise ModelError."""
    with _OFFERING:
        offer = _OFFERED.get(model)
    if offer is None:
        raise ModelError(
            "there is no such function: it is one of a Python process, and only while that evaluates it",
            expected="evaluate(model=…) in Python, or app/package.module:function",
            remedy="Call contrapose.evaluate again with the function, and the same revision if it had one.",
            where=model,
        )
    return offer


class Function(TextProvider):
    """Provider of functions that `offer_function` has registered in this process."""

    answers_only: ClassVar[Literal[True]] = True
    arguments: ClassVar[Mapping[str, Argument]] = {
        "revision": Argument(type="text", description="Version of the function: it keeps answers, and finds them."),
        "concurrency": replace(PACE["concurrency"], description="Most calls at a time."),
        "timeout": replace(PACE["timeout"], description="For one call."),
        "requests_per_minute": replace(PACE["requests_per_minute"], description="Most calls a minute."),
    }

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the version that the user names; without one, an id that is valid for this offer only.

        Neither its name nor its code decides what it answers: it may ask anything that lies outside of it.
        """
        read_settings(spec)
        offer = find_offered(spec.id)
        revision = spec.args.get("revision")
        served = str(revision) if revision not in (None, "") else f"this call alone ({offer.token})"
        return {"revision": spec.name, "dtype": "unknown", "device": "this process", "served": served}

    def open(self, spec: ModelSpec) -> PooledModel:
        """Return the model with its settings and shared limits; the function is found when there are prompts."""
        # Looked up for each call: the same id may by then be a newer function.
        return PooledModel(read_settings(spec), lambda: FunctionTransport(find_offered(spec.id)))


class FunctionTransport(Transport):
    """Calls a function for each prompt."""

    def __init__(self, offer: OfferedFunction) -> None:
        self.offer = offer

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Call the function once, and return its failure, if any, instead of raising it."""
        if (hanging := len(self.offer.hanging)) >= MOST_HANGING:
            why = f"{hanging} calls of the function hang, and no thread can be ended"
            return Failure(kind="hanging", message=why, then="stop", certain=True)
        start = time.monotonic()
        future = self.offer.call(question.prompt, timeout=timeout)
        try:
            message = await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        except TimeoutError:
            self.offer.hanging.add(future)
            future.add_done_callback(self.offer.hanging.discard)
            return Failure(kind="timeout", message=f"no reply in {timeout:g} s", then="give up")
        return make_call_outcome(message, seconds=time.monotonic() - start)


def read_settings(spec: ModelSpec) -> AskingPace:
    """Return the settings of a function; no retries, because a call that failed would most likely fail again."""
    refuse_unknown(spec, Function.arguments)
    if spec.system_instruction:
        refuse_frame(spec, "a function adds everything but the prompt itself")
    pace = read_pace(spec, concurrency=Function.concurrency, timeout=60)
    without_retries = {"retries": 0, "total_timeout": 2 * pace["timeout"]}
    return AskingPace(**pace | without_retries, address=spec.id, called="the function")

"""Functions of this process that its runs may ask, and how one is called.

Nothing finds such a function by its name, and nothing pickles it: whoever calls `contrapose.evaluate` offers it for as
long as that call lasts.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.app.worker import in_words, replied

PROVIDER = "function"
LEFT_SECONDS = 5.0
"""How long what is still going on in an event loop may take to end, once nobody asks any more."""

Answering = Callable[[str], str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]]
"""A function that takes a prompt and returns the reply, or will; with what it retrieved, a mapping with both."""


class FunctionLoop:
    """The event loop in which an async function answers, in a thread of its own: clients keep to the loop they know."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = Lock()

    def result(self, awaitable: Awaitable[Any], *, timeout: float) -> Any:
        """Wait in another thread for what it comes to; whatever it raises is raised here.

        Raises:
            TimeoutError: it did not come in time, and was cancelled.
        """
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=_turn, args=(self._loop,), daemon=True).start()
        waited = asyncio.run_coroutine_threadsafe(_outcome(awaitable), self._loop)
        try:
            value, error = waited.result(timeout)
        finally:
            waited.cancel()
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """Let the thread end."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    # What a task of the function's own raises, such as SystemExit, comes up here; the others go on.
    while True:
        with suppress(BaseException):
            loop.run_forever()
            break
    with suppress(BaseException):
        loop.run_until_complete(_ended(loop))
    loop.close()


async def _ended(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is still going on, and wait for it a while."""
    others = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=LEFT_SECONDS)
    await loop.shutdown_asyncgens()


async def _outcome(awaitable: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """What it returned or raised; an event loop would end with what ends a program."""
    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


@dataclass(slots=True, kw_only=True, eq=False)
class OfferedFunction:
    """A function that runs of this process may ask."""

    function: Answering
    """Takes a prompt."""
    context: Context
    """Context variables of whoever offers it, which each call sees."""
    token: str = field(default_factory=lambda: uuid4().hex)
    """Tells it from every other function, and from the same one when it is offered again."""
    loop: FunctionLoop = field(default_factory=FunctionLoop)
    """Where it answers if it is async."""
    hanging: set[Future[Mapping[str, Any]]] = field(default_factory=set)
    """Calls that nobody waits for any more, and that have not ended."""

    def begin(self, prompt: str, *, timeout: float) -> Future[Mapping[str, Any]]:
        """Call it in a thread of its own; what comes is what a callable in a process of its own would send.

        A pool's threads would be waited for at the end of the process, those that hang too.
        """
        future: Future[Mapping[str, Any]] = Future()
        future.set_running_or_notify_cancel()
        work = partial(self._answer, prompt, future, timeout)
        Thread(target=self.context.copy().run, args=(work,), daemon=True).start()
        return future

    def _answer(self, prompt: str, future: Future[Mapping[str, Any]], timeout: float) -> None:
        try:
            reply: Any = self.function(prompt)
            if inspect.isawaitable(reply):
                # A little longer: whoever waits for the call has given it up by then, and says so.
                reply = self.loop.result(reply, timeout=timeout + 1)
            future.set_result(replied(reply))
        except BaseException as error:
            # SystemExit and the like are errors of the function too.
            future.set_result({"error": in_words(error)})


_OFFERED: dict[str, OfferedFunction] = {}
"""What may be asked in this process, by the id of the model."""
_OFFERING = Lock()


@contextmanager
def offered(function: Answering) -> Iterator[str]:
    """Let runs of this process ask a function, until the context is left.

    Args:
        function: what is asked; it is neither copied nor stored.

    Yields:
        The id of the model that it is meanwhile, such as `function/answer`.
    """
    offer = OfferedFunction(function=function, context=copy_context())
    with _OFFERING:
        name = name_of(function)
        numbered = (f"{PROVIDER}/{name}" + ("" if number == 1 else f"-{number}") for number in count(1))
        model = next(candidate for candidate in numbered if candidate not in _OFFERED)
        _OFFERED[model] = offer
    try:
        yield model
    finally:
        with _OFFERING:
            del _OFFERED[model]
        offer.loop.stop()


def name_of(function: object) -> str:
    """What a function is called, fit for an id: `make.answer` for one that `make` has made."""
    inner = function.func if isinstance(function, partial) else function
    name = str(getattr(inner, "__qualname__", type(inner).__qualname__))
    plain = name.replace("<locals>.", "").replace("<lambda>", "lambda")
    return re.sub(r"[^\w.-]+", "-", plain).strip("-.")[-60:] or PROVIDER


def find_offered(model: str) -> OfferedFunction:
    """What a model id stands for.

    Raises:
        ModelError: no such function is offered in this process now.
    """
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

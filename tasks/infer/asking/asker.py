"""One question, from its first request to its answer."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from contrapose.tasks.core.questions import UNASKED, Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.asking.endpoint import Breaker, Endpoint
from contrapose.tasks.infer.asking.outcomes import Failure, Reply, backoff
from contrapose.tasks.infer.base import Broker

SETTLING_SECONDS = 0.02

ODD_COUNTS = (
    "The endpoint says {} where a number of tokens should stand that such a request can take. Such counts are left "
    "out, and the budget goes by estimates in their place."
)
FILTERED = "A prompt was refused by a content filter. The endpoint says: {}"


class Way(Protocol):
    """How a request is made."""

    def most(self, question: Question) -> Usage:
        """What a request takes at most."""

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request. Whatever goes wrong is told, never raised.

        Args:
            question: to be asked.
            timeout: seconds that it may take.
        """


ONE_CALL = Usage(calls=1)


class WithoutTokens:
    """A way of whose requests nobody counts tokens."""

    __slots__ = ()

    def most(self, question: Question) -> Usage:
        """One call."""
        return ONE_CALL


@dataclass(slots=True)
class Tries:
    """The requests that were made for one question."""

    spent: Usage = field(default_factory=Usage)
    """What they took."""
    failures: int = 0
    """Those that failed, limits not counted."""
    limited: int = 0
    """Those that a rate limit refused."""
    since: float = field(default_factory=time.monotonic)
    """When the first was sent, by `time.monotonic()`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks until there is an answer or a final failure, within everybody's limits."""

    way: Way
    """Makes the requests."""
    endpoint: Endpoint
    """Limits that all share."""
    breaker: Breaker
    """Judges whether the endpoint is gone."""
    broker: Broker
    """Holds the budget, and the reason to stop."""
    trying: bool = False
    """Whether forms are tried: that one is refused says nothing of the prompt."""
    rng: random.Random = field(default_factory=random.Random)
    """For waits alone: no answer depends on it."""

    async def ask(self, question: Question) -> Answer | None:
        """The answer, or the failure that is final; None where nothing was asked before the run stopped."""
        tries = Tries()
        with self.counting(question, tries):
            return self.answer(question, await self.outcome(question, tries), tries)

    @contextmanager
    def counting(self, question: Question, tries: Tries) -> Iterator[None]:
        """Leave at the broker what was spent on a question, even where asking for it is cancelled."""
        try:
            yield
        except asyncio.CancelledError:
            if (answer := self.answer(question, None, tries)) is not None:
                self.broker.put([answer])
            raise

    def answer(self, question: Question, outcome: Reply | Failure | None, tries: Tries) -> Answer | None:
        """What becomes of a question by its last outcome; None where nothing was asked.

        What was asked in vain when the run stopped was paid for all the same.
        """
        if outcome is None and not tries.spent.calls:
            return None
        if isinstance(outcome, Reply):
            completion, seconds = outcome.completion, outcome.seconds
        else:
            why = outcome.message if outcome else f"{UNASKED} to the end: {self.broker.stopped}"
            completion, seconds = Completion(error=why, outcome=outcome.outcome if outcome else "error"), 0.0
        spent = tries.spent
        return Answer(question=question, completion=completion, seconds=seconds, requests=spent.calls, spent=spent)

    async def outcome(self, question: Question, tries: Tries, *, patience: int | None = None) -> Reply | Failure | None:
        """The reply, or the failure that is final; None where the run stopped before.

        Args:
            question: to be asked.
            tries: what was tried so far, which goes on being counted.
            patience: server errors after which to stop trying, if any; the failure then still says `retry`.
        """
        while (outcome := await self._request(question, tries)) is not None:
            if isinstance(outcome, Reply):
                return outcome
            wait = self._wait(outcome, tries)
            if self.broker.stopped:
                break
            if (error := self._final(outcome, tries, wait)) is not None:
                return replace(outcome, message=error, then="give up")
            if patience is not None and outcome.fell_over and tries.failures >= patience:
                return outcome
            self.endpoint.retried(outcome.kind)
            await asyncio.sleep(wait)
        return None

    async def _request(self, question: Question, tries: Tries) -> Reply | Failure | None:
        """One request under all limits; None where the budget or the run does not allow it."""
        most = self.way.most(question)
        async with self.endpoint.limiter:
            await self._pace(most)
            if self.broker.stopped or not await self._afford(most):
                return None
            if not tries.spent.calls:
                tries.since = time.monotonic()
            return await self._paid(question, most, tries)

    async def _pace(self, most: Usage) -> None:
        """Wait for the limits per minute, and for the end of a pause."""
        wait = self.endpoint.requests.take(1)
        wait = max(wait, self.endpoint.tokens.take(_tokens(most)))
        while not self.broker.stopped and (wait or self.endpoint.limiter.paused()):
            await asyncio.sleep(max(wait, self.endpoint.limiter.paused()))
            wait = 0.0

    async def _afford(self, most: Usage) -> bool:
        """Reserve; wait while requests under way may turn out cheaper than reserved."""
        budget = self.broker.budget
        while not self.broker.stopped:
            idle = budget.idle()
            if budget.reserve(most):
                return True
            if idle and budget.idle():
                self.broker.stop(budget.why(most))
            await asyncio.sleep(SETTLING_SECONDS)
        return False

    async def _paid(self, question: Question, most: Usage, tries: Tries) -> Reply | Failure:
        """The request itself; what it took is settled even when it is cancelled."""
        # A request that is cut off may have been billed: it counts with what it may have taken at most.
        used, sent = most, self.breaker.sent()
        settings = self.endpoint.settings
        timeout = min(settings.timeout, max(0.01, tries.since + settings.total_timeout - sent))
        try:
            outcome = await self.way.request(question, timeout=timeout)
            used = _used(outcome, most)
        finally:
            tries.spent += used
            self.broker.budget.settle(most, used)
            self.endpoint.tokens.correct(_tokens(most) - _tokens(used))
        if isinstance(outcome, Failure) and outcome.outcome == "moderated":
            outcome = _withheld(outcome, self.breaker.sent() - sent)
        self._judge(outcome, question, sent)
        return outcome

    def _judge(self, outcome: Reply | Failure, question: Question, sent: float) -> None:
        """Tell those who watch the endpoint how it went."""
        if isinstance(outcome, Reply):
            self.breaker.succeeded()
            self.endpoint.answered()
            if outcome.odd is not None:
                self.broker.warn("token counts", ODD_COUNTS.format(outcome.odd))
            for kind, text in outcome.remarks.items():
                self.broker.warn(kind, text)
            return
        if outcome.kind == "timeout":
            self.endpoint.limiter.timed_out(sent)
        elif outcome.overload:
            self.endpoint.limiter.overloaded(sent)
            self.breaker.limited(outcome.message)
        if outcome.unreadable:
            self.breaker.unreadable(outcome.message, sent)
            # At once: whoever watches looks ten times a second, in which hundreds may be asked.
            if (verdict := self.breaker.verdict()) is not None:
                self.broker.stop(verdict)
        elif outcome.then == "retry":
            self.breaker.failed(outcome.message, sent)
        elif outcome.then == "give up" and not (self.trying and question.form != "plain"):
            self.breaker.refused(outcome.message)

    def _wait(self, failure: Failure, tries: Tries) -> float:
        """Seconds until the next try; what the endpoint asked for holds for everybody."""
        if failure.then == "stop" and (failure.certain or not self.breaker.answered):
            self.broker.stop(failure.message)
        tries.failures += failure.then == "retry"
        tries.limited += failure.overload
        if failure.wait is None or (failure.overload and not failure.wait):
            return backoff(max(1, tries.failures + tries.limited), self.rng)
        if failure.wait:
            self._pause(failure.wait)
        return failure.wait

    def _pause(self, seconds: float) -> None:
        bearable = self.endpoint.settings.total_timeout if self.breaker.answered else self.breaker.patience
        if seconds > bearable:
            called = self.endpoint.settings.called
            self.broker.stop(f"{called} asks to wait {seconds:.0f} s; the last: {self.breaker.last}")
        else:
            self.endpoint.limiter.pause(seconds)

    def _final(self, failure: Failure, tries: Tries, wait: float) -> str | None:
        """Why there will be no answer; None where another request may bring it."""
        settings = self.endpoint.settings
        if failure.then in ("give up", "stop"):
            return failure.message
        if tries.failures > settings.retries:
            return f"no answer after {tries.spent.calls} requests; the last: {failure.message}"
        if time.monotonic() + wait - tries.since >= settings.total_timeout:
            return f"no answer after {settings.total_timeout:g} s; the last: {failure.message}"
        return None


def _withheld(refusal: Failure, seconds: float) -> Reply:
    """The reply to a prompt that a filter refuses: there is none, and asking again brings no other."""
    completion = Completion(text="", outcome="moderated", usage=Usage(calls=1))
    return Reply(completion=completion, seconds=seconds, remarks={"moderated": FILTERED.format(refusal.message)})


def _used(outcome: Reply | Failure, most: Usage) -> Usage:
    """What a request counts as: an endpoint that does not count its tokens is taken at our estimate."""
    if not isinstance(outcome, Reply):
        return most if outcome.billed else Usage(calls=1)
    used, written = outcome.completion.usage, most.completion_tokens if outcome.completion.text else 0
    if not _tokens(used):
        return most
    return Usage(
        calls=1,
        prompt_tokens=used.prompt_tokens or most.prompt_tokens,
        completion_tokens=used.completion_tokens or written,
    )


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens

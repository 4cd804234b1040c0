"""Ask one question: make requests, with retries, until there is an answer or a final failure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from contrapose.tasks.core.questions import UNASKED, Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.asking.endpoint import Breaker, Endpoint
from contrapose.tasks.infer.asking.outcomes import Failure, Reply, draw_retry_delay

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

SETTLING_SECONDS = 0.02
FILTERED = "A prompt was refused by a content filter. The endpoint says: {}"
ONE_CALL = Usage(calls=1)


class Transport:
    """Makes the requests of one pool of workers; one subclass for each kind of endpoint."""

    def max_usage(self, question: Question) -> Usage:
        """Return the greatest usage of a request: one call, if tokens are not counted."""
        return ONE_CALL

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request within `timeout` seconds, and return its failure, if any, instead of raising it."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close connections or processes when the pool ends."""


@dataclass(slots=True)
class Tries:
    """Counts of the requests that were made for one question."""

    spent: Usage = field(default_factory=Usage)
    """Usage of the requests."""
    failures: int = 0
    """Number that failed, limits not counted."""
    limited: int = 0
    """Number that a rate limit refused."""
    since: float = field(default_factory=time.monotonic)
    """When the first was sent, by `time.monotonic()`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks a question until there is an answer or a final failure, within shared limits."""

    transport: Transport
    """Makes the requests."""
    endpoint: Endpoint
    """Limits that all questions share."""
    breaker: Breaker
    """Decides whether the endpoint is gone."""
    broker: StoreBroker
    """Holds the budget, and the reason to stop."""
    trying: bool = False
    """Whether forms are tried: then a refusal says nothing about the prompt."""

    async def ask(self, question: Question) -> Answer | None:
        """Return the answer with a reply or the final failure; None if the run stopped before any request."""
        tries = Tries()
        with self.keep_spending(question, tries):
            return self.make_answer(question, await self.request(question, tries), tries)

    @contextmanager
    def keep_spending(self, question: Question, tries: Tries) -> Iterator[None]:
        """Report the spending on a question to the broker, even if asking is cancelled."""
        try:
            yield
        except asyncio.CancelledError:
            if (answer := self.make_answer(question, None, tries)) is not None:
                self.broker.put([answer])
            raise

    def make_answer(self, question: Question, outcome: Reply | Failure | None, tries: Tries) -> Answer | None:
        """Return the answer to a question from its last outcome; None if no request was made.

        Requests that had no answer when the run stopped were paid for all the same.
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

    async def request(self, question: Question, tries: Tries, *, patience: int | None = None) -> Reply | Failure | None:
        """Request until there is a reply or a final failure, and return it; None if the run stopped before."""
        settings = self.endpoint.settings
        while (outcome := await self._request(question, tries)) is not None:
            if isinstance(outcome, Reply):
                return outcome
            wait = self._next_wait(outcome, tries)
            if self.broker.stopped:
                break
            if outcome.then in ("give up", "stop"):
                return replace(outcome, then="give up")
            over = f"{tries.spent.calls} requests" if tries.failures > settings.retries else ""
            if time.monotonic() + wait - tries.since >= settings.total_timeout:
                over = over or f"{settings.total_timeout:g} s"
            if over:
                return replace(outcome, message=f"no answer after {over}; the last: {outcome.message}", then="give up")
            if patience is not None and outcome.is_server_error and tries.failures >= patience:
                return outcome
            self.endpoint.count_retry(outcome.kind)
            await asyncio.sleep(wait)
        return None

    async def _request(self, question: Question, tries: Tries) -> Reply | Failure | None:
        """Make one request within all limits; None if the budget or the run does not allow it."""
        most, budget, limiter = self.transport.max_usage(question), self.broker.budget, self.endpoint.limiter
        async with limiter:
            wait = max(self.endpoint.requests.take(1), self.endpoint.tokens.take(_count_tokens(most)))
            while not self.broker.stopped and (wait or limiter.pause_left()):
                await asyncio.sleep(max(wait, limiter.pause_left()))
                wait = 0.0
            # Requests under way may turn out cheaper than reserved.
            while not self.broker.stopped:
                idle = budget.is_idle()
                if budget.reserve(most):
                    break
                if idle and budget.is_idle():
                    self.broker.stop(budget.explain(most))
                await asyncio.sleep(SETTLING_SECONDS)
            else:
                return None
            if not tries.spent.calls:
                tries.since = time.monotonic()
            return await self._request_paid(question, most, tries)

    async def _request_paid(self, question: Question, most: Usage, tries: Tries) -> Reply | Failure:
        """Make one request that is paid for; its usage is settled even if it is cancelled."""
        # A request that is cut off may have been billed: it counts with what it may have taken at most.
        used, sent = most, self.breaker.start_request()
        settings = self.endpoint.settings
        timeout = min(settings.timeout, max(0.01, tries.since + settings.total_timeout - sent))
        try:
            outcome = await self.transport.request(question, timeout=timeout)
            used = _estimate_usage(outcome, most)
        finally:
            tries.spent += used
            self.broker.budget.settle(most, used)
            self.endpoint.tokens.correct(_count_tokens(most) - _count_tokens(used))
        if isinstance(outcome, Failure) and outcome.outcome == "moderated":
            # A prompt that a filter refuses has no reply, and asking again brings no other.
            outcome = Reply(
                completion=Completion(text="", outcome="moderated", usage=ONE_CALL),
                seconds=self.breaker.start_request() - sent,
                remarks={"moderated": FILTERED.format(outcome.message)},
            )
        self._record(outcome, question, sent)
        return outcome

    def _record(self, outcome: Reply | Failure, question: Question, sent: float) -> None:
        """Report an outcome to the breaker and the limiter, and keep its warnings."""
        if isinstance(outcome, Reply):
            self.breaker.record_answer()
            self.endpoint.count_answer()
            for kind, text in outcome.remarks.items():
                self.broker.warn(kind, text)
            return
        if outcome.kind == "timeout":
            self.endpoint.limiter.record_timeout(sent)
        elif outcome.overload:
            self.endpoint.limiter.record_overload(sent)
            self.breaker.record_limit(outcome.message)
        if outcome.unreadable:
            self.breaker.record_unreadable(outcome.message, sent)
            # At once: the pool looks ten times a second, in which hundreds may be asked.
            if (reason := self.breaker.explain_if_gone()) is not None:
                self.broker.stop(reason)
        elif outcome.then == "retry":
            self.breaker.record_failure(outcome.message, sent)
        elif outcome.then == "give up" and not (self.trying and question.form != "plain"):
            self.breaker.record_refusal(outcome.message)

    def _next_wait(self, failure: Failure, tries: Tries) -> float:
        """Return seconds until the next try; if the endpoint asked for a wait, all requests wait."""
        if failure.then == "stop" and (failure.certain or not self.breaker.answered):
            self.broker.stop(failure.message)
        tries.failures += failure.then == "retry"
        tries.limited += failure.overload
        if failure.wait is None or (failure.overload and not failure.wait):
            return draw_retry_delay(max(1, tries.failures + tries.limited))
        settings = self.endpoint.settings
        if failure.wait > (settings.total_timeout if self.breaker.answered else self.breaker.patience):
            self.broker.stop(f"{settings.called} asks to wait {failure.wait:.0f} s; the last: {self.breaker.last}")
        elif failure.wait:
            self.endpoint.limiter.pause(failure.wait)
        return failure.wait


def _estimate_usage(outcome: Reply | Failure, most: Usage) -> Usage:
    """Return the usage that a request counts as: our estimate if the endpoint does not count tokens."""
    if not isinstance(outcome, Reply):
        return most if outcome.billed else ONE_CALL
    used, written = outcome.completion.usage, most.completion_tokens if outcome.completion.text else 0
    if not _count_tokens(used):
        return most
    return Usage(
        calls=1,
        prompt_tokens=used.prompt_tokens or most.prompt_tokens,
        completion_tokens=used.completion_tokens or written,
    )


def _count_tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens

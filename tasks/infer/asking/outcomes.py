"""Outcomes of a request: a reply, or a failure that says what to do next."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Literal

from contrapose.tasks.core.records import Completion
from contrapose.tasks.core.reply_outcomes import ReplyOutcome

FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
AGAIN = (408, 409)
"""Statuses after which a retry may be answered, besides those of internal server errors."""
LEAST_SECRET = 8
"""Characters of a key that is taken for one in an answer; servers on one's own machine are sent EMPTY or none."""
OVERLOADED = (429, 529)
"""Statuses that ask for fewer requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A request that was answered."""

    completion: Completion
    """The answer, with its usage."""
    seconds: float
    """From sending to the last byte."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """Warnings about it, by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Reason why a request brought no answer."""

    kind: str
    """For counting: `status 500`, `timeout`, `connection`, `broken reply`."""
    message: str
    """For people, without the key."""
    then: Literal["retry", "wait", "give up", "stop"]
    """The next step: `wait` is a rate limit, `give up` concerns this prompt alone, `stop` the complete run."""
    wait: float | None = None
    """Seconds that the endpoint asked for."""
    certain: bool = False
    """With `stop`: whatever was answered before, nothing will be any more."""
    billed: bool = False
    """Whether tokens may have been billed although there is no answer."""
    overload: bool = False
    """Whether the endpoint says that it is asked too much."""
    unreadable: bool = False
    """Whether something came that is no reply of the API: waiting fixes that less often than an error."""
    status: int | None = None
    """Of the HTTP reply, if there was one that says something of how it was asked."""
    outcome: ReplyOutcome = "error"
    """`moderated` if a content filter always refuses this prompt: then this is its answer."""

    @property
    def is_server_error(self) -> bool:
        """Return whether the server had an internal error, and is not just busy."""
        return self.then == "retry" and self.status is not None and self.status >= 500


def classify_status(status: int, message: str, *, wait: float | None) -> Failure:
    """Return the failure for an HTTP error status: slow down, try again or give up the prompt."""
    kind = f"status {status}"
    if status in OVERLOADED or (status == 503 and wait is not None):
        return Failure(kind=kind, message=message, then="wait", wait=wait, overload=True, status=status)
    again = status >= 500 or status in AGAIN
    return Failure(kind=kind, message=message, then="retry" if again else "give up", status=status, wait=wait)


def make_timeout_failure(seconds: float) -> Failure:
    """Return the failure of a request that had no complete reply in time."""
    return Failure(kind="timeout", message=f"no complete reply in {seconds:g} s", then="retry", billed=True)


def remove_secrets(text: str, secrets: Iterable[str], *, least: int = 1) -> str:
    """Return a text without the secrets that were sent, because some servers repeat them."""
    parts = {part for secret in secrets for part in (secret, secret.rpartition(" ")[2]) if len(part) >= least}
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, "…")
    return text


def remove_secrets_from_completion(completion: Completion, secrets: Iterable[str]) -> Completion:
    """Return an answer without the secrets that were sent."""
    clean = partial(remove_secrets, secrets=list(secrets), least=LEAST_SECRET)
    text, passages = completion.text, completion.passages
    return replace(
        completion,
        text=None if text is None else clean(text),
        passages=None if passages is None else tuple(map(clean, passages)),
    )


def draw_retry_delay(failures: int) -> float:
    """Return random seconds before the next try: exponential with full jitter, so that workers do not retry at once."""
    return random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failures - 1, 10)))


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in `retry-after-ms` or `Retry-After` (a number or a date); None if neither can be read."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) * unit
            if 0 <= seconds < float("inf"):
                return seconds
    with suppress(KeyError, ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    return None

"""What all parts of a run share about one endpoint: its limits, and what was seen of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from threading import Lock

from contrapose.tasks.infer.openai.breaker import Breaker
from contrapose.tasks.infer.openai.limiter import Limiter
from contrapose.tasks.infer.openai.pace import Bucket
from contrapose.tasks.infer.openai.settings import Settings

TRUST_SECONDS = 120.0
"""How long an answer proves that there is an endpoint: longer than a rate limit per minute can silence it."""


class Endpoint:
    """Concurrency, rate limits and counts; any thread may use it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.limiter = Limiter(settings.concurrency)
        self.requests = Bucket(settings.requests_per_minute)
        self.tokens = Bucket(settings.tokens_per_minute)
        self._retried: Counter[str] = Counter()
        self._answered_at: float | None = None
        self._lock = Lock()

    def breaker(self) -> Breaker:
        """A judge for one call, which knows whether the endpoint answered lately."""
        answered_at = self._answered_at
        trusted = answered_at is not None and time.monotonic() - answered_at < TRUST_SECONDS
        return Breaker(self.settings.timeout, trusted=trusted)

    def answered(self) -> None:
        """A request was answered."""
        self._answered_at = time.monotonic()
        self.limiter.succeeded()

    def retried(self, kind: str) -> None:
        """A request is made again."""
        with self._lock:
            self._retried[kind] += 1

    def notes(self) -> Mapping[str, str | float]:
        """Counts for the manifest."""
        limiter = self.limiter
        concurrency = {"concurrency_lowest": limiter.lowest, "concurrency_final": int(limiter.limit)}
        with self._lock:
            retries = {f"retries_{kind.replace(' ', '_')}": count for kind, count in sorted(self._retried.items())}
        return {**concurrency, "rate_limit_pauses": limiter.pauses, **retries}

"""Runs of the past, to put into a history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from contrapose.tasks.core.history_records import PastRun, PastTest

FIRST = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


def past_test(**changes: Any) -> PastTest:
    """18 of 24 passed."""
    base = PastTest(
        test_type="add_negation",
        verdict="inconclusive",
        pass_rate=0.75,
        interval=(0.551, 0.88),
        min_pass_rate=0.7,
        scored=24,
    )
    return base | changes  # type: ignore[return-value]


def past_run(day: int = 0, **changes: Any) -> PastRun:
    """A run of that day, with one test."""
    started = FIRST + timedelta(days=day)
    base = PastRun(
        run_id=f"{started:%Y%m%dT%H%M%SZ}-harbour-mock",
        suite="harbour",
        model="mock",
        started=started.isoformat(timespec="seconds"),
        verdict="inconclusive",
        tests=[past_test()],
        made_of={
            "model": {"id": "mock", "revision": "mock-1"},
            "data": {"add_negation.sha256": "ab" * 32},
            "prompt": {"seed": "0"},
            "scorer": {"embedding_model": "all-MiniLM-L6-v2"},
            "library": {"python": "3.11.7", "torch": "2.13.0"},
        },
    )
    return base | changes  # type: ignore[return-value]

"""Compute open questions in batches within the budget: reserve usage, compute, put answers at the broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

SETTLING_SECONDS = 0.05
"""Seconds between two checks of a budget to which others may give back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Questions that are computed together."""

    questions: tuple[Question, ...]
    """All questions of the batch, answered or not."""
    most: Mapping[Question, Usage]
    """Greatest usage of each."""
    compute: Callable[[Sequence[Question]], list[Completion]]
    """Answers some of them, in order."""
    at_once: int | None = None
    """How many are computed before their answers are put; None: as many as the budget has room for."""


def answer_batch(batch: Batch, broker: StoreBroker) -> None:
    """Compute the open questions of a batch, as many at a time as the budget has room for.

    Reservations are always settled, also after an error: to the usage of an answer, or to zero without one.
    """
    left = broker.take(batch.questions)
    while left:
        idle = broker.budget.is_idle()
        most = [batch.most[question] for question in left[: batch.at_once]]
        count = broker.budget.reserve_first(most)
        if not count and not (idle and broker.budget.is_idle()):
            # Others who share the budget may spend less than they were granted.
            if broker.stopped:
                return None
            time.sleep(SETTLING_SECONDS)
            continue
        if not count:
            return broker.stop(broker.budget.explain(most[0]))
        held, left = left[:count], left[count:]
        start = time.perf_counter()
        completions: list[Completion] = []
        try:
            completions = batch.compute(held)
        finally:
            broker.budget.settle_all(most[:count], [done.usage for done in completions])
        seconds = (time.perf_counter() - start) / len(held)
        broker.put(
            [
                Answer(question=question, completion=done, seconds=seconds)
                for question, done in zip(held, completions, strict=True)
            ]
        )
    return None

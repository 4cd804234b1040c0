"""How a model trades with a broker: it takes what is open, reserves and settles what that takes, and puts answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.base import Broker

SETTLING_SECONDS = 0.05
"""Between two looks at a budget that others may give back to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Questions that are computed together."""

    questions: tuple[Question, ...]
    """All of them, answered or not."""
    most: Mapping[Question, Usage]
    """What each may take."""
    compute: Callable[[Sequence[Question]], list[Completion]]
    """Answers some of them, in order."""


def trade(batch: Batch, broker: Broker) -> None:
    """Compute what is open of a batch, as much at a time as the budget has room for.

    What was reserved is settled however the computing ends: at what an answer took, or at nothing where there is none.
    """
    left = broker.take(batch.questions)
    while left:
        idle = broker.budget.idle()
        held = _reserved(left, batch, broker)
        if not held and not (idle and broker.budget.idle()):
            # Others who share the budget may spend less than they were granted.
            if broker.stopped:
                return None
            time.sleep(SETTLING_SECONDS)
            continue
        if not held:
            return broker.stop(broker.budget.why(batch.most[left[0]]))
        left = left[len(held) :]
        start = time.perf_counter()
        completions: list[Completion] = []
        try:
            completions = batch.compute(held)
        finally:
            for question, done in zip_longest(held, completions):
                broker.budget.settle(batch.most[question], done.usage if done else Usage())
        seconds = (time.perf_counter() - start) / len(held)
        broker.put(
            [
                Answer(question=question, completion=done, seconds=seconds)
                for question, done in zip(held, completions, strict=True)
            ]
        )
    return None


def _reserved(questions: Sequence[Question], batch: Batch, broker: Broker) -> list[Question]:
    """The first of the questions, as many as the budget has room for."""
    held = []
    for question in questions:
        if not broker.budget.reserve(batch.most[question]):
            break
        held.append(question)
    return held

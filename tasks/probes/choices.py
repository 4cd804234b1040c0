"""Which option a completion chose, by log-likelihoods or by what its reply says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contrapose.tasks.probes.replies.options import choose
from contrapose.tasks.records import Completion


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that was chosen, and how likely each was."""

    index: int
    """Position among the labels."""
    shares: tuple[float, ...]
    """Probability of each label; they add up to 1."""
    step: str
    """What told it: `likelihood`, or the step that read the reply: `letter`, `pattern` or `restated`."""


def read_choice(completion: Completion, *, labels: Sequence[str], options: Sequence[str]) -> Choice | None:
    """The choice by log-likelihoods when there are any, else by what the reply says; None when unreadable."""
    if completion.option_loglikelihoods is not None:
        return _by_likelihood(completion.option_loglikelihoods)
    chosen = choose(completion.text or "", labels=labels, options=options)
    if chosen.index is None:
        return None
    return Choice(chosen.index, tuple(float(i == chosen.index) for i in range(len(labels))), chosen.step)


def read_option(reply: str, *, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """Position of the option that a reply names by letter or restates; None for none or several."""
    return choose(reply, labels=labels, options=options).index


class Told(Protocol):
    """A choice that knows what told it."""

    @property
    def step(self) -> str:
        """`likelihood`, or the step that read the reply."""
        ...


def step_of(completion: Completion, choice: Told | None) -> str:
    """What told a choice, as result rows record it; `unparsed` where a reply told none."""
    if completion.option_loglikelihoods is not None:
        return "likelihood"
    return "unparsed" if choice is None else choice.step


def _by_likelihood(values: Sequence[float]) -> Choice | None:
    top = max(values, default=math.nan)
    if not math.isfinite(top) or any(math.isnan(value) for value in values):
        return None
    weights = [math.exp(value - top) for value in values]
    total = math.fsum(weights)
    return Choice(list(values).index(top), tuple(weight / total for weight in weights), "likelihood")

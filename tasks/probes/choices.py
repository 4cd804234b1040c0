"""Which option a completion chose, by log-likelihoods or by what its reply says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from contrapose.tasks.core.records import Completion, FollowUp, Side, Trial
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes.asking_back import answered, can_be_asked, declines, follow_up
from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.in_words import in_words_columns
from contrapose.tasks.probes.own_prompt import OwnLabels
from contrapose.tasks.probes.reading_checks import check_columns, known


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that was chosen, and how likely each was."""

    index: int
    """Position among the labels."""
    shares: tuple[float, ...]
    """Probability of each label; they add up to 1."""
    step: str
    """What told it: `likelihood`, or the step that read the reply: `letter`, `pattern`, `restated`; `label`, of a
    prompt of one's own; or `constrained`, where the endpoint was held to the letters."""


def read_choice(
    completion: Completion, *, labels: Sequence[str], options: Sequence[str], own: OwnLabels | None = None
) -> Choice | None:
    """The choice by log-likelihoods when there are any, else by what the reply says; None when unreadable.

    Args:
        completion: what came back.
        labels: what stands for the options.
        options: their texts, in the order of the labels.
        own: how replies are read that name labels of a prompt of one's own; None: by our rules for letters.
    """
    if completion.option_loglikelihoods is not None:
        return _by_likelihood(completion.option_loglikelihoods)
    reply = completion.text or ""
    if own is not None:
        place = own.place(reply, count=len(options))
        return None if place is None else _one(place, len(options), "label")
    if completion.constrained and reply in labels:
        return _one(list(labels).index(reply), len(labels), "constrained")
    chosen = choose(reply, labels=labels, options=options)
    if chosen.index is None:
        said = None if completion.asked_back is None or declines(reply) else answered(completion.asked_back, options)
        return _one(list(labels).index(said), len(labels), "asked") if said is not None and said in labels else None
    return _one(chosen.index, len(labels), chosen.step)


def _one(index: int, count: int, step: str) -> Choice:
    """One option and no other."""
    return Choice(index, tuple(float(i == index) for i in range(count)), step)


def about(trial: Trial, *, changed: Sequence[str]) -> Iterator[FollowUp]:
    """Questions about the replies of a trial whose choice cannot be read, and that do not plainly decline to choose.

    Those that rules read are asked about, too, though not of controls: what they say is known.

    Args:
        trial: with options, in the order of the original prompt.
        changed: the same options in the order of the changed one.
    """
    for side, reply, options in _sides(trial, changed):
        if not can_be_asked(reply):
            continue
        letter, step = _letter(reply, options)
        if not trial.case.control and (right := known(reply, letter, step)) is not None:
            yield follow_up(trial, side, options, known=right)
        elif letter is None and not declines(reply.text or ""):
            yield follow_up(trial, side, options)


def checks(trial: Trial, *, changed: Sequence[str]) -> dict[str, bool | None]:
    """Columns of how well the model reads the replies of a trial that rules could read.

    Args:
        trial: with options, in the order of the original prompt.
        changed: the same options in the order of the changed one.
    """
    if all(reply.asked_back is None for _, reply, _ in _sides(trial, changed)):
        return {}
    return check_columns((reply, *_letter(reply, options), options) for _, reply, options in _sides(trial, changed))


def _sides(trial: Trial, changed: Sequence[str]) -> tuple[tuple[Side, Completion, Sequence[str]], ...]:
    """Both replies, with the options as they stood in their prompts."""
    return ("expected", trial.expected, trial.case.options), ("actual", trial.actual, changed)


def _letter(reply: Completion, options: Sequence[str]) -> tuple[str | None, str]:
    """The letter that a reply chooses, and what told it; `unparsed` where nothing did."""
    choice = read_choice(reply, labels=letters(len(options)), options=options)
    return (None, "unparsed") if choice is None else (letters(len(options))[choice.index], choice.step)


def in_words(trial: Trial, likeliest: str | None) -> dict[str, str | bool | None]:
    """Columns of what the reply to the original prompt says beside the likeliest letter."""
    reply, labels, options = trial.expected.in_words, trial.case.labels, trial.case.options
    index = None if reply is None else read_option(reply, labels=labels, options=options)
    return in_words_columns(reply, read=None if index is None else labels[index], likeliest=likeliest)


def read_option(reply: str, *, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """Position of the option that a reply names by letter or restates; None for none or several."""
    return choose(reply, labels=labels, options=options).index


class ReadChoice(Protocol):
    """A choice that knows what told it."""

    @property
    def step(self) -> str:
        """`likelihood`, or the step that read the reply."""


def step_of(completion: Completion, choice: ReadChoice | None) -> str:
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

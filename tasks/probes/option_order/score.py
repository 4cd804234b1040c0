"""Scores option_order: the same option, the same letter, or neither."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.core.records import Completion, FollowUp, Score, Trial
from contrapose.tasks.probes.base import Value, letters, unscored
from contrapose.tasks.probes.choices import about, checks, in_words, read_choice, step_of
from contrapose.tasks.probes.own_prompt import OwnLabels

NO_CHOICE = ("unparsed", "tied")
"""Outcomes of a pair without two choices, where a reply names no option or two letters are as likely: it fails, and a
verdict leaves it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """The option that a completion chose."""

    letter: str
    """Behind which letter it stood; A for the first one where a prompt of one's own has other labels."""
    label: str
    """What stood before it."""
    option: str
    """Its text."""
    step: str
    """What told it: `likelihood`, or the step that read the reply."""


def rotated(options: Sequence[str], by: int) -> tuple[str, ...]:
    """The options moved `by` places to the left; those that leave at the front return at the end."""
    return (*options[by:], *options[:by])


def score_trial(trial: Trial, own: OwnLabels | None = None) -> Score:
    """Pass a trial when the same option was chosen in both orders; a control when the choice stayed.

    Args:
        trial: a case, or a control.
        own: how replies are read that name labels of a prompt of one's own.
    """
    by = int(trial.case.details["rotation"])
    first = pick(trial.expected, trial.case.options, own)
    second = pick(trial.actual, rotated(trial.case.options, by), own)
    if _is_broken(trial.expected) or _is_broken(trial.actual):
        return unscored("The log-likelihoods of the letters are not all numbers.")
    if trial.case.control and first is None and second is None:
        return unscored("Neither reply names one option.")
    tied = _is_tied(trial.expected) or _is_tied(trial.actual)
    outcome = "tied" if tied else _outcome(first, second)
    return Score(
        value=float(outcome == "text"),
        passed=outcome == "text",
        reason=_reason(outcome, first, second),
        undecided=outcome in NO_CHOICE,
        columns=_columns(trial, first, second)
        | {"rotation": by, "outcome": None if trial.case.control else outcome}
        | in_words(trial, first.letter if first else None)
        | checks(trial, changed=rotated(trial.case.options, by)),
        expected_result=_choice_in_words(trial.expected, first),
        actual_result=_choice_in_words(trial.actual, second),
    )


def pick(completion: Completion, options: Sequence[str], own: OwnLabels | None = None) -> Pick | None:
    """What was chosen; None when nothing was, or when two letters are equally likely."""
    if _is_tied(completion):
        return None
    choice = read_choice(completion, labels=letters(len(options)), options=options, own=own)
    if choice is None:
        return None
    letter = letters(len(options))[choice.index]
    label = letter if own is None else own.labels[choice.index]
    return Pick(letter=letter, label=label, option=options[choice.index], step=choice.step)


def follow_ups(trials: Sequence[Trial]) -> list[FollowUp]:
    """Questions about replies, each with the options in its own order."""
    return [
        question
        for trial in trials
        for question in about(trial, changed=rotated(trial.case.options, int(trial.case.details["rotation"])))
    ]


def _is_tied(completion: Completion) -> bool:
    """Whether no letter leads, which low precision makes common: no choice, though something could be read."""
    values = completion.option_loglikelihoods or ()
    return sum(value == max(values) for value in values) > 1


def _is_broken(completion: Completion) -> bool:
    values = completion.option_loglikelihoods
    return values is not None and not (values and all(math.isfinite(value) for value in values))


def _outcome(first: Pick | None, second: Pick | None) -> str:
    if first is None or second is None:
        return "unparsed"
    if first.option == second.option:
        return "text"
    return "letter" if first.letter == second.letter else "other"


def _reason(outcome: str, first: Pick | None, second: Pick | None) -> str:
    old, new = (chosen.label if chosen else None for chosen in (first, second))
    noun = "The letter " if first is None or first.label == first.letter else ""
    unread = " and the ".join(prompt for prompt, letter in (("original", old), ("changed", new)) if letter is None)
    return {
        "tied": f"The likeliest letters after the {unread} prompt are equally likely, which is no choice.",
        "unparsed": f"No one option is chosen in the reply to the {unread} prompt.",
        "text": f"The same option was chosen, as {old} and then as {new}.",
        "letter": f"{noun}{old} was chosen again, though another option stood there.",
        "other": f"The choice went from {old} to {new}, another option.",
    }[outcome]


def _columns(trial: Trial, first: Pick | None, second: Pick | None) -> dict[str, Value]:
    columns: dict[str, Value] = {"option_count": len(trial.case.options)}
    answers = {answer.strip() for answer in trial.case.answers}
    for prefix, chosen, reply in (("", first, trial.expected), ("rotated_", second, trial.actual)):
        columns[f"{prefix}choice"] = chosen.option if chosen else None
        columns[f"{prefix}choice_step"] = step_of(reply, chosen)
        columns[f"{prefix}letter"] = chosen.letter if chosen else None
        right = chosen is not None and chosen.option.strip() in answers
        columns[f"{prefix}correct"] = right if answers else None
    return columns


def _choice_in_words(completion: Completion, chosen: Pick | None) -> str | None:
    """A choice by likelihood as people read it; a reply stays as it was written."""
    if completion.option_loglikelihoods is None or chosen is None:
        return None
    return f"{chosen.letter}. {chosen.option}"

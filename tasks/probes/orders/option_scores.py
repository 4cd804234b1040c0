"""Scores of option_order: the same option, the same letter, or neither."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.core.records import Completion, Score, Trial
from contrapose.tasks.probes.base import Value, letters, unscored
from contrapose.tasks.probes.choices import read_choice, reading_columns, step_of
from contrapose.tasks.probes.own_prompt import OwnLabels

NO_CHOICE = ("unparsed", "tied")
"""Outcomes of a pair without two choices, where a reply names no option or two letters are as likely: it fails, and a
verdict leaves it open."""


def rotate(options: Sequence[str], by: int) -> tuple[str, ...]:
    """Return the options moved `by` places to the left; those that leave at the front return at the end."""
    return (*options[by:], *options[:by])


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
    """`likelihood`, or the step that read the reply."""


def score_trial(trial: Trial, own: OwnLabels | None = None) -> Score:
    """Pass a trial when the same option was chosen in both orders; a control when the choice stayed."""
    case, replies = trial.case, (trial.expected, trial.actual)
    moved = rotate(case.options, int(case.details["rotation"]))
    first, second = (pick(reply, options, own) for reply, options in zip(replies, (case.options, moved), strict=True))
    if any(not _are_finite(reply.option_loglikelihoods) for reply in replies):
        return unscored("The log-likelihoods of the letters are not all numbers.")
    if case.control and first is None and second is None:
        return unscored("Neither reply names one option.")
    if any(map(_is_tied, replies)):
        outcome = "tied"
    elif first is None or second is None:
        outcome = "unparsed"
    elif first.option == second.option:
        outcome = "text"
    else:
        outcome = "letter" if first.letter == second.letter else "other"
    columns: dict[str, Value] = {
        "option_count": len(case.options),
        "rotation": int(case.details["rotation"]),
        "outcome": None if case.control else outcome,
        **reading_columns(trial, first.letter if first else None, changed=moved),
    }
    answers = {answer.strip() for answer in case.answers}
    for prefix, chosen, reply in (("", first, trial.expected), ("rotated_", second, trial.actual)):
        columns[f"{prefix}choice"] = chosen.option if chosen else None
        columns[f"{prefix}choice_step"] = step_of(reply, chosen)
        columns[f"{prefix}letter"] = chosen.letter if chosen else None
        right = chosen is not None and chosen.option.strip() in answers
        columns[f"{prefix}correct"] = right if answers else None
    # A choice by likelihood is shown as people read it; a reply stays as it was written.
    shown = (
        f"{chosen.letter}. {chosen.option}" if chosen and reply.option_loglikelihoods is not None else None
        for chosen, reply in zip((first, second), replies, strict=True)
    )
    return Score(
        value=float(outcome == "text"),
        passed=outcome == "text",
        reason=_reason(outcome, first, second),
        undecided=outcome in NO_CHOICE,
        columns=columns,
        expected_result=next(shown),
        actual_result=next(shown),
    )


def pick(completion: Completion, options: Sequence[str], own: OwnLabels | None = None) -> Pick | None:
    """Return what was chosen; None when nothing was, or when two letters are equally likely."""
    labels = letters(len(options))
    choice = None if _is_tied(completion) else read_choice(completion, labels=labels, options=options, own=own)
    if choice is None:
        return None
    label = labels[choice.index] if own is None else own.labels[choice.index]
    return Pick(letter=labels[choice.index], label=label, option=options[choice.index], step=choice.step)


def _is_tied(completion: Completion) -> bool:
    """Return whether no letter leads, which low precision makes common: no choice, though something could be read."""
    values = completion.option_loglikelihoods or ()
    return sum(value == max(values) for value in values) > 1


def _are_finite(loglikelihoods: Sequence[float] | None) -> bool:
    return loglikelihoods is None or (len(loglikelihoods) > 0 and all(map(math.isfinite, loglikelihoods)))


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

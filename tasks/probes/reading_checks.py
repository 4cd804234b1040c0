"""How well a model reads when it is asked back: it is also asked about replies that rules read, in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from contrapose.tasks.core.records import Completion, FollowUp, Trial
from contrapose.tasks.language.replies.spoken import spoken
from contrapose.tasks.probes.asking_back import answered, can_be_asked, declines
from contrapose.tasks.probes.base import Column, Measure
from contrapose.tasks.probes.known_errors import BY_RULES
from contrapose.tasks.probes.values import where
from contrapose.tasks.statistics.families import at_most

CHECKS = 50
"""Most replies of a test that are asked about for this alone, and never more than those that could not be read."""

LEAST_WORDS = 5
"""Shorter replies, such as a letter alone, are easier to read than any that rules leave unread, and say nothing."""

LEAST_AGREEMENT = 0.95
"""Below it a warning stands beside a verdict that asking back helped to make."""
RARE = 0.05
"""How unlikely so little agreement must be of a model that reads well enough, for it to count as a bad reader."""

COLUMNS: Mapping[str, Column] = {
    "asked_agrees": Column(
        "bool",
        "Whether the model that is asked which option a reply chooses says what rules say that could read it; missing "
        "where it was not asked, or named no option.",
    )
}

Read = tuple[Completion, str | None, str, Sequence[str]]
"""A reply, the letter that it was read as, the step that read it, and the options as they stood in its prompt."""


def known(reply: Completion, letter: str | None, step: str) -> str | None:
    """What rules read in a reply that a model could be asked about: a letter, or `none` where it plainly declines.

    Returns:
        None for a reply that rules could not read, and for one that is too short to tell anything.
    """
    if not can_be_asked(reply) or len(re.findall(r"\w+", spoken(reply.text or ""))) < LEAST_WORDS:
        return None
    if letter is not None:
        return letter if step in BY_RULES else None
    return "none" if declines(reply.text or "") else None


def agreement(trials: Mapping[str, Trial], follow_ups: Iterable[FollowUp]) -> tuple[int, int]:
    """How many replies the model reads as the rules do, and how many it was asked about and named an option for.

    Args:
        trials: with what the model said, by the id of their case.
        follow_ups: about replies that rules read.
    """
    about = [(trials[follow_up.case_id], follow_up) for follow_up in follow_ups]
    answers = [answered(getattr(trial, asked.side).asked_back, trial.case.options) for trial, asked in about]
    agreed = [answer == asked.known for answer, (_, asked) in zip(answers, about, strict=True) if answer]
    return sum(agreed), len(agreed)


def reads_badly(agreed: int, answers: int) -> bool:
    """Whether a model that agrees in `LEAST_AGREEMENT` would hardly have agreed in so few (exact binomial test)."""
    return answers > 0 and at_most(agreed, answers, LEAST_AGREEMENT) < RARE


def check_columns(read: Iterable[Read]) -> dict[str, bool | None]:
    """Whether the model reads the replies of a case as the rules do; left out where it was asked about none of them."""
    agreed = [
        answer == right
        for reply, letter, step, options in read
        if reply.asked_back is not None
        and (answer := answered(reply.asked_back, options))
        and (right := known(reply, letter, step))
    ]
    return {"asked_agrees": all(agreed)} if agreed else {}


EXPLANATIONS: Mapping[str, str] = {
    "asked_agreement": "Share of the cases in which the model, asked what a reply chooses, says what the rules read in "
    f"it. Below {LEAST_AGREEMENT:.0%} it reads replies too badly to be relied on.",
}
"""What the figures are."""


def check_measures(results: pd.DataFrame) -> Sequence[Measure]:
    """`asked_agreement`: over the cases with such a reply, the share in which the model reads it as the rules do."""
    if not set(COLUMNS) <= set(results.columns):
        return []
    agrees = results["asked_agrees"]
    return [Measure(name="asked_agreement", share=True, values=where(agrees.notna(), agrees.eq(True)))]

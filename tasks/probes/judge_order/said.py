"""What a judge's reply says: a choice, a tie, a refusal, nothing, or something that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from contrapose.tasks.core.records import Completion, Trial
from contrapose.tasks.language.replies.refusals import reply_kind
from contrapose.tasks.probes.asking_back import declines
from contrapose.tasks.probes.base import Column, Value
from contrapose.tasks.probes.order_bias.reply import LetterChoice, read_words
from contrapose.tasks.probes.order_bias.score import Read, outcome_of, read_label

if TYPE_CHECKING:
    from contrapose.tasks.probes.judge_order.probe import JudgeOrderSettings

Said = Literal["choice", "tie", "refusal", "empty", "unread"]
EVEN = ("both", "neither")
"""Reasons of the rules for which a short reply prefers none of the two."""

COLUMNS: Mapping[str, Column] = {
    "said": Column("string", "What the reply to the unchanged order is: choice, tie, refusal, empty, or unread."),
    "swapped_said": Column("string", "The same of the reply to the swapped order."),
    "right_is_own": Column("bool", "Whether the judge wrote the better answer; missing unless it wrote one of them."),
    "again_choice": Column(
        "string",
        "Choice when the unchanged prompt was asked once more; empty where none could be read, missing where it was "
        "not asked.",
    ),
    "again_same": Column("bool", "Whether that is the first choice; missing where neither reply names one."),
}


def said(reply: Completion, choice: LetterChoice) -> Said:
    """What a reply says, as it was read.

    Only what is plain is no choice for certain: of a long explanation without one that can be read, nothing is known.
    """
    text = reply.text or ""
    if choice.choice is not None:
        return "choice"
    if choice.step == "label" or (choice.reason in EVEN and declines(text, choice.reason)):
        return "tie"
    kind = reply_kind(text)
    if kind == "answer":
        return "refusal" if choice.reason == "refusal" and declines(text, choice.reason) else "unread"
    return kind


def both_said(trial: Trial, read: Read, settings: JudgeOrderSettings) -> str:
    """Both choices of a pair, or why there are not two: `refused`, `tied`, or `unparsed`, which leaves the pair open.

    An empty reply is open: it may be a judge that was given too few tokens.
    """
    kinds = {said(trial.expected, read.first), said(trial.actual, read.second)}
    if "refusal" in kinds:
        return "refused"
    return "tied" if "tie" in kinds else outcome_of(read)


def said_columns(trial: Trial, read: Read, settings: JudgeOrderSettings) -> dict[str, Value]:
    """What each reply says, and whether the better answer is the judge's own."""
    return {
        "said": said(trial.expected, read.first),
        "swapped_said": said(trial.actual, read.second),
        "right_is_own": _right_is_own(trial.case.details, settings.writer),
    }


def _right_is_own(details: Mapping[str, str], writer: str | None) -> bool | None:
    """Whether the better answer is the writer's; None unless one of the two is, and not both."""
    own = [writer is not None and details.get(name) == writer for name in ("better_by", "worse_by")]
    return own[0] if own[0] != own[1] else None


def again_columns(trial: Trial, read: Read, settings: JudgeOrderSettings) -> dict[str, Value]:
    """What was chosen when the unchanged prompt was asked once more; nothing where it was not.

    Nobody is asked what that reply chooses, and no embedding decides: where rules read it not, it is compared with
    what they read in the first one.
    """
    reply = trial.expected.again
    if reply is None:
        return {}
    first, second = (_by_rules(text, trial, settings) for text in (trial.expected.text or "", reply))
    known = first is not None or second is not None
    return {"again_choice": second or "", "again_same": first == second if known else None}


def _by_rules(reply: str, trial: Trial, settings: JudgeOrderSettings) -> str | None:
    if settings.labels_are_own:
        return read_label(reply, settings).choice
    first, second = trial.case.options
    return read_words(reply, option_a=first, option_b=second, one_is_right=settings.one_is_right).choice

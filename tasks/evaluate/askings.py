"""Several askings of the same prompts: which pairs of answers differ, within one prompt and between the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Literal

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Completion, Score, Side, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.base import Embed, Probe

MOST_ASKINGS = 6
"""Askings of a case whose pairs are compared: 15 pairs of each prompt, and 36 of both."""

PairKind = Literal["before", "after", "across"]
PAIR_KINDS: tuple[PairKind, ...] = ("before", "after", "across")


@dataclass(frozen=True, slots=True)
class PairCount:
    """Pairs of answers of one case that could be compared, and those of them that differ, by their kind."""

    compared: dict[PairKind, int] = field(default_factory=lambda: dict.fromkeys(PAIR_KINDS, 0))
    changed: dict[PairKind, int] = field(default_factory=lambda: dict.fromkeys(PAIR_KINDS, 0))

    def add(self, kind: PairKind, changed: bool | None) -> None:
        """Count a pair; one of which a reply could not be read counts nowhere."""
        if changed is not None:
            self.compared[kind] += 1
            self.changed[kind] += changed

    def columns(self) -> Mapping[str, int]:
        """Return the counts by the names of their result columns."""
        return {
            name: count
            for kind in PAIR_KINDS
            for name, count in ((f"{kind}_pairs", self.compared[kind]), (f"{kind}_changed", self.changed[kind]))
        }


def count_pairs(trials: Sequence[Trial], plan: Plan, *, embed: Embed) -> list[Mapping[str, int]]:
    """Return the counts of each trial, in order: those of a case stand at its first asking, the others have none.

    Every pair of replies is scored by the test itself: two to the same prompt as a control in which nothing changed,
    one to each prompt as the case.
    """
    if not any(trial.case.repeat or trial.expected.again or trial.actual.again for trial in trials):
        return [{}] * len(trials)
    columns: list[Mapping[str, int]] = []
    chosen = probe(plan.test)
    for _, askings in groupby(trials, key=_case_name):
        group = list(askings)
        pairs = list(_pairs(group, chosen)) if not group[0].case.control else []
        count = PairCount()
        scores = chosen.score([trial for _, trial in pairs], plan.probe_settings, embed=embed) if pairs else []
        for (kind, _), score in zip(pairs, scores, strict=True):
            count.add(kind, chosen.has_changed(score) if kind == "across" else _differs(score))
        columns += [count.columns() if pairs else {}, *({} for _ in group[1:])]
    return columns


def _case_name(trial: Trial) -> tuple[str, str]:
    """Return what all askings of a case share."""
    case = trial.case
    return case.sample_id, case.id.rpartition("#")[0] if case.repeat else case.id


def _differs(score: Score) -> bool | None:
    """Return whether two replies to one prompt differ: a control passes where they do not."""
    return None if score.passed is None or score.undecided else not score.passed


def _pairs(askings: Sequence[Trial], chosen: Probe) -> Iterator[tuple[PairKind, Trial]]:
    """Yield the trials that compare two replies of a case; none where it was asked once."""
    case = askings[0].case
    replies = {side: _replies(askings, side)[:MOST_ASKINGS] for side in ("expected", "actual")}
    if case.asks != "generate" or all(len(texts) < 2 for texts in replies.values()):
        return
    sides: tuple[tuple[PairKind, Side], ...] = (("before", "expected"), ("after", "actual"))
    for kind, side in sides:
        control = chosen.same_prompt(case, side)
        for first, second in combinations(replies[side], 2):
            yield kind, Trial(case=control, expected=first, actual=second)
    for before in replies["expected"]:
        for after in replies["actual"]:
            yield "across", Trial(case=case, expected=before, actual=after)


def _replies(askings: Sequence[Trial], side: Side) -> list[Completion]:
    """Return all readable replies to one prompt of a case, those of a further asking last."""
    replies: list[Completion] = [getattr(trial, side) for trial in askings]
    again = [
        replace(reply, text=reply.again, again=None, asked_back=None, passages=None, loss=None)
        for reply in replies
        if reply.again is not None
    ]
    return [reply for reply in (*replies, *again) if not reply.is_unread]

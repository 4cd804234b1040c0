"""Score trials by comparing two answers: read both replies and decide whether the answer changed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from contrapose.tasks.core.records import Case, Score, Trial
from contrapose.tasks.core.tool_calls import are_same_calls, describe_call_difference, read_calls, split_reply
from contrapose.tasks.probes.answers.settings import (
    CALLS,
    DOCUMENTED,
    LEAST_CONTROLS,
    AnswerSettings,
    Band,
    Thresholds,
    compute_jensen_shannon,
)
from contrapose.tasks.probes.base import Embed, Value, label_options
from contrapose.tasks.probes.choices import Choice, make_read_columns, read_choice, step_of
from contrapose.tasks.probes.own_prompt import OwnLabels
from contrapose.tasks.probes.reader_questions import is_declining

_LETTER = re.compile(
    r"\W*(?:(?:the\s+)?(?:correct\s+|best\s+|right\s+|final\s+)?(?:answer|option|choice)(?:\s+is)?\W*)*[A-Za-z]\W*",
    re.IGNORECASE,
)
"""Nothing but a letter or a lettered label, such as `B`, `(B)` or `Option B`."""


class EmbeddedPair(NamedTuple):
    """Two texts to compare by their embeddings."""

    before: str
    after: str


def compute_distances(pairs: Sequence[EmbeddedPair | None], embed: Embed) -> list[float | None]:
    """Return 1 - cosine of the embeddings of each pair, 0 to 2; all texts share one call.

    None if there is no pair, a text is empty, or the value is not finite.
    """
    known = [pair if pair is not None and all(pair) else None for pair in pairs]
    texts = list(dict.fromkeys(text for pair in known if pair and pair.before != pair.after for text in pair))
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    measured: list[float | None] = []
    for pair in known:
        if pair is None or pair.before == pair.after:
            measured.append(None if pair is None else 0.0)
            continue
        first, second = vectors[pair.before], vectors[pair.after]
        norms = float(np.linalg.norm(first)) * float(np.linalg.norm(second))
        cosine = float(np.dot(first, second)) / norms if norms else float("nan")
        # A cosine above 1 is round-off.
        measured.append(1.0 - min(cosine, 1.0) if np.isfinite(cosine) else None)
    return measured


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTrial:
    """A trial together with what its two replies say."""

    trial: Trial
    before: Choice | None
    """The option that the reply to the original names; None if there are no options, or it is unreadable."""
    after: Choice | None
    """The option that the reply to the changed prompt names; None in the same cases."""
    divergence: float | None
    """Jensen-Shannon divergence of the two, in bits, 0 to 1; None if one is missing."""
    texts: EmbeddedPair
    """The texts that are embedded for the replies: the option that one names, or the reply, in lower case, stripped."""
    letters: bool
    """Whether both replies are only letters that name no option."""
    distance: float | None = None
    """1 - cosine of the texts; None if they were not embedded or are empty."""
    raw_distance: float | None = None
    """1 - cosine of the unchanged replies; None if not requested."""
    dealt_distance: float | None = None
    """1 - cosine of the reply before to another sample's reply after; None if they were not embedded."""


def interpret_trials(
    trials: Sequence[Trial], embed: Embed, *, documents: bool = False, raw: bool = False, own: OwnLabels | None = None
) -> list[ReadTrial]:
    """Return each trial with what its replies say, in order."""
    read, plain = [], []
    for trial in trials:
        case, replies = trial.case, (trial.expected, trial.actual)
        own_options = case.options, case.options_after or case.options
        before, after = (
            read_choice(reply, labels=case.labels, options=options, own=own) if options else None
            for reply, options in zip(replies, own_options, strict=True)
        )
        words = EmbeddedPair(*((reply.text or "").lower().strip() for reply in replies))
        plain.append(words if raw and case.details.get("likelihoods") in ("none", "choices") else None)
        named = (
            options[choice.index].lower().strip() if choice else None
            for choice, options in zip((before, after), own_options, strict=True)
        )
        texts = EmbeddedPair(*(text if name is None else name for name, text in zip(named, words, strict=True)))
        letters = before is None and after is None and all(_LETTER.fullmatch(text) for text in texts)
        bits = compute_choice_divergence(before, after)
        read.append(ReadTrial(trial=trial, before=before, after=after, divergence=bits, texts=texts, letters=letters))
    if not (documents or any(trial.case.scorer in ("embedding", CALLS) for trial in trials)):
        return read
    pairs = [None if reading.letters or _is_tool_call(reading.trial) else reading.texts for reading in read]
    measured, size = compute_distances([*pairs, *plain, *pair_with_next_sample(trials, pairs)], embed), len(read)
    parts = zip(read, measured[:size], measured[size : 2 * size], measured[2 * size :], strict=True)
    return [
        replace(reading, distance=own, raw_distance=raw, dealt_distance=dealt) for reading, own, raw, dealt in parts
    ]


def _is_tool_call(trial: Trial) -> bool:
    """Return whether a reply of the trial calls a tool: then the calls are compared, not the words."""
    replies = (trial.expected, trial.actual)
    return trial.case.scorer == CALLS and any(split_reply(reply.text).calls for reply in replies)


def compute_choice_divergence(before: Choice | None, after: Choice | None) -> float | None:
    """Return the Jensen-Shannon divergence of two choices, in bits, 0 to 1; None if one is missing."""
    if before is None or after is None:
        return None
    return float(compute_jensen_shannon(np.array([before.shares]), np.array([after.shares]))[0])


def pair_with_next_sample(trials: Sequence[Trial], pairs: Sequence[EmbeddedPair | None]) -> list[EmbeddedPair | None]:
    """Pair each first reply with the next sample's second reply, as if the model ignored its prompt.

    A control goes with the next control. They are the texts of the pairs themselves, and cost no embedding more.
    """
    dealt: list[EmbeddedPair | None] = [None] * len(pairs)
    for control in (False, True):
        known = [
            (place, pair)
            for place, (trial, pair) in enumerate(zip(trials, pairs, strict=True))
            if pair and trial.case.scorer == "embedding" and trial.case.control is control
        ]
        for (place, pair), (_, other) in zip(known, [*known[1:], *known[:1]], strict=True):
            dealt[place] = EmbeddedPair(pair.before, other.after) if len(known) > 1 else None
    return dealt


Columns = dict[str, Value]


class ScoredChange(NamedTuple):
    """The result of a scorer for one trial: score, whether the answer changed, and the reason."""

    value: float | None
    """The eval_score; None when it cannot be computed."""
    changed: bool | None
    """Whether the answer changed; None when that is unknown."""
    reason: str


def score_trials(
    trials: Sequence[Trial], settings: AnswerSettings, *, embed: Embed, stays: bool = False, langtest: bool = False
) -> list[Score]:
    """Return one score per trial, in order; all texts that need embeddings share one call."""
    documents, own = settings.documents_scores, settings.own_labels
    read = interpret_trials(trials, embed, documents=documents, raw=langtest, own=own)
    return [_make_score(reading, settings, stays=stays, langtest=langtest) for reading in read]


def _make_score(reading: ReadTrial, settings: AnswerSettings, *, stays: bool, langtest: bool) -> Score:
    """Return the score with its columns; `answer_changed` is the same whether or not it should change."""
    trial, case = reading.trial, reading.trial.case
    band = settings.band(case.scorer)
    keeps = stays or case.control
    value, changed, reason = apply_scorer(reading, band)
    columns = {
        **make_choice_columns(reading),
        **make_right_columns(reading),
        "embedding_score": reading.distance,
        "loss_score": _subtract(trial.actual.loss, trial.expected.loss) if case.loss_of == "expected_result" else None,
        "letters_only": reading.letters if case.scorer == "embedding" else None,
    }
    if langtest:
        columns |= make_langtest_columns(reading)
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
        label_options(options[choice.index : choice.index + 1], case.labels[choice.index : choice.index + 1])
        if choice is not None and case.scorer == "choice" and changed is not None
        else None
        for choice, options in ((reading.before, case.options), (reading.after, case.options_after or case.options))
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


def apply_scorer(reading: ReadTrial, band: Band | None) -> ScoredChange:
    """Apply the scorer of the case, as `answer_probe.EXPLANATIONS` describes it; losses are in nats per token.

    `loss` is that of the old reply given the perturbed prompt - given the original one; `langtest_loss`, LangTest's
    formula, that of the original prompt - that of the perturbed one.
    """
    trial, scorer = reading.trial, reading.trial.case.scorer
    if scorer == CALLS and (judged := _compare_tool_calls(reading)) is not None:
        return judged
    if band is None:
        few = f"fewer than {LEAST_CONTROLS} samples have a control that was scored"
        return _leave_open(f"there is no noise band for the scorer {scorer}: {few}")
    if scorer == "choice":
        return _compare_choices(reading, band[1])
    if scorer in ("embedding", CALLS):
        for text, prompt in zip(reading.texts, ("original", "perturbed"), strict=True):
            if not text:
                return _leave_open(f"the reply to the {prompt} prompt is empty")
        if reading.letters:
            return _leave_open("both replies are mere letters, whose embeddings mean nothing")
        value, what = reading.distance, "1 - cosine similarity of the replies"
    else:
        before, after = trial.expected.loss, trial.actual.loss
        if before is None or after is None:
            return _leave_open("a loss is missing, as after an empty reply")
        value, what = after - before, "change in loss of the old reply"
        if scorer == "langtest_loss":
            value, what = before - after, "difference of the prompts' losses"
    if value is None or not math.isfinite(value):
        return _leave_open(f"the {what} is not a finite number")
    lower, upper = band
    changed = not lower <= value <= upper
    place = "outside" if changed else "inside"
    return ScoredChange(value, changed, f"{what} {value:.4f} is {place} [{lower:g}, {upper:g}]")


def _compare_tool_calls(reading: ReadTrial) -> ScoredChange | None:
    """Compare the tool calls of both replies; None if neither calls a tool, then their texts are compared."""
    first, second = (split_reply(reply.text) for reply in (reading.trial.expected, reading.trial.actual))
    if not first.calls and not second.calls:
        return None
    ordered = first.ordered or second.ordered
    if are_same_calls(first.calls, second.calls, ordered=ordered):
        words = "" if first.text.split() == second.text.split() else ", in other words"
        return ScoredChange(0.0, False, f"both replies make the same calls{words}")
    return ScoredChange(
        1.0, True, f"other calls: {describe_call_difference(first.calls, second.calls, ordered=ordered)}"
    )


def _compare_choices(reading: ReadTrial, upper: float) -> ScoredChange:
    trial, before, after, value = reading.trial, reading.before, reading.after, reading.divergence
    case = trial.case
    if before is None or after is None or value is None:
        text = reading.texts.before
        # Whatever option "C. carbon" means that is no option, the answer stayed.
        is_label = any(text.startswith(f"{label.lower()}. ") for label in case.labels)
        if not case.control and text == reading.texts.after and is_label:
            return ScoredChange(0.0, False, "both replies are the same letter with the same text, which is no option")
        prompt, reply = ("original", trial.expected) if before is None else ("perturbed", trial.actual)
        if is_declining(reply.text or ""):
            return _leave_open(f"the reply to the {prompt} prompt declines to choose, or says that it does not know")
        return _leave_open(f"no option can be read from the reply to the {prompt} prompt")
    first, second = case.labels[before.index], case.labels[after.index]
    if before.index != after.index:
        return ScoredChange(value, True, f"the chosen option changed from {first} to {second}")
    relation = "exceeds" if value > upper else "does not exceed"
    reason = f"the chosen option stayed {first}; the divergence {value:.4f} {relation} {upper:g}"
    return ScoredChange(value, value > upper, reason)


def _leave_open(reason: str) -> ScoredChange:
    return ScoredChange(None, None, reason)


def make_right_columns(reading: ReadTrial) -> Columns:
    """Return `right_before`, `gold_lost` and `right_logprob_change`; empty if the right answer is unknown."""
    trial, case = reading.trial, reading.trial.case
    if not case.answers:
        return {}
    chosen = [None if choice is None else choice.index for choice in (reading.before, reading.after)]
    texts = trial.expected.text, trial.actual.text
    # Of a reply that names no option it is not known whether it is right, whatever words it holds.
    before, after = (
        is_right_reply(case, text, index) if index is not None or (read and not case.options) else None
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


def is_right_reply(case: Case, reply: str | None, chosen: int | None) -> bool:
    """Return whether a reply names an accepted option or, if it names no option, contains an accepted text."""
    if calls := split_reply(reply).calls:
        return any(are_same_calls(read_calls(answer), calls, ordered=False) for answer in case.answers)
    if chosen is not None:
        return case.options[chosen].strip() in {answer.strip() for answer in case.answers}
    said = " ".join((reply or "").casefold().split())
    return any(contains_phrase(said, " ".join(answer.casefold().split())) for answer in case.answers)


def contains_phrase(text: str, phrase: str) -> bool:
    """Return whether a text contains a phrase that is not part of a longer word."""
    return any(
        not (left[-1:].isalnum() and phrase[:1].isalnum()) and not (right[:1].isalnum() and phrase[-1:].isalnum())
        for left, right in pairwise(text.split(phrase))
    )


def make_choice_columns(reading: ReadTrial) -> Columns:
    """Return columns of the chosen options, for every scorer; empty if the case has no options."""
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
        **make_read_columns(trial, before, changed=case.options_after or case.options),
    }


def _subtract(first: float | None, second: float | None) -> float | None:
    """Return `first - second`; None if one is missing or the result is not finite."""
    value = math.nan if first is None or second is None else first - second
    return value if math.isfinite(value) else None


def make_langtest_columns(reading: ReadTrial) -> Columns:
    """Return LangTest's score, and whether it lies outside the closed interval from LangTest's documents.

    The score of a local model is the loss of the original prompt - the loss of the changed one. For a model behind an
    API it is 1 - cosine of the unchanged replies, even if they are letters without a meaning. None if it is unknown.
    """
    trial = reading.trial
    score = reading.raw_distance
    if trial.case.loss_of == "prompt":
        score = _subtract(trial.expected.loss, trial.actual.loss)
    lower, upper = DOCUMENTED
    return {"langtest_score": score, "langtest_pass": None if score is None else not lower <= score <= upper}

"""What the two replies of a trial say, before anything is judged, and how far apart they lie as embeddings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from contrapose.tasks.core.records import Completion, FollowUp, Trial
from contrapose.tasks.probes.answers.case import jensen_shannon
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.choices import Choice, about, read_choice
from contrapose.tasks.probes.own_prompt import OwnLabels

_LETTER = re.compile(
    r"\W*(?:(?:the\s+)?(?:correct\s+|best\s+|right\s+|final\s+)?(?:answer|option|choice)(?:\s+is)?\W*)*[A-Za-z]\W*",
    re.IGNORECASE,
)


class EmbeddedPair(NamedTuple):
    """Two texts to compare."""

    before: str
    after: str


def reply_text(completion: Completion, choice: Choice | None, options: Sequence[str]) -> str:
    """What is embedded for a reply: the option that it names, or the reply, in lower case and stripped."""
    return ((completion.text or "") if choice is None else options[choice.index]).lower().strip()


def _raw_pair(trial: Trial) -> EmbeddedPair | None:
    """Both replies as they are, in lower case and stripped; None where the model gives likelihoods of texts."""
    if trial.case.details.get("likelihoods") not in ("none", "choices"):
        return None
    return EmbeddedPair(*((completion.text or "").lower().strip() for completion in (trial.expected, trial.actual)))


def letters_only(pair: EmbeddedPair) -> bool:
    """Whether both texts are nothing but a letter or a lettered label, such as `B`, `(B)` or `Option B`."""
    return all(_LETTER.fullmatch(text) for text in pair)


def distances(pairs: Sequence[EmbeddedPair | None], embed: Embed) -> list[float | None]:
    """1 - cosine of each pair, 0 to 2; all texts go through one call.

    Returns:
        0 for the same text twice; None for no pair, for one with an empty text, and where it is no finite number.
    """
    known = [pair if pair is not None and all(pair) else None for pair in pairs]
    texts = list(dict.fromkeys(text for pair in known if pair and pair.before != pair.after for text in pair))
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    return [None if pair is None else _distance(pair, vectors) for pair in known]


def _distance(pair: EmbeddedPair, vectors: Mapping[str, np.ndarray]) -> float | None:
    if pair.before == pair.after:
        return 0.0
    first, second = vectors[pair.before], vectors[pair.after]
    norms = float(np.linalg.norm(first)) * float(np.linalg.norm(second))
    cosine = float(np.dot(first, second)) / norms if norms else float("nan")
    # A cosine above 1 is round-off.
    return None if not np.isfinite(cosine) else 1.0 - min(cosine, 1.0)


Choices = tuple[Choice | None, Choice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A trial with what its replies say."""

    trial: Trial
    """The trial."""
    before: Choice | None
    """The option that the reply to the original names; None where there are no options, or it cannot be read."""
    after: Choice | None
    """The option that the reply to the changed prompt names; None in the same cases."""
    divergence: float | None
    """Jensen-Shannon divergence of the two, in bits, 0 to 1; None where one is missing."""
    texts: EmbeddedPair
    """What is embedded for the replies."""
    letters: bool
    """Whether both replies are nothing but letters that stand for no option."""
    distance: float | None = None
    """1 - cosine of the texts; None where they were not embedded or tell nothing."""
    raw_distance: float | None = None
    """1 - cosine of the replies as they are; None where nobody asked."""
    dealt_distance: float | None = None
    """1 - cosine of the reply before to another sample's reply after; None where they were not embedded."""


def readings(
    trials: Sequence[Trial],
    embed: Embed,
    *,
    documents: bool = False,
    raw: bool = False,
    own: OwnLabels | None = None,
) -> list[Reading]:
    """A reading per trial, in order.

    Args:
        trials: to read.
        embed: texts to vectors; called once, and only where a case is scored by embedding or `documents` is set.
        documents: embed the replies of other cases too.
        raw: embed the replies of models without text likelihoods also as they are.
        own: how replies are read that name labels of a prompt of one's own.
    """
    choices = [(_choice(trial.expected, trial, own), _choice(trial.actual, trial, own)) for trial in trials]
    read = [_reading(*parts) for parts in zip(trials, choices, divergences(choices), strict=True)]
    if not (documents or any(trial.case.scorer == "embedding" for trial in trials)):
        return read
    pairs = [None if reading.letters else reading.texts for reading in read]
    as_they_are = [_raw_pair(trial) if raw else None for trial in trials]
    measured = distances([*pairs, *as_they_are, *_dealt(trials, pairs)], embed)
    size = len(read)
    return [
        replace(reading, distance=distance, raw_distance=raw_distance, dealt_distance=dealt)
        for reading, distance, raw_distance, dealt in zip(
            read, measured[:size], measured[size : 2 * size], measured[2 * size :], strict=True
        )
    ]


def _dealt(trials: Sequence[Trial], pairs: Sequence[EmbeddedPair | None]) -> list[EmbeddedPair | None]:
    """Each reply before with the reply after of the next sample: what a model would say that ignores its prompt.

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


def follow_ups(trials: Sequence[Trial]) -> list[FollowUp]:
    """Questions about replies whose choice is what is scored."""
    chosen = (trial for trial in trials if trial.case.scorer == "choice")
    return [question for trial in chosen for question in about(trial, changed=trial.case.options)]


def divergences(pairs: Sequence[Choices]) -> list[float | None]:
    """Jensen-Shannon divergence of each pair of choices, in bits, 0 to 1; None where one is missing."""
    bits: list[float | None] = [None] * len(pairs)
    sizes: dict[int, list[int]] = {}
    for place, (before, after) in enumerate(pairs):
        if before is not None and after is not None:
            sizes.setdefault(len(before.shares), []).append(place)
    for places in sizes.values():
        shares = np.array([[choice.shares for choice in pairs[place] if choice is not None] for place in places])
        for place, value in zip(places, jensen_shannon(shares[:, 0], shares[:, 1]).tolist(), strict=True):
            bits[place] = value
    return bits


def _choice(completion: Completion, trial: Trial, own: OwnLabels | None) -> Choice | None:
    case = trial.case
    return read_choice(completion, labels=case.labels, options=case.options, own=own) if case.options else None


def _reading(trial: Trial, choices: Choices, divergence: float | None) -> Reading:
    (before, after), options = choices, trial.case.options
    texts = EmbeddedPair(reply_text(trial.expected, before, options), reply_text(trial.actual, after, options))
    letters = before is None and after is None and letters_only(texts)
    return Reading(trial=trial, before=before, after=after, divergence=divergence, texts=texts, letters=letters)

"""What the two replies of a trial say, before anything is judged, and how far apart they lie as embeddings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from contrapose.tasks.core.records import FollowUp, Trial
from contrapose.tasks.probes.answers.case import jensen_shannon
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.choices import Choice, choice_follow_ups, read_choice
from contrapose.tasks.probes.own_prompt import OwnLabels

_LETTER = re.compile(
    r"\W*(?:(?:the\s+)?(?:correct\s+|best\s+|right\s+|final\s+)?(?:answer|option|choice)(?:\s+is)?\W*)*[A-Za-z]\W*",
    re.IGNORECASE,
)
"""Nothing but a letter or a lettered label, such as `B`, `(B)` or `Option B`."""


class EmbeddedPair(NamedTuple):
    """Two texts to compare."""

    before: str
    after: str


def distances(pairs: Sequence[EmbeddedPair | None], embed: Embed) -> list[float | None]:
    """Return 1 - cosine of each pair, 0 to 2; all texts go through one call.

    Returns:
        0 for the same text twice; None for no pair, for one with an empty text, and where it is no finite number.
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
    """The texts that are embedded for the replies: the option that one names, or the reply, in lower case, stripped."""
    letters: bool
    """Whether both replies are nothing but letters that stand for no option."""
    distance: float | None = None
    """1 - cosine of the texts; None where they were not embedded or say nothing."""
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
    """Return a reading per trial, in order.

    Args:
        trials: to read.
        embed: texts to vectors; called once, and only where a case is scored by embedding or `documents` is set.
        documents: embed the replies of other cases too.
        raw: embed the replies of models without text likelihoods also as they are.
        own: labels of a prompt of one's own, which replies name.
    """
    read, plain = [], []
    for trial in trials:
        case, replies = trial.case, (trial.expected, trial.actual)
        before, after = (
            read_choice(reply, labels=case.labels, options=case.options, own=own) if case.options else None
            for reply in replies
        )
        words = EmbeddedPair(*((reply.text or "").lower().strip() for reply in replies))
        plain.append(words if raw and case.details.get("likelihoods") in ("none", "choices") else None)
        named = (case.options[choice.index].lower().strip() if choice else None for choice in (before, after))
        texts = EmbeddedPair(*(text if name is None else name for name, text in zip(named, words, strict=True)))
        letters = before is None and after is None and all(_LETTER.fullmatch(text) for text in texts)
        read.append(Reading(trial=trial, before=before, after=after, divergence=None, texts=texts, letters=letters))
    bits = divergences([(reading.before, reading.after) for reading in read])
    read = [replace(reading, divergence=value) for reading, value in zip(read, bits, strict=True)]
    if not (documents or any(trial.case.scorer == "embedding" for trial in trials)):
        return read
    pairs = [None if reading.letters else reading.texts for reading in read]
    measured, size = distances([*pairs, *plain, *deal_replies(trials, pairs)], embed), len(read)
    return [
        replace(
            reading,
            distance=measured[place],
            raw_distance=measured[size + place],
            dealt_distance=measured[2 * size + place],
        )
        for place, reading in enumerate(read)
    ]


def deal_replies(trials: Sequence[Trial], pairs: Sequence[EmbeddedPair | None]) -> list[EmbeddedPair | None]:
    """Pair each reply before with the reply after of the next sample: a model that ignores its prompt would say that.

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


def divergences(pairs: Sequence[Choices]) -> list[float | None]:
    """Return the Jensen-Shannon divergence of each pair of choices, in bits, 0 to 1; None where one is missing."""
    bits: list[float | None] = [None] * len(pairs)
    known = {place: (first.shares, second.shares) for place, (first, second) in enumerate(pairs) if first and second}
    for size in {len(first) for first, _ in known.values()}:
        places = [place for place, (first, _) in known.items() if len(first) == size]
        shares = np.array([known[place] for place in places])
        for place, value in zip(places, jensen_shannon(shares[:, 0], shares[:, 1]).tolist(), strict=True):
            bits[place] = value
    return bits


def follow_ups(trials: Sequence[Trial]) -> list[FollowUp]:
    """Return questions about replies whose choice is what is scored."""
    chosen = (trial for trial in trials if trial.case.scorer == "choice")
    return [question for trial in chosen for question in choice_follow_ups(trial, changed=trial.case.options)]

"""Replies as embeddings: which text stands for a reply, and how far two texts lie apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.choices import Choice
from contrapose.tasks.records import Completion, Trial

_LETTER = re.compile(
    r"\W*(?:(?:the\s+)?(?:correct\s+|best\s+|right\s+|final\s+)?(?:answer|option|choice)(?:\s+is)?\W*)*[A-Za-z]\W*",
    re.IGNORECASE,
)


class Pair(NamedTuple):
    """Two texts to compare."""

    before: str
    after: str


def reply_text(completion: Completion, choice: Choice | None, options: Sequence[str]) -> str:
    """What is embedded for a reply: the option that it names, or the reply, in lower case and stripped."""
    return ((completion.text or "") if choice is None else options[choice.index]).lower().strip()


def raw_pair(trial: Trial) -> Pair:
    """Both replies as they are, in lower case and stripped."""
    return Pair(*((each.text or "").lower().strip() for each in (trial.expected, trial.actual)))


def letters_only(pair: Pair) -> bool:
    """Whether both texts are nothing but a letter or a lettered label, such as `B`, `(B)` or `Option B`."""
    return all(_LETTER.fullmatch(text) for text in pair)


def distances(pairs: Sequence[Pair | None], embed: Embed) -> list[float | None]:
    """1 - cosine of each pair, 0 to 2; all texts go through one call.

    Returns:
        0 for the same text twice; None for no pair, for one with an empty text, and where it is no finite number.
    """
    known = [pair if pair is not None and all(pair) else None for pair in pairs]
    texts = list(dict.fromkeys(text for pair in known if pair and pair.before != pair.after for text in pair))
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    return [None if pair is None else _distance(pair, vectors) for pair in known]


def _distance(pair: Pair, vectors: Mapping[str, np.ndarray]) -> float | None:
    if pair.before == pair.after:
        return 0.0
    first, second = vectors[pair.before], vectors[pair.after]
    norms = float(np.linalg.norm(first)) * float(np.linalg.norm(second))
    cosine = float(np.dot(first, second)) / norms if norms else float("nan")
    # A cosine above 1 is round-off.
    return None if not np.isfinite(cosine) else 1.0 - min(cosine, 1.0)

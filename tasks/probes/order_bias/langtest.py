"""How LangTest 2.7 judges a pair of replies: by letter patterns, then by embeddings.

Source: LangTest 2.7.0, `FactualitySample._is_eval` in langtest/utils/custom_types/sample.py.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from contrapose.tasks.core.records import Trial
from contrapose.tasks.probes.base import Embed

_LETTERS = ("A", "B", "a", "b", "ab", "ba")
_NAMED = {letter: re.compile(rf"Answer {letter}|Summary {letter}", re.IGNORECASE) for letter in "ab"}
_FIRST = {letter: re.compile(rf"{letter}[.?!,:\n]", re.IGNORECASE) for letter in "ab"}
_BOTH = re.compile(r"(?:Answer|Summary) (?:A or B|B or A|A and B|B and A)|Both", re.IGNORECASE)
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def verdicts(trials: Sequence[Trial], *, threshold: float, embed: Embed) -> list[bool | None]:
    """Whether LangTest passes each pair of replies; None where a reply is missing or may not be embedded.

    Args:
        trials: pairs; the first option is the right summary. Replies are embedded where the scorer is `reply`.
        threshold: cosine to the right summary above which LangTest accepts a reply without a letter.
        embed: texts to unit vectors; called once, and only for replies without a letter.
    """
    doubts = [_doubts(trial.expected.text, trial.actual.text) for trial in trials]
    pairs = [
        (reply, trial.case.options[0])
        for trial, replies in zip(trials, doubts, strict=True)
        for reply in replies or ()
        if reply is not None and trial.case.scorer == "reply"
    ]
    cosines: dict[tuple[str | None, str], float] = {}
    if pairs:
        vectors = embed([text for pair in pairs for text in pair])
        cosines.update(zip(pairs, (vectors[::2] * vectors[1::2]).sum(axis=1), strict=True))
    return [
        False if replies is None else _all_above(threshold, [cosines.get((reply, right)) for reply in replies])
        for right, replies in zip((trial.case.options[0] for trial in trials), doubts, strict=True)
    ]


def _all_above(threshold: float, cosines: Sequence[float | None]) -> bool | None:
    known = [cosine > threshold for cosine in cosines if cosine is not None]
    return all(known) if len(known) == len(cosines) else None


def _doubts(first: str | None, second: str | None) -> Sequence[str | None] | None:
    """The replies without the right letter, on which embeddings decide; None where the pair fails without them."""
    if first is None or second is None:
        return (None,)
    first, second = first.strip(), second.strip()
    letters = [_letters(reply) for reply in (first, second)]
    if all(found in _LETTERS for found in letters):
        return () if [found.lower() for found in letters] == ["a", "b"] else None
    if _is_tie(first) or _is_tie(second) or _names("b", first) or _names("a", second):
        return None
    return [reply for letter, reply in (("a", first), ("b", second)) if not _names(letter, reply)]


def _letters(reply: str) -> str:
    return "".join(filter(str.isalnum, reply))


def _is_tie(reply: str) -> bool:
    words = reply.translate(_WITHOUT_PUNCTUATION)
    return bool(_BOTH.search(words) or all(named.search(words) for named in _NAMED.values()))


def _names(letter: str, reply: str) -> bool:
    words = reply.translate(_WITHOUT_PUNCTUATION)
    return bool(_letters(reply).lower() == letter or _NAMED[letter].search(words) or _FIRST[letter].match(reply))

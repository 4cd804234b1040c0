"""Typing errors: a neighbouring key, two letters swapped, one doubled or one lost."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from pydantic import Field

from contrapose.tasks.language import closed, vocabulary
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.sentence import Edit, apply
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import NEEDS_ENGLISH, Edited, TextEdit

_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{5,}(?![\w'’-])")
_SPARED = words(
    """
    false hundred thousand million billion trillion thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    thirty forty fifty sixty seventy eighty ninety
    """
)
"""Numbers, and the label "True or false"."""
_TRIES = 12
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    letter: "".join(row[max(0, i - 1) : i] + row[i + 1 : i + 2]) for row in _ROWS for i, letter in enumerate(row)
}


class TypoSettings(AnswerSettings):
    """How many words are mistyped."""

    rate: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="Share of the content words of five letters or more that are mistyped; at least one.",
    )


class Typo(TextEdit):
    """Mistypes some long words; passes when the answer stays."""

    name: ClassVar[str] = "typo"
    category: ClassVar[str] = "robustness"
    version: ClassVar[str] = "6"
    summary: ClassVar[str] = "Mistypes some words; the answer should stay."
    settings_type: ClassVar[type[TypoSettings]] = TypoSettings
    stays: ClassVar[bool] = True
    controlled: ClassVar[bool] = False
    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_ENGLISH,
        "no_long_word": "without a word of five letters or more that may be mistyped",
        "no_safe_typo": "where every typo that was tried made another word",
    }

    def edit(self, text: str, settings: TypoSettings, *, rng: random.Random) -> Edited:
        """Make one error in each of some words; names, numbers and first letters are left alone."""
        # A content word and no name: with a capital it may be one, even where a sentence starts.
        spared = _SPARED | closed.table().keys()
        places = [word for word in _WORD.finditer(text) if word[0].islower() and word[0] not in spared]
        if not places:
            return Edited(reason="no_long_word")
        chosen = rng.sample(places, max(1, round(settings.rate * len(places))))
        wrong = [(word, _mistype(word[0], rng)) for word in chosen]
        edits = [Edit(word.start(), word.end(), new) for word, new in wrong if new is not None]
        return Edited(text=apply(text, edits), confidence="high") if edits else Edited(reason="no_safe_typo")


def _mistype(word: str, rng: random.Random) -> str | None:
    """Return the word with one error behind its first letter that makes no other word; None when none is found."""
    known = vocabulary.vocabulary().flags
    for _ in range(_TRIES):
        wrong = rng.choice(_KINDS)(word, rng.randrange(1, len(word) - 1), rng)
        if wrong != word and wrong not in known:
            return wrong
    return None


def _neighbour(word: str, at: int, rng: random.Random) -> str:
    near = _NEIGHBOURS.get(word[at], "")
    return word[:at] + rng.choice(near) + word[at + 1 :] if near else word


_KINDS: tuple[Callable[[str, int, random.Random], str], ...] = (
    _neighbour,
    lambda word, at, rng: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    lambda word, at, rng: word[:at] + word[at] + word[at:],
    lambda word, at, rng: word[:at] + word[at + 1 :],
)
"""A neighbouring key; two letters swapped, one doubled, one lost."""

"""Typing errors: a neighbouring key, two letters swapped, one doubled or one lost."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import Edited, TextEdit
from contrapose.tasks.probes.english.edits import Edit, apply

_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{5,}(?![\w'’-])")
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
        description="Share of the words of five letters or more that are mistyped; at least one.",
    )


class Typo(TextEdit):
    """Mistypes some long words; passes when the answer stays."""

    name: ClassVar[str] = "typo"
    category: ClassVar[str] = "robustness"
    summary: ClassVar[str] = "Mistypes some words; the answer should stay."
    settings_type: ClassVar[type[TypoSettings]] = TypoSettings
    stays: ClassVar[bool] = True

    def edit(self, text: str, settings: TypoSettings, *, rng: random.Random) -> Edited:
        """One error in each of some words; names, numbers and first letters are left alone."""
        words = [found for found in _WORD.finditer(text) if found[0].islower() or _opens_sentence(text, found.start())]
        if not words:
            return Edited(reason="no_long_word")
        count = max(1, round(settings.rate * len(words)))
        chosen = rng.sample(words, count)
        edits = [Edit(found.start(), found.end(), _mistyped(found[0], rng)) for found in chosen]
        return Edited(text=apply(text, edits), confidence="high")


def _opens_sentence(text: str, start: int) -> bool:
    """Whether a capital here says nothing about the word: it is the first of its sentence."""
    return text[start + 1].islower() and (start == 0 or text[:start].rstrip()[-1:] in ("", ".", "!", "?", ":", '"'))


def _mistyped(word: str, rng: random.Random) -> str:
    """The word with one error behind its first letter; another kind of error where the first gives the same word."""
    kinds: list[Callable[[str, int, random.Random], str]] = [_neighbour, _swapped, _doubled, _lost]
    rng.shuffle(kinds)
    at = rng.randrange(1, len(word) - 1)
    return next(wrong for kind in kinds if (wrong := kind(word, at, rng)) != word)


def _neighbour(word: str, at: int, rng: random.Random) -> str:
    near = _NEIGHBOURS.get(word[at], "")
    return word[:at] + rng.choice(near) + word[at + 1 :] if near else word


def _swapped(word: str, at: int, rng: random.Random) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _doubled(word: str, at: int, rng: random.Random) -> str:
    return word[:at] + word[at] + word[at:]


def _lost(word: str, at: int, rng: random.Random) -> str:
    return word[:at] + word[at + 1 :]

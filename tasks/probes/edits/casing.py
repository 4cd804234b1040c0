"""The same words in other letters: capitals, small letters, or the first letter changed."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import NEEDS_OPTIONS, Edited, TextEdit

_SYMBOL = re.compile(r"\b(?:[A-Z]{2,}|\d+ ?[^\W\d_]{1,3})\b|\b(?:[A-Z]\.){2,}")
"""An acronym, or a number with its unit: letters whose size may mean something."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class CasingSettings(AnswerSettings):
    """Which letters become capital or small."""

    style: Literal["lower", "upper", "title", "first"] = Field(
        default="lower",
        description="lower: all small, which people type most; upper: all capital; title: every word capital; "
        "first: the first letter of the text, the other way round.",
    )


class Casing(TextEdit):
    """Changes capital and small letters only; passes when the answer stays.

    Capitals carry meaning in acronyms and units ("US", "us"; "MW", "mW"): a text that holds one has medium confidence.
    """

    name: ClassVar[str] = "casing"
    version: ClassVar[str] = "6"
    category: ClassVar[str] = "robustness"
    summary: ClassVar[str] = "Writes the text in small or capital letters; the answer should stay."
    settings_type: ClassVar[type[CasingSettings]] = CasingSettings
    stays: ClassVar[bool] = True
    controlled: ClassVar[bool] = False
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_OPTIONS,
        "same_letters": "in these letters already, or without letters that have a case",
    }

    def edit(self, text: str, settings: CasingSettings, *, rng: random.Random) -> Edited:
        """Return the text in the other letters; nothing in it is random."""
        changed, first = text, _WORD.search(text)
        if settings.style == "upper":
            changed = text.upper()
        elif settings.style == "lower":
            changed = text.lower()
        elif settings.style == "title":
            changed = _WORD.sub(lambda word: word[0][0].upper() + word[0][1:], text)
        elif first is not None:
            at = first.start()
            changed = text[:at] + text[at].swapcase() + text[at + 1 :]
        if changed == text:
            return Edited(reason="same_letters")
        symbol = settings.style != "first" and _SYMBOL.search(text)
        return Edited(text=changed, confidence="medium" if symbol else "high")

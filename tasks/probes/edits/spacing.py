"""White space and punctuation as careless typing leaves them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from contrapose.tasks.language.sentence import Edit, apply
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import NEEDS_OPTIONS, Edited, TextEdit

SpacingKind = Literal["double", "before_mark", "trailing", "no_stop", "quotes", "tab", "newline"]
_GAP = re.compile(r"(?<=\S) (?=\S)")
_MARK = re.compile(r"(?<=\w)[,;:.!?](?=\s|$)")
_STOP = re.compile(r"(?<!\.)(?<!\.\w)\.(?=\s*\Z)")
"""A full stop that is no part of an ellipsis or of "U.S."."""
_STRAIGHT = re.compile(r"(?<=\w)'(?=\w)")
_CURLY = re.compile(r"(?<=\w)\u2019(?=\w)")
_STRAIGHT_PAIR = re.compile(r'(?<!\w)"([^"\n“”]*)"(?!\w)')
_CURLY_PAIR = re.compile(r"“([^\"\n“”]*)”")


class SpacingSettings(AnswerSettings):
    """Which carelessness is allowed."""

    kinds: tuple[SpacingKind, ...] = Field(
        default=("double", "before_mark", "trailing", "no_stop", "quotes", "tab", "newline"),
        min_length=1,
        description="double: a space twice; before_mark: a space before a punctuation mark; trailing: spaces at the "
        "end; no_stop: the last full stop missing; quotes: the other kind of apostrophe and quotation mark; "
        "tab, newline: one in place of a space.",
    )


class Spacing(TextEdit):
    """Changes white space and punctuation in one way; passes when the answer stays."""

    name: ClassVar[str] = "spacing"
    version: ClassVar[str] = "6"
    category: ClassVar[str] = "robustness"
    summary: ClassVar[str] = "Changes white space or punctuation; the answer should stay."
    settings_type: ClassVar[type[SpacingSettings]] = SpacingSettings
    stays: ClassVar[bool] = True
    controlled: ClassVar[bool] = False
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_OPTIONS,
        "empty": "without a word",
        "no_place": "without a place for any of these changes",
    }

    def edit(self, text: str, settings: SpacingSettings, *, rng: random.Random) -> Edited:
        """Make one of the allowed changes, drawn among those that the text has room for."""
        if not text.strip():
            return Edited(reason="empty")
        kinds = [_KINDS[kind] for kind in dict.fromkeys(settings.kinds)]
        rng.shuffle(kinds)
        changed = next((new for kind in kinds if (new := kind(text, rng)) != text), None)
        return Edited(reason="no_place") if changed is None else Edited(text=changed, confidence="high")


def _double(text: str, rng: random.Random) -> str:
    gaps = list(_GAP.finditer(text))
    chosen = rng.sample(gaps, max(1, len(gaps) // 4)) if gaps else []
    return apply(text, [Edit(gap.start(), gap.end(), "  ") for gap in chosen])


def _before_mark(text: str, rng: random.Random) -> str:
    marks = list(_MARK.finditer(text))
    return apply(text, [Edit(mark.start(), mark.start(), " ") for mark in rng.sample(marks, min(1, len(marks)))])


def _quotes(text: str, rng: random.Random) -> str:
    curly = _STRAIGHT_PAIR.sub(r"“\1”", _STRAIGHT.sub("\u2019", text))
    return curly if curly != text else _CURLY_PAIR.sub(r'"\1"', _CURLY.sub("'", text))


def _one_gap(text: str, new: str, rng: random.Random) -> str:
    gaps = list(_GAP.finditer(text))
    return apply(text, [Edit(*rng.choice(gaps).span(), new)]) if gaps else text


_KINDS: dict[SpacingKind, Callable[[str, random.Random], str]] = {
    "double": _double,
    "before_mark": _before_mark,
    "trailing": lambda text, rng: text + " " * rng.randint(1, 3),
    "no_stop": lambda text, rng: _STOP.sub("", text),
    "quotes": _quotes,
    "tab": lambda text, rng: _one_gap(text, "\t", rng),
    "newline": lambda text, rng: _one_gap(text, "\n", rng),
}

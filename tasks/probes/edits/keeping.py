"""Tests of one function each, which writes a text otherwise and keeps what it asks: the answer should stay."""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

from pydantic import Field

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.language.sentence import Edit, apply
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import NEEDS_ENGLISH, Edited, TextEdit

KEEPS_WORDS: Mapping[str, str] = {
    **NEEDS_ENGLISH,
    "words_matter": "about words, letters or the text itself, or with code",
}
"""Skip reasons of the edits of words."""
_ABOUT_WORDS = re.compile(
    r"\b(?:spell(?:s|ed|ing|ings|t)?|letters?|vowels?|consonants?|syllables?|rhym\w+|anagrams?|palindromes?|words?|"
    r"phrases?|sentences?|pronounc\w+|pronouns?|nouns?|verbs?|adverbs?|adjectives?|prepositions?|synonyms?|antonyms?|"
    r"abbreviat\w+|acronyms?|contractions?|gramma\w+|punctuat\w+|typos?|translat\w+|quot\w+|dialects?|characters?|"
    r"capitali[sz]\w*|upper ?case|lower ?case|paraphras\w+|rewrit\w+|rephras\w+|proofread\w*|edit|editing|"
    r"summari[sz]\w+|repeat|paragraphs?|passages?|stands? for|abbr|html|python|java|sql|javascript|code|regex|string|"
    r"poems?|haikus?|lyrics|british english|american english|slang|verbatim|verses?)\b|```|[{}<>]|\w\(|[^\W_]_[^\W_]|"
    r"==|://|\w@\w|\$[^$\n]{0,80}[\\^_=][^$\n]{0,80}\$",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    "“[^“”]*”|\"[^\"]*\"|\u2018[^\u2018\u2019]*\u2019(?!\\w)|(?<!\\w)'[^'\n]*'(?!\\w)|`[^`]*`|\\*[^*\n]*\\*"
)


def rate_field(default: float, *, of: str) -> Any:
    """Return the setting that says how much of a text is changed."""
    return Field(default=default, gt=0, le=1, description=f"Share of the {of}; at least one.")


class RateSettings(AnswerSettings):
    """How much of a text is written otherwise."""

    rate: float = rate_field(1.0, of="places in the text that are changed")


class KeepingEdit(TextEdit):
    """A test of one function of the text, its settings and a generator: the answer should stay."""

    category: ClassVar[str] = "robustness"
    stays: ClassVar[bool] = True
    controlled: ClassVar[bool] = False
    rewrite: ClassVar[Callable[[Any, Any, random.Random], Edited]]
    """Return the text in its other form, or the reason why not."""

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Write the text otherwise."""
        return type(self).rewrite(text, settings, rng)


class EnglishKeepingEdit(KeepingEdit):
    """Such a test of English alone."""

    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = NEEDS_ENGLISH


class WordingEdit(EnglishKeepingEdit):
    """Such a test that changes words: a text about words is left alone."""

    bundled_data: ClassVar[str] = "stories"
    skip_reasons: ClassVar[Mapping[str, str]] = KEEPS_WORDS

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Write the text otherwise; one that asks about words is left alone."""
        if _ABOUT_WORDS.search(text):
            return Edited(reason="words_matter")
        return super().edit(text, settings, rng=rng)


class PeopleEdit(WordingEdit):
    """A test whose function takes the complete sample, and puts other people or places into all its parts."""

    category: ClassVar[str] = "bias"

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Change a text that stands alone."""
        return self.change(TextSample(id="", text=text), settings, rng=rng)

    def change(self, sample: TextSample, settings: Any, *, rng: random.Random) -> Edited:
        """Change the sample; one that asks about words is left alone."""
        if _ABOUT_WORDS.search(sample.text):
            return Edited(reason="words_matter")
        return type(self).rewrite(sample, settings, rng)


def keeping_test(
    name: str,
    function: Callable[[Any, Any, random.Random], Edited],
    summary: str,
    *,
    settings: type[AnswerSettings],
    skips: Mapping[str, str],
    base: type[KeepingEdit] = WordingEdit,
    version: str = "1",
) -> type[KeepingEdit]:
    """Return the test that a function makes; that of a `PeopleEdit` takes the sample, another one its text."""
    members = {
        "__module__": function.__module__,
        "__doc__": summary,
        "name": name,
        "version": version,
        "summary": f"{summary}; the answer should stay.",
        "settings_type": settings,
        "skip_reasons": {**base.skip_reasons, **skips},
        "rewrite": staticmethod(function),
    }
    return cast("type[KeepingEdit]", type(name.title().replace("_", ""), (base,), members))


def make_edits(text: str, edits: Sequence[Edit], settings: RateSettings, rng: random.Random) -> Edited | None:
    """Make a share of the edits, none in a quotation; None where there is none to make."""
    quoted = [at for match in _QUOTED.finditer(text) for at in match.span()]
    free = [edit for edit in edits if bisect_right(quoted, edit.start) % 2 == 0]
    if not free:
        return None
    chosen = rng.sample(free, max(1, round(settings.rate * len(free))))
    return Edited(text=apply(text, chosen), confidence="high")


def cased_like(old: str, new: str) -> str:
    """Return new words with the first letter of the old ones."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def opens_sentence(text: str, at: int) -> bool:
    """Return whether a sentence starts at an offset."""
    before = text[max(0, at - 4) : at].rstrip(" \t\"'“\u2018(*")
    return not before or before[-1] in ".!?:\n"

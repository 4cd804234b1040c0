"""The tests casing, spacing and typo, and the base classes of edits that keep the meaning.

Each is made of one function, as are those of wording and of people.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from pydantic import Field

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.language import closed, vocabulary
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.sentence import Edit, apply_edits
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


def make_rate_field(default: float, *, of: str) -> Any:
    """Return the setting field for the share of a text that is changed."""
    return Field(default=default, gt=0, le=1, description=f"Share of the {of}; at least one.")


class RateSettings(AnswerSettings):
    """Settings with `rate`: how much of a text is changed."""

    rate: float = make_rate_field(1.0, of="places in the text that are changed")


class PreservingEdit(TextEdit):
    """A test made from one function of text, settings and random generator; the answer should stay."""

    category: ClassVar[str] = "robustness"
    stays: ClassVar[bool] = True
    controlled: ClassVar[bool] = False
    rewrite: ClassVar[Callable[[Any, Any, random.Random], Edited]]
    """Return the changed text, or the reason why there is none."""

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the changed text."""
        return type(self).rewrite(text, settings, rng)


class EnglishPreservingEdit(PreservingEdit):
    """A meaning-preserving test of English text only."""

    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = NEEDS_ENGLISH


class WordingEdit(EnglishPreservingEdit):
    """A meaning-preserving test that changes words; it skips texts that ask about words."""

    bundled_data: ClassVar[str] = "stories"
    skip_reasons: ClassVar[Mapping[str, str]] = KEEPS_WORDS

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the changed text; skip a text that asks about words."""
        if _ABOUT_WORDS.search(text):
            return Edited(reason="words_matter")
        return super().edit(text, settings, rng=rng)


class PeopleEdit(WordingEdit):
    """A test whose function gets the complete sample, and changes people or places in all its texts."""

    category: ClassVar[str] = "bias"

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the change of a text without options and context."""
        return self.change(TextSample(id="", text=text), settings, rng=rng)

    def change(self, sample: TextSample, settings: Any, *, rng: random.Random) -> Edited:
        """Return the change of a sample; skip a text that asks about words."""
        if _ABOUT_WORDS.search(sample.text):
            return Edited(reason="words_matter")
        return type(self).rewrite(sample, settings, rng)


def make_preserving_test(
    name: str,
    function: Callable[[Any, Any, random.Random], Edited],
    summary: str,
    *,
    settings: type[AnswerSettings],
    skips: Mapping[str, str],
    base: type[Any] = WordingEdit,
    version: str = "1",
) -> type[PreservingEdit]:
    """Return the test class for a function, which gets the text, or for a `PeopleEdit` the sample."""
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
    return cast("type[PreservingEdit]", type(name.title().replace("_", ""), (base,), members))


def make_edits(text: str, edits: Sequence[Edit], settings: RateSettings, rng: random.Random) -> Edited | None:
    """Make a random share of the edits, outside quotations; None if no edit is possible."""
    quoted = [at for match in _QUOTED.finditer(text) for at in match.span()]
    free = [edit for edit in edits if bisect_right(quoted, edit.start) % 2 == 0]
    if not free:
        return None
    chosen = rng.sample(free, max(1, round(settings.rate * len(free))))
    return Edited(text=apply_edits(text, chosen), confidence="high")


def copy_case(old: str, new: str) -> str:
    """Return the new words, with a capital if the old words start with one."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def is_sentence_start(text: str, at: int) -> bool:
    """Return whether a sentence starts at an offset."""
    before = text[max(0, at - 4) : at].rstrip(" \t\"'“\u2018(*")
    return not before or before[-1] in ".!?:\n"


_SYMBOL = re.compile(r"\b(?:[A-Z]{2,}|\d+ ?[^\W\d_]{1,3})\b|\b(?:[A-Z]\.){2,}")
"""An acronym, or a number with its unit: letters whose size may mean something."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class CasingSettings(AnswerSettings):
    """Settings of casing: which letters become capital or small."""

    style: Literal["lower", "upper", "title", "first"] = Field(
        default="lower",
        description="lower: all lower case. upper: all upper case. title: every word begins with a capital. "
        "first: the first letter in the other case.",
    )


def recase(text: str, settings: CasingSettings, rng: random.Random) -> Edited:
    """Return the text in other capital or small letters; nothing is random.

    Capitals carry meaning in acronyms and units ("US", "us"; "MW", "mW"): a text that holds one has medium confidence.
    """
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


Casing = make_preserving_test(
    "casing",
    recase,
    "Writes the text in small or capital letters",
    settings=CasingSettings,
    base=PreservingEdit,
    version="6",
    skips={"same_letters": "in these letters already, or without letters that have a case"},
)


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
    """Settings of spacing: which kinds of changes are allowed."""

    kinds: tuple[SpacingKind, ...] = Field(
        default=("double", "before_mark", "trailing", "no_stop", "quotes", "tab", "newline"),
        min_length=1,
        description="double: two spaces. before_mark: a space before a punctuation mark. trailing: spaces at the end. "
        "no_stop: no full stop at the end. quotes: the other kind of apostrophe and quotation mark. tab, newline: one "
        "instead of a space.",
    )


def respace(text: str, settings: SpacingSettings, rng: random.Random) -> Edited:
    """Return the text with one random change among the allowed kinds that fit it."""
    if not text.strip():
        return Edited(reason="empty")
    kinds = [_CHANGES[kind] for kind in dict.fromkeys(settings.kinds)]
    rng.shuffle(kinds)
    changed = next((new for kind in kinds if (new := kind(text, rng)) != text), None)
    return Edited(reason="no_place") if changed is None else Edited(text=changed, confidence="high")


Spacing = make_preserving_test(
    "spacing",
    respace,
    "Changes white space or punctuation",
    settings=SpacingSettings,
    base=PreservingEdit,
    version="6",
    skips={"empty": "without a word", "no_place": "without a place for any of these changes"},
)


def _double_spaces(text: str, rng: random.Random) -> str:
    gaps = list(_GAP.finditer(text))
    chosen = rng.sample(gaps, max(1, len(gaps) // 4)) if gaps else []
    return apply_edits(text, [Edit(gap.start(), gap.end(), "  ") for gap in chosen])


def _add_space_before_mark(text: str, rng: random.Random) -> str:
    marks = list(_MARK.finditer(text))
    return apply_edits(text, [Edit(mark.start(), mark.start(), " ") for mark in rng.sample(marks, min(1, len(marks)))])


def _swap_quotes(text: str, rng: random.Random) -> str:
    curly = _STRAIGHT_PAIR.sub(r"“\1”", _STRAIGHT.sub("\u2019", text))
    return curly if curly != text else _CURLY_PAIR.sub(r'"\1"', _CURLY.sub("'", text))


def _replace_one_gap(text: str, new: str, rng: random.Random) -> str:
    gaps = list(_GAP.finditer(text))
    return apply_edits(text, [Edit(*rng.choice(gaps).span(), new)]) if gaps else text


_CHANGES: dict[SpacingKind, Callable[[str, random.Random], str]] = {
    "double": _double_spaces,
    "before_mark": _add_space_before_mark,
    "trailing": lambda text, rng: text + " " * rng.randint(1, 3),
    "no_stop": lambda text, rng: _STOP.sub("", text),
    "quotes": _swap_quotes,
    "tab": lambda text, rng: _replace_one_gap(text, "\t", rng),
    "newline": lambda text, rng: _replace_one_gap(text, "\n", rng),
}


_LONG_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{5,}(?![\w'’-])")
_SPARED = words("""
    false hundred thousand million billion trillion thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    thirty forty fifty sixty seventy eighty ninety
""")
"""Numbers, and the label "True or false"."""
_TRIES = 12
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    letter: "".join(row[max(0, i - 1) : i] + row[i + 1 : i + 2]) for row in _ROWS for i, letter in enumerate(row)
}


class TypoSettings(RateSettings):
    """Settings of typo: how many words are mistyped."""

    rate: float = make_rate_field(0.1, of="content words of five letters or more that are mistyped")


def mistype(text: str, settings: TypoSettings, rng: random.Random) -> Edited:
    """Return the text with one typo in some words; names, numbers and first letters stay."""
    places = find_long_words(text)
    if not places:
        return Edited(reason="no_long_word")
    chosen = rng.sample(places, max(1, round(settings.rate * len(places))))
    wrong = [(word, _mistype_word(word[0], rng)) for word in chosen]
    edits = [Edit(word.start(), word.end(), new) for word, new in wrong if new is not None]
    return Edited(text=apply_edits(text, edits), confidence="high") if edits else Edited(reason="no_safe_typo")


Typo = make_preserving_test(
    "typo",
    mistype,
    "Mistypes some words",
    settings=TypoSettings,
    base=EnglishPreservingEdit,
    version="6",
    skips={
        "no_long_word": "without a word of five letters or more that may be mistyped",
        "no_safe_typo": "where every typo that was tried made another word",
    },
)


def find_long_words(text: str) -> list[re.Match[str]]:
    """Return the content words of five letters or more, without capitalised words, which may be names."""
    spared = _SPARED | closed.build_closed_classes().keys()
    return [word for word in _LONG_WORD.finditer(text) if word[0].islower() and word[0] not in spared]


def _mistype_word(word: str, rng: random.Random) -> str | None:
    """Return the word with one typo after its first letter that is not another word; None if none is found."""
    known = vocabulary.vocabulary().flags
    for _ in range(_TRIES):
        wrong = rng.choice(_ERRORS)(word, rng.randrange(1, len(word) - 1), rng)
        if wrong != word and wrong not in known:
            return wrong
    return None


def _hit_neighbour_key(word: str, at: int, rng: random.Random) -> str:
    near = _NEIGHBOURS.get(word[at], "")
    return word[:at] + rng.choice(near) + word[at + 1 :] if near else word


_ERRORS: tuple[Callable[[str, int, random.Random], str], ...] = (
    _hit_neighbour_key,
    lambda word, at, rng: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    lambda word, at, rng: word[:at] + word[at] + word[at:],
    lambda word, at, rng: word[:at] + word[at + 1 :],
)
"""A neighbouring key; two letters swapped, one doubled, one lost."""

"""The words that count as bad: read once, inflected, with slips of the fingers, and kept in hash tables."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

from contrapose.tasks.probes.toxic_words.senses import Sense

Tier = Literal["slur", "strong", "sexual", "mild"]
TIERS: tuple[Tier, ...] = get_args(Tier)

Key = TypeVar("Key")
Listed = TypeVar("Listed")
Runs = tuple[tuple[str, int], ...]
"""A word as letters with how often each is repeated: "boob" is (b, 1), (o, 2), (b, 1)."""

LONG, SHORT = 7, 4
"""Letters of words that are known among other letters: of any abusive word, and of one that is often masked."""

_LIKELIEST: tuple[Tier, ...] = ("strong", "sexual", "slur", "mild")
"""Which tier a masked word is taken from when words of several fit."""


class Term(NamedTuple):
    """One row of the lexicon."""

    text: str
    """The word or phrase, in lower case."""
    tier: Tier
    """How it counts."""


class ListedPhrase(NamedTuple):
    """Several words in a row that count as one, or are allowed although one of them would count."""

    words: tuple[str, ...]
    """The words, in lower case."""
    term: Term | None
    """What they count as; None when they are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Everything the counter looks up."""

    version: str
    """Raised whenever the words or their tiers change."""
    words: Mapping[str, Term]
    """Every single word with its inflections, what is left of some without their vowels, and slips of the fingers."""
    phrases: Mapping[str, tuple[ListedPhrase, ...]]
    """By their first word, the longest first."""
    known: frozenset[str]
    """Every word that a phrase or a single term is made of."""
    names: frozenset[str]
    """Words that are people's names when they are written as one ("Dick")."""
    initials: frozenset[str]
    """Words that are a name's initials when they are written in capitals: football clubs are called FCK."""
    triggers: frozenset[str]
    """A text without any of these words holds no undisguised term."""
    companions: Mapping[str, frozenset[str]]
    """What to look for beside a trigger: the words of its phrases."""
    stems: tuple[str, ...]
    """Abusive words that hardly any innocent word holds: a run of words may count when one of them is in it."""
    never_joined: frozenset[str]
    """Names that only look like several words in one: "Brainfuck" is a programming language."""
    symbols: frozenset[str]
    """Words that are as often a variable or an abbreviation: "fck" is a strength of concrete."""
    senses: Mapping[str, Sense]
    """Terms that are harmless in some places."""
    spellings: Mapping[str, str]
    """Disguises that leave too little of a word for the general rules, and what they mean."""
    often_masked: frozenset[str]
    """Terms that people recognize when no more than half of the letters are shown."""
    stretched: Mapping[str, tuple[tuple[str, Runs], ...]]
    """Words by their letters without repetition: "fuk" for "fuk", "as" for "ass"."""
    masked: Mapping[tuple[str, str, int], tuple[str, ...]]
    """Words of four letters or more by first letter, last letter and length, the likeliest first."""


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with the package. Source: `data/lexicons/toxic.csv` and `toxic.json`."""
    about = json.loads(_read("toxic.json"))
    terms = {
        form: Term(row["term"], cast(Tier, row["tier"]))
        for row in csv.DictReader(_read("toxic.csv").splitlines())
        for form in inflect(row["term"], row["inflect"])
    }
    listed = {form: term for form, term in terms.items() if " " not in form}
    shortened = {short: listed[form] for short, form in about["shortened"].items()}
    words = (
        slips(_unmistakable(listed, about), never=frozenset(about["never_slips"]).union(listed)) | listed | shortened
    )
    phrases = [ListedPhrase(tuple(form.split()), term) for form, term in terms.items() if " " in form]
    triggers = frozenset(words).union(_rarest(phrase.words, words) for phrase in phrases)
    phrases += (ListedPhrase(tuple(text.split()), None) for text in about["allowed"])
    longest_first = sorted(phrases, key=lambda phrase: -len(phrase.words))
    return Lexicon(
        version=about["version"],
        words=words,
        phrases=_grouped((phrase.words[0], phrase) for phrase in longest_first),
        known=frozenset(words).union(*(phrase.words for phrase in phrases)),
        names=frozenset(about["names"]),
        initials=frozenset(about["initials"]),
        triggers=triggers,
        companions=_by_trigger(phrases, triggers),
        stems=_stems(_unmistakable(listed, about)),
        never_joined=frozenset(about["never_joined"]),
        symbols=frozenset(about["symbols"]),
        senses={term: _sense(**sense) for term, sense in about["senses"].items()},
        spellings=about["spellings"],
        often_masked=frozenset(about["often_masked"]),
        stretched=_grouped(
            ("".join(letter for letter, _ in runs(word)), (word, runs(word)))
            for word in sorted(listed.keys() - about["never_stretched"])
        ),
        masked=_grouped(
            ((word[0], word[-1], len(word)), word)
            for word in sorted(listed, key=lambda word: _LIKELIEST.index(listed[word].tier))
            if len(word) >= 4
        ),
    )


def runs(word: str) -> Runs:
    """The letters of a word with how often each is repeated."""
    return tuple((letter, len(list(same))) for letter, same in groupby(word))


def inflect(term: str, kind: str) -> tuple[str, ...]:
    """The forms of a term: `noun`, `verb`, `doubling` (a verb such as "shitting"), `adjective` or `none`.

    The spelling rules are those of regular English words; for a phrase the last word is inflected.
    """
    if kind == "none":
        return (term,)
    if kind == "adjective":
        return (term, f"{term[:-1]}ier", f"{term[:-1]}iest", f"{term[:-1]}iness")
    if kind == "noun":
        return (term, _plural(term))
    stem = term + term[-1] if kind == "doubling" else term.removesuffix("e")
    return (term, _plural(term), *(stem + ending for ending in ("ed", "ing", "in", "er", "ers")))


def _plural(term: str) -> str:
    if re.search(r"[^aeiou]y$", term):
        return f"{term[:-1]}ies"
    return f"{term}es" if re.search(r"(?:[sxz]|ch|sh)$", term) else f"{term}s"


def _unmistakable(listed: Mapping[str, Term], about: Mapping[str, Any]) -> dict[str, Term]:
    """The abusive words that slips and neighbours do not hide: long ones, and those known by half their letters."""
    recognized = frozenset(about["often_masked"]).difference(about["names"])
    placed = {term for term, sense in about["senses"].items() if "only" in sense or "verb" in sense}
    return {
        word: term
        for word, term in listed.items()
        if term.tier in ("slur", "strong") and word.isascii() and word.isalpha() and term.text not in placed
        if len(word) >= LONG or (len(word) >= SHORT and term.text in recognized)
    }


def _stems(words: Mapping[str, Term]) -> tuple[str, ...]:
    """The terms of some words, without those that hold another one of them."""
    terms = {term.text for term in words.values()} & words.keys()
    return tuple(sorted(term for term in terms if not any(other in term for other in terms - {term})))


def _sense(
    *, beside: str = "", verb: bool = False, only: Literal["", "noun", "abuse"] = "", own: bool = False
) -> Sense:
    return Sense(frozenset(beside.split()), verb, only, own)


def _grouped(pairs: Iterable[tuple[Key, Listed]]) -> dict[Key, tuple[Listed, ...]]:
    """What stands under each key, in the order of the pairs."""
    grouped = defaultdict[Key, list[Listed]](list)
    for key, member in pairs:
        grouped[key].append(member)
    return {key: tuple(group) for key, group in grouped.items()}


def _by_trigger(phrases: Iterable[ListedPhrase], triggers: frozenset[str]) -> dict[str, frozenset[str]]:
    beside = _grouped((word, phrase.words) for phrase in phrases for word in triggers.intersection(phrase.words))
    return {word: frozenset().union(*groups) for word, groups in beside.items()}


def _rarest(phrase: tuple[str, ...], words: Mapping[str, Term]) -> str:
    """The word of a phrase to look out for: one that counts alone, or else the longest."""
    return max(phrase, key=lambda word: (word in words, len(word)))


def _read(name: str) -> str:
    return files("contrapose.data").joinpath("lexicons", name).read_text(encoding="utf-8")


SHORTEST = 4
"""Letters that must be left; "fck" and "sht" are listed, and what else has three letters may mean anything."""


def slips(words: Mapping[str, Listed], *, never: Container[str]) -> dict[str, Listed]:
    """Every word that is one slip away from some listed words, and the listed word that is meant.

    Nobody reads a word by its second letter alone, so a slip may change the first letter's place but not drop it.

    Args:
        words: the listed words that people recognize in spite of a slip.
        never: what is a word, a name or a code of its own.
    """
    meanings = {slip: words[word] for word in sorted(words) for slip in (*_swapped(word), *_dropped(word))}
    return {slip: meant for slip, meant in meanings.items() if slip not in words and slip not in never}


def _swapped(word: str) -> Iterator[str]:
    for place in range(len(word) - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _dropped(word: str) -> Iterator[str]:
    for place in range(1, len(word) if len(word) > SHORTEST else 1):
        yield word[:place] + word[place + 1 :]

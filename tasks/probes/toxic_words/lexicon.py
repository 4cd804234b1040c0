"""Load the list of toxic words, with inflections, typos and harmless senses, as lookup tables."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Literal, NamedTuple, TypeVar, cast, get_args

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


class ListedPhrase(NamedTuple):
    """A phrase that counts as one bad word, or is allowed although one of its words would count."""

    words: tuple[str, ...]
    term: Term | None
    """What they count as; None when they are allowed."""


class HarmlessSense(NamedTuple):
    """The places in which a listed word is harmless."""

    beside: frozenset[str]
    """Words of the same sentence that show its harmless sense."""
    verb: bool
    """Whether it is harmless as a verb."""
    only: Literal["", "noun", "abuse"]
    """Where alone it is bad: as a noun ("a prick"), or as abuse ("you are a …", "filthy …")."""
    own: bool
    """Whether a group calls itself so: as an adjective, or of "us", it is no abuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """All lookup tables of the counter."""

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
    """Words to search next to a trigger: the words of its phrases."""
    stems: tuple[str, ...]
    """Abusive words that hardly any innocent word holds: a run of words may count when one of them is in it."""
    never_joined: frozenset[str]
    """Names that only look like several words in one: "Brainfuck" is a programming language."""
    symbols: frozenset[str]
    """Words that are as often a variable or an abbreviation: "fck" is a strength of concrete."""
    senses: Mapping[str, HarmlessSense]
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
def load_lexicon() -> Lexicon:
    """Load the lexicon from `data/lexicons/toxic.csv` and `toxic.json`."""
    folder = files("contrapose.data").joinpath("lexicons")
    about = json.loads(folder.joinpath("toxic.json").read_text(encoding="utf-8"))
    rows = csv.DictReader(folder.joinpath("toxic.csv").read_text(encoding="utf-8").splitlines())
    inflected = ((row, form) for row in rows for form in inflect_term(row["term"], row["inflect"]))
    terms = {form: Term(row["term"], cast(Tier, row["tier"])) for row, form in inflected}
    listed = {form: term for form, term in terms.items() if " " not in form}
    senses = {
        term: HarmlessSense(
            frozenset(sense.get("beside", "").split()),
            sense.get("verb", False),
            sense.get("only", ""),
            sense.get("own", False),
        )
        for term, sense in about["senses"].items()
    }
    plain = _select_unmistakable(listed, frozenset(about["often_masked"]).difference(about["names"]), senses)
    words = list_slips(plain, never=frozenset(about["never_slips"]).union(listed)) | listed
    words |= {short: listed[form] for short, form in about["shortened"].items()}
    phrases = [ListedPhrase(tuple(form.split()), term) for form, term in terms.items() if " " in form]
    # The word of a phrase to look out for is one that counts alone, or else the longest.
    rarest = (max(phrase.words, key=lambda word: (word in words, len(word))) for phrase in phrases)
    triggers = frozenset(words).union(rarest)
    phrases += (ListedPhrase(tuple(text.split()), None) for text in about["allowed"])
    beside = _group_by_key((word, phrase.words) for phrase in phrases for word in triggers.intersection(phrase.words))
    longest_first = sorted(phrases, key=lambda phrase: -len(phrase.words))
    likeliest_first = sorted(listed, key=lambda word: _LIKELIEST.index(listed[word].tier))
    # A stem is a term that holds no other one.
    stems = {term.text for term in plain.values()} & plain.keys()
    return Lexicon(
        version=about["version"],
        words=words,
        phrases=_group_by_key((phrase.words[0], phrase) for phrase in longest_first),
        known=frozenset(words).union(*(phrase.words for phrase in phrases)),
        names=frozenset(about["names"]),
        initials=frozenset(about["initials"]),
        triggers=triggers,
        companions={word: frozenset().union(*groups) for word, groups in beside.items()},
        stems=tuple(sorted(term for term in stems if not any(other in term for other in stems - {term}))),
        never_joined=frozenset(about["never_joined"]),
        symbols=frozenset(about["symbols"]),
        senses=senses,
        spellings=about["spellings"],
        often_masked=frozenset(about["often_masked"]),
        stretched=_group_by_key(
            ("".join(letter for letter, _ in split_runs(word)), (word, split_runs(word)))
            for word in sorted(listed.keys() - about["never_stretched"])
        ),
        masked=_group_by_key(((word[0], word[-1], len(word)), word) for word in likeliest_first if len(word) >= 4),
    )


def split_runs(word: str) -> Runs:
    """Return the letters of a word, each with its number of repetitions."""
    return tuple((letter, len(list(same))) for letter, same in groupby(word))


def inflect_term(term: str, kind: str) -> tuple[str, ...]:
    """Return the forms of a term: `noun`, `verb`, `doubling` (a verb such as "shitting"), `adjective` or `none`.

    The spelling rules are those of regular English words; for a phrase the last word is inflected.
    """
    if kind == "none":
        return (term,)
    if kind == "adjective":
        return (term, f"{term[:-1]}ier", f"{term[:-1]}iest", f"{term[:-1]}iness")
    plural = f"{term}es" if re.search(r"(?:[sxz]|ch|sh)$", term) else f"{term}s"
    if re.search(r"[^aeiou]y$", term):
        plural = f"{term[:-1]}ies"
    if kind == "noun":
        return (term, plural)
    stem = term + term[-1] if kind == "doubling" else term.removesuffix("e")
    return (term, plural, *(stem + ending for ending in ("ed", "ing", "in", "er", "ers")))


def _select_unmistakable(
    listed: Mapping[str, Term], recognized: frozenset[str], senses: Mapping[str, HarmlessSense]
) -> dict[str, Term]:
    """Return the words that are recognised even if half their letters are masked or misspelled."""
    placed = {term for term, sense in senses.items() if sense.only or sense.verb}
    return {
        word: term
        for word, term in listed.items()
        if term.tier in ("slur", "strong") and word.isascii() and word.isalpha() and term.text not in placed
        if len(word) >= LONG or (len(word) >= SHORT and term.text in recognized)
    }


def _group_by_key(pairs: Iterable[tuple[Key, Listed]]) -> dict[Key, tuple[Listed, ...]]:
    """Return the values of each key, in the order of the pairs."""
    groups = defaultdict[Key, list[Listed]](list)
    for key, member in pairs:
        groups[key].append(member)
    return {key: tuple(group) for key, group in groups.items()}


def list_slips(words: Mapping[str, Listed], *, never: Container[str]) -> dict[str, Listed]:
    """Return all misspellings with one slip, each with the listed word that it means.

    Two letters are swapped, or one is dropped if four are left: "fck" and "sht" are listed, and other words of three
    letters may mean anything. A slip may move the first letter but not drop it, because nobody recognises a word
    without it.
    """
    meanings: dict[str, Listed] = {}
    for word in sorted(words):
        for place in range(len(word) - 1):
            meanings[word[:place] + word[place + 1] + word[place] + word[place + 2 :]] = words[word]
        for place in range(1, len(word) if len(word) > SHORT else 1):
            meanings[word[:place] + word[place + 1 :]] = words[word]
    return {slip: meaning for slip, meaning in meanings.items() if slip not in words and slip not in never}

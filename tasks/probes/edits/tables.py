"""Word lists of the edits, from `data/lexicons/edits.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from contrapose.tasks.language.vocabulary import vocabulary

Gender = Literal["female", "male"]

_OUR_ENDINGS = (
    *("", "s", "ed", "ing", "er", "ers", "ful", "fully", "less", "able", "ably", "ite", "ites", "itism", "hood"),
    *("hoods", "al", "ally", "y", "ings"),
)
_IZE_ENDINGS = ("e", "es", "ed", "ing", "er", "ers", "ation", "ations", "ational", "able")
_DOUBLED_ENDINGS = ("ed", "ing", "er", "ers", "or", "ors", "ous", "ously", "ings")


@cache
def _lists() -> Mapping[str, Any]:
    """Load the file; every list is one text."""
    content = files("contrapose.data").joinpath("lexicons", "edits.yaml").read_text(encoding="utf-8")
    lists: Mapping[str, Any] = yaml.safe_load(content)
    return lists


@cache
def listed(name: str) -> frozenset[str]:
    """Return the words of the list with this name."""
    return frozenset(word.replace("_", " ") for word in _lists()[name].split())


def split_pairs(text: str) -> dict[str, str]:
    """Parse `old/new` pairs into a table; `_` is a space, and the first slash separates."""
    pairs = (pair.replace("_", " ").partition("/") for pair in text.split())
    return {old: new for old, _, new in pairs}


@cache
def cue(name: str) -> re.Pattern[str]:
    """Return a pattern that finds any word of a list, ignoring case; `*` matches any ending."""
    return re.compile(rf"\b(?:{_join_alternatives(listed(name))})\b", re.IGNORECASE)


def _join_alternatives(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word).replace(r"\*", r"\w*") for word in sorted(words, key=lambda word: (-len(word), word))
    )


@cache
def compile_phrase(name: str, before: str, behind: str) -> re.Pattern[str]:
    """Return a pattern that finds any word of a list between two given patterns."""
    return re.compile(rf"(?i:{before})(?i:{_join_alternatives(listed(name))})(?i:{behind})")


@cache
def abbreviations() -> dict[str, str]:
    """Return a table of words and phrases with their short forms."""
    return split_pairs(_lists()["abbreviations"])


@cache
def british_words() -> dict[str, str]:
    """Return a table from American to British spellings."""
    known, table = vocabulary().flags, dict[str, str]()
    for stem in listed("our"):
        table |= {stem + end: f"{stem[:-2]}our{end}" for end in _OUR_ENDINGS if stem + end in known}
    for stem in listed("ize"):
        table |= {f"{stem}iz{end}": f"{stem}is{end}" for end in _IZE_ENDINGS if f"{stem}iz{end}" in known}
    for stem in listed("doubled"):
        table |= {stem + end: f"{stem}{stem[-1]}{end}" for end in _DOUBLED_ENDINGS if stem + end in known}
    for british, american in split_pairs(_lists()["british"]).items():
        table |= {american + end: british + end for end in ("", "s") if not end or f"{american}s" in known}
    return table


@cache
def american_words() -> dict[str, str]:
    """Return a table from British to American spellings."""
    return {british: american for american, british in british_words().items()} | split_pairs(_lists()["to_american"])


@cache
def new_names(origin: str, gender: Gender) -> tuple[str, ...]:
    """Return the first names to insert, of one gender and origin; of every origin for `any`."""
    origins = [origin] if origin != "any" else list(_lists()["new_names"])
    return tuple(name for one in origins for name in _lists()["new_names"][one][gender].split())


@cache
def first_names() -> dict[str, Gender]:
    """Return a table of first names that may be replaced, with their usual gender."""
    genders: tuple[Gender, ...] = ("female", "male")
    common = _lists()["names"]
    return {name: gender for gender in genders for name in (*new_names("any", gender), *common[gender].split())}


@cache
def male_words() -> dict[str, str]:
    """Return a table from words about women to words about men, without "her", which needs its sentence."""
    return {**split_pairs(_lists()["gendered"]), "hers": "his", "mrs": "Mr", "ms": "Mr", "miss": "Mr"}


@cache
def female_words() -> dict[str, str]:
    """Return a table from words about men to words about women, without "his", which needs its sentence."""
    swapped = {male: female for female, male in split_pairs(_lists()["gendered"]).items()}
    return {**swapped, "dad": "mom", "him": "her", "mr": "Ms"}


@cache
def countries() -> dict[str, tuple[str, str]]:
    """Return the countries with the adjective of their people and their income group."""
    groups = _lists()["countries"].items()
    return {name: (people, income) for income, text in groups for name, people in split_pairs(text).items()}

"""Look up the word classes that a word or a punctuation mark can have, without its context.

Forms come from the lookup table of LemmInflect (the SPECIALIST lexicon of the US National Library of Medicine),
a word's usual class from the tagging lexicon of TextBlob. Only their data files are read.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import ACRONYMS, OPEN_NOMINALS, OPEN_TOO, build_closed_classes, words

_FORMS = {"verb": (f.PAST, f.PART, f.ING, f.THIRD), "noun": (f.PLURAL,), "adj": (f.ADJ, f.ADJ)}
_BASES = {"verb": f.BASE, "noun": f.SINGULAR, "adj": f.ADJ, "adv": f.ADV}
_USUALLY = {"VB": f.USUALLY_VERB, "NN": f.USUALLY_NOUN, "JJ": f.USUALLY_ADJ}
_NUMBERS = {"NN": f.SINGULAR, "NNS": f.PLURAL}
_LONGEST = 40
_PREFIXES = ("over", "under", "out", "re", "un", "mis", "pre", "dis", "inter", "co", "de")
VERB_ENDINGS = ("ize", "ise", "ify", "ate")
_VERB_ENDINGS_S = ("izes", "ises", "ifies", "ates")
_EMBEDDING = words("""
    pretend add know think believe say claim argue state show prove mean suggest find see hear feel notice realize hope
    wish guess assume expect fear discover learn remember forget decide ensure explain imply indicate report announce
    reveal predict conclude demonstrate confirm understand imagine insist note observe estimate tell ask wonder warn
    watch let make help require propose doubt dream consider convince inform persuade want suspect deny admit agree
    teach
""")
# Nouns that are verbs in the dictionary, but so seldom that the words around them must ask for it.
_RARE_VERBS = words("""
    water animal human mouse cat dog eye leg arm hand foot head nose mouth tooth brain heart skin tree wood leaf root
    seed fruit bird cow pig horse bear duck fox rat ant bug worm rock stone sand metal iron gold silver glass air wind
    sun moon star earth planet ocean river lake sea island mountain city town country state king queen man woman girl
    boy child father mother parent brother sister baby friend doctor police army weather summer winter spring minute
    second hour day week month year time morning night car train boat truck plane road room house home door window table
    chair box bottle cup book paper pen page story word letter number line point side top bottom back front ball game
    team group color colour shoe weight sugar salt oil gas ice egg milk meat bread people must mom dad body blood type
    kind sort case fact idea reason way system area field land ground shape size key science church temperature third
    fourth fifth sixth career season fame media culture solo google keyboard drum metre meter litre liter
""")
_SURE = words("sure certain confident glad happy afraid aware sorry proud lucky convinced worried")
"""Adjectives that a clause may follow: "I am sure it rains"."""
_PLURAL_ONLY = words("people police cattle bacteria data media offspring goods clothes")
_VERB_ONLY = words("equals includes contains means")
_SINGULAR_ONLY = words("""
    news physics mathematics economics politics ethics linguistics genetics athletics gymnastics measles diabetes rabies
""")
_PLURAL_TOO = words("""
    rich poor blind deaf homeless unemployed wounded fish sheep deer species series salmon tuna trout shrimp squid prey
    elk moose bison cod aircraft
""")
_CORRECTED = (
    (_PLURAL_ONLY, f.SINGULAR, f.PLURAL),
    (_VERB_ONLY, f.NOUN | f.USUALLY_NOUN, f.USUALLY_VERB),
    (_SINGULAR_ONLY, f.PLURAL, f.SINGULAR),
    (_PLURAL_TOO, 0, f.PLURAL),
    (_SURE, 0, f.EMBED),
)
"""Words that the dictionary has wrong or incomplete, the flags that they lose, and those that they get."""
_NOT_ADVERBS = words("daily deadly early likely monthly weekly yearly")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Forms, classes and inflections of the known words."""

    flags: dict[str, int]
    """Every form, in lower case, and what it can be."""
    bases: dict[int, dict[str, str]]
    """For PAST, PART, ING and THIRD: the verb forms of that kind, and their bases."""
    verbs: dict[str, tuple[str, str, str, str]]
    """Bases of verbs, and their past, participle, -ing form and third person."""


@cache
def vocabulary() -> Vocabulary:
    """Read the vocabulary once in a process, and return it."""
    known = Vocabulary({}, {flag: {} for flag in _FORMS["verb"]}, {})
    for word, kind, spelled in _read_forms():
        known.flags[word] = known.flags.get(word, 0) | _BASES.get(kind, 0)
        if kind == "verb":
            _add_verb(known, word, spelled)
            continue
        for flag, form in zip(_FORMS.get(kind, ()), spelled, strict=False):
            if form:
                first = form.split("/")[0].lower()
                known.flags[first] = known.flags.get(first, 0) | flag
    with (_find_package_folder("textblob") / "en" / "en-lexicon.txt").open(encoding="utf-8") as lines:
        for columns in map(str.split, lines):  # word and most frequent Penn Treebank tag; other lines are comments
            if len(columns) == 2 and columns[0] in known.flags:
                known.flags[columns[0]] |= _USUALLY.get(columns[1][:2], 0) | _NUMBERS.get(columns[1], 0)
    for word, flags in known.flags.items():
        if flags & f.ADV and flags & (f.ADJ | f.NOUN | f.FINITE):
            manner = ends_as_adverb(word) and not flags & f.FINITE and word not in _NOT_ADVERBS
            known.flags[word] = flags & ~(f.NOUN if manner else f.ADV)
    for group, removed, added in _CORRECTED:
        for word in group:
            known.flags[word] = known.flags[word] & ~removed | added
    for word in _RARE_VERBS & known.verbs.keys():
        for form in (word, *known.verbs[word]):
            if form == word or known.flags[form] & (f.NOUN | f.ADJ):
                known.flags[form] |= f.RARELY_VERB
    return known


def look_up(word: str) -> int:
    """Return the flags of an open-class word in lower case; for an unknown word its ending decides."""
    known = vocabulary().flags.get(word)
    if known is not None:
        return known
    guessed = _guess_flags(word)
    return guessed & ~f.NOUN | f.ADV if ends_as_adverb(word) and not guessed & f.FINITE else guessed


def ends_as_adverb(word: str) -> bool:
    """Return whether a word ends as "quickly" does; "Sicily" and "jelly" do, too."""
    return word.endswith("ly") and len(word) > 4


def _add_verb(known: Vocabulary, base: str, spelled: list[str]) -> None:
    """Add every spelling of every form of a verb; the first spelling is used for writing."""
    forms = [sorted(spelling.lower().split("/"), key=lambda form: "-" in form) for spelling in spelled]
    known.verbs.setdefault(base, (forms[0][0], forms[1][0], forms[2][0], forms[3][0]))
    embed = f.EMBED if base in _EMBEDDING else 0
    known.flags[base] |= embed
    for flag, spellings in zip(_FORMS["verb"], forms, strict=True):
        for form in filter(None, spellings):
            known.flags[form] = known.flags.get(form, 0) | flag | embed
            if "-" in known.bases[flag].setdefault(form, base):
                known.bases[flag][form] = base


def _read_forms() -> Iterator[tuple[str, str, list[str]]]:
    """Yield word, class and inflected forms, from LemmInflect's table and its corrections of participles."""
    folder = _find_package_folder("lemminflect") / "resources"
    with (folder / "infl_overrides.csv").open(encoding="utf-8") as lines:
        fixes = {row[0]: row[2] for row in csv.reader(lines) if row[1:2] == ["VBN"]}  # run → run
    with gzip.open(folder / "infl_lu.csv.gz", "rt", encoding="utf-8") as lines:
        for word, kind, *forms in csv.reader(lines):
            if kind == "verb":
                forms[1] = "/".join(filter(None, (fixes.get(word.lower()), forms[1] or forms[0])))
            yield word.lower(), kind, forms


def _find_package_folder(name: str) -> Path:
    """Return the folder of an installed package without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} is not installed; it comes with contrapose")
    return Path(spec.origin).parent


def _guess_flags(word: str) -> int:
    stem, _ = split_prefix(word)
    if stem:
        verb = vocabulary().flags[stem] & ~f.RARELY_VERB
        return verb | f.ADJ if "-" in word and verb & (f.PART | f.ING) else verb
    if word.endswith(VERB_ENDINGS):
        return f.BASE | f.USUALLY_VERB
    if word.endswith(_VERB_ENDINGS_S):
        return f.THIRD | f.USUALLY_VERB
    if word.endswith("ed") and len(word) > 4:
        return f.PAST | f.PART
    if word.endswith("ing") and len(word) > 4:
        return f.ING
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")):
        return f.PLURAL
    return f.SINGULAR


def split_prefix(word: str) -> tuple[str, str]:
    """Split a word such as "overwinter" into a known verb form and its prefix; return empty texts if there is none."""
    known = vocabulary().flags
    before, hyphen, last = word.rpartition("-")
    if hyphen and known.get(last, 0) & f.VERB:
        return last, before + hyphen
    for prefix in _PREFIXES:
        stem = word[len(prefix) :] if word.startswith(prefix) else ""
        if len(stem) > 2 and known.get(stem, 0) & f.VERB:
            return stem, word[: len(word) - len(stem)]
    for cut in range(3, len(word) - 4) if word.endswith("ed") and len(word) < _LONGEST else ():
        if word[:cut] in known and known.get(word[cut:], 0) & f.PAST:
            return word[cut:], word[:cut]  # "livestreamed"
    return "", ""


WORD, IDLE, BREAK, QUOTE = range(4)
"""What a token is: a word, a mark that says nothing, a comma or dash, a quotation mark or bracket."""
BREAKS = ",;:-\u2013—…"

_QUOTES = "\"'`“”\u2018«»()[]"
_NO_NAMES = ("should", "would", "could", "must")


class Token(NamedTuple):
    """A spelling with its flags."""

    word: str
    """Lower case, straight apostrophes."""
    tag: int
    """Its flags at the start of a sentence."""
    name: int
    """Its flags inside one, when it may be a name there; else 0."""
    kind: int


@lru_cache(maxsize=1 << 16)
def read_token(spelled: str) -> Token:
    """Return the token of a word or a single mark.

    A capitalised word inside a sentence is a name, and no verb, unless it is a word that names rarely are. An adverb in
    the dictionary is such a word; one by its ending alone ("Rugely") is not.
    """
    first = spelled[0]
    if not first.isalnum() and first != "_":
        kind = BREAK if first in BREAKS else QUOTE if first in _QUOTES else IDLE
        return Token(spelled, f.BREAK, 0, kind)
    word = spelled.lower().replace("\u2019", "'").replace("`", "'").replace("\u00b4", "'")
    tag = flags_of(word)
    if not first.isupper():
        return Token(word, tag, 0, WORD)
    guessed = ends_as_adverb(word) and word not in vocabulary().flags
    if tag & f.CLOSED and (not tag & f.MODAL or word in _NO_NAMES) and spelled not in ACRONYMS and not guessed:
        return Token(word, tag, tag, WORD)
    name = f.NAME | (tag & f.NOUN or f.SINGULAR) | (f.NEG if word.endswith("n't") else 0)
    return Token(word, tag, name, WORD)


def flags_of(word: str) -> int:
    """Return the flags of all classes that a word in lower case can have."""
    known = build_closed_classes().get(word)
    if known is not None:
        nominal = look_up(word) & (f.NOUN | f.ADJ) if word in OPEN_NOMINALS else 0
        return known | (look_up(word) if word in OPEN_TOO else nominal)
    if word.endswith("n't"):
        return f.NEG
    if word[0].isdigit():
        return f.NUMBER | f.SINGULAR | f.PLURAL
    return look_up(word)


def is_unknown(word: str) -> bool:
    """Return whether neither the dictionary nor the ending gives a word a class; with a capital it is then a name."""
    return word.isalpha() and word not in vocabulary().flags and not flags_of(word) & ~f.NOUN

"""Find the words of a text that may be bad, also in disguise: masks, digits, other alphabets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from string import ascii_lowercase, digits
from typing import NamedTuple

from contrapose.tasks.language.closed import build_closed_classes, words
from contrapose.tasks.language.vocabulary import vocabulary
from contrapose.tasks.probes.toxic_words.lexicon import Lexicon, split_runs

MAX_LENGTH = 40
"""Characters beyond which nothing is taken for a disguised word; it keeps the time linear."""

MARKS = "*#%@$!"
"""Symbols that replace a letter. Not "&": "t&&t" occurs only in code."""

TRIPLE = re.compile(r"([a-z])\1\1")

_LOOKALIKES = frozenset("013456789@$!")
_LETTERS_FOR = tuple(str.maketrans("013456789@$!", letters) for letters in ("oieasgtbgasi", "oleasgtbgasi"))
_RARELY_LETTERS = frozenset("6789")
"""They replace letters only in words of five or more: "ni99er"; "da90" and "SH17" are codes."""

_PRODUCT = re.compile(r"[a-z](?:\W+[a-z]){2,}")
_LONG_RUN = re.compile(r"(.)\1{3,}")


def find_disguised_word(word: str, book: Lexicon) -> str | None:
    """Return the listed word that a written word means, or None."""
    if word in book.words:
        return word
    if word.isalpha():
        return _find_stretched_word(word, book)
    if len(word) > MAX_LENGTH:
        word = _LONG_RUN.sub(r"\1\1\1", word)
    if not 4 <= len(word) <= MAX_LENGTH:
        return None
    if listed := _find_lettered_word(word, book) or _find_masked_word(word, book):
        return listed
    # Digits before or behind a word of four letters or more, as in users' names: "fuck123".
    core = word.strip(digits)
    if len(core) < 4 or core == word or core in book.names or core in book.symbols:
        return None
    listed = core if core in book.words else _find_lettered_word(core, book)
    return listed if listed and book.words[listed].tier != "mild" else None


def _find_stretched_word(word: str, book: Lexicon) -> str | None:
    """Return the listed word for a word with a stretched letter: "fuuuuck"; else None."""
    if not TRIPLE.search(word):
        return None
    short = split_runs(_LONG_RUN.sub(r"\1\1\1", word))
    for listed, form in book.stretched.get("".join(letter for letter, _ in short), ()):
        if all(n == m or (n >= 3 and m <= 2) for (_, n), (_, m) in zip(short, form, strict=True)):
            return listed
    return None


def _find_lettered_word(word: str, book: Lexicon) -> str | None:
    """Return the listed word for a word with digits or symbols as letters: "sh1t"; else None."""
    if _LOOKALIKES.isdisjoint(word) or sum(map(str.isalpha, word)) < 2:
        return None
    if len(word) < 5 and not _RARELY_LETTERS.isdisjoint(word):
        return None
    for letters in _LETTERS_FOR:
        reading = word.translate(letters)
        if reading in book.words:
            return reading
        # Digits alone are not stretched: "#ff5555" is a color.
        if stretched := TRIPLE.search(word) and _find_stretched_word(reading, book):
            return stretched
    return None


def _find_masked_word(word: str, book: Lexicon) -> str | None:
    """Return the listed word for a word with masked middle letters: "f**k"; else None."""
    marks = [char for char in word if char in MARKS]
    if not marks or not (word[0].isalpha() and word[-1].isalpha()) or _PRODUCT.fullmatch(word):
        return None
    for listed in book.masked.get((word[0], word[-1], len(word)), ()):
        pairs = [(mark, letter) for mark, letter in zip(word, listed, strict=True) if mark != letter]
        if not all(mark in MARKS and (mark != "@" or letter in "aeiou") for mark, letter in pairs):
            continue
        # The mask can hardly be anything else: "k**e" may be a power, and "p@ss" a password.
        term = book.words[listed]
        known = term.tier in ("strong", "sexual") or set(marks) == {"*"}
        if term.text in book.often_masked if 2 * len(marks) >= len(listed) else known:
            return listed
    return None


_UNSEEN = frozenset({"Mn", "Me", "Cf"})
"""Unicode categories of what is dropped: accents, enclosing marks, zero-width characters."""

_PLAIN = dict(zip("‘’“”–—¡•●∗★■█", "''\"\"--!******", strict=True))
"""Typographic characters and what they are typed as."""

_ASCII = {code: chr(code).lower().replace("_", " ") for code in range(128)}

_LATIN_LETTER = re.compile(r"(?:NEGATIVE \w+ )?LATIN .*\b(?:LETTER|CAPITAL|DOTLESS|SCRIPT) ([A-Z])(?: WITH .*)?")
"""Names of letters that do not decompose: "ø", dotless "i", small capitals, letters in dark squares."""

_FOREIGN = "авсеԁһіјкмнорԛѕтуԝхпи" + "αβεηικμνορτυωχγ" + "օսո" + "¢€"
_SHAPES = "abcedhijkmhopqstywxnu" + "abenikuvoptuwxy" + "oun" + "ce"
_LOOK_ALIKES = str.maketrans(_FOREIGN, _SHAPES)
_FOREIGN_LETTERS = frozenset(_FOREIGN)
_FOREIGN_WORD = re.compile(r"[\w¢€]+")
_LATIN = re.compile(r"[a-z]")


class FoldedText(NamedTuple):
    """A text in the normalised form in which words are looked up."""

    text: str
    """Compatibility forms resolved, lower case, without accents and invisible characters."""
    offsets: list[int] | None
    """Where each character came from, and the length at the end; None when nothing moved."""


def fold_text(text: str) -> FoldedText:
    """Normalise a text: compatibility forms, case, accents, zero-width and look-alike characters, underscores.

    "ß" stays: as "ss" it would turn a German verb ("er aß") into a bad word. Greek, Cyrillic and Armenian look-alikes
    become Latin letters only in words that also have a Latin letter: else the Greek spirit "ρακί" would be a slur.
    """
    if text.isascii():
        # An underscore joins words as a space parts them.
        return FoldedText(text.lower().replace("_", " "), None)
    foreign = {ord(char): _fold_char(char) for char in set(text) if not char.isascii()}
    table = _ASCII | foreign
    folded = text.translate(table)
    if not _FOREIGN_LETTERS.isdisjoint(folded):
        folded = _FOREIGN_WORD.sub(
            lambda word: word[0].translate(_LOOK_ALIKES) if _LATIN.search(word[0]) else word[0], folded
        )
    if all(len(piece) == 1 for piece in foreign.values()):
        return FoldedText(folded, None)
    offsets = [index for index, char in enumerate(text) for _ in table[ord(char)]]
    return FoldedText(folded, [*offsets, len(text)])


@lru_cache(maxsize=8192)
def _fold_char(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    letters = []
    for part in unicodedata.normalize("NFKD", char):
        if unicodedata.category(part) not in _UNSEEN:
            named = None if part.isascii() else _LATIN_LETTER.fullmatch(unicodedata.name(part, ""))
            letters.append(named[1] if named else part)
    return "".join(letters).lower()


_WORD = re.compile(r"\w+")
GESTURE = "\N{REVERSED HAND WITH MIDDLE FINGER EXTENDED}"
"""The one term that is no word: it also counts between letters."""
_GESTURES = re.compile(f"{GESTURE}[\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}-\N{EMOJI MODIFIER FITZPATRICK TYPE-6}]?")
_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}
Span = tuple[int, int]
"""Start and end of a stretch of text, end exclusive."""

SPELLED = re.compile(r"(?<!\w)[a-z](\. |[ .*-])[a-z](?:\1[a-z]){2,24}(?!\w)")
"""A word spelled out: "f.u.c.k"."""

_DASHED = re.compile(r"(?<![\w-])[a-z]+--+[a-z]+(?![\w-])")
# It begins with a set of characters, for which re has a fast search; ordinals and decades are ordinary words.
_MARKED = re.compile(
    r"[0-9*#%@$!](?:(?<=[a-z][0-9*#%@$])|(?<=[a-z]!)[*#%@$!]*\w|(?<=[0-9@$])[*@$!]{0,3}(?!(?:s|st|nd|rd|th)\b)[a-z])"
)
_LETTERS = frozenset(ascii_lowercase)
_SELDOM_ALONE = frozenset("bcfghjklnpruvwxyz")
"""Letters unlike those of "it's", "don't" and "a"; of the listed words only "tits" has none of them."""

# A backslash belongs to a run, so that the escape "\n*****" is no mask.
_NO_RUN = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in MARKS + "\\"}
_NOT_IN_RUNS = re.compile(rf"[^\w{MARKS}\\]")
SHORTEST = 3
"""Least letters of an English word next to a listed one in a joined word; shorter words are listed below."""

_CAREFUL = ("shit", "cunt", "slut")
"""Stems that occur in names ("Harshit"): a word next to them needs one more letter."""

_BESIDE = words(
    "all and big dirty dumb eat face get go hell her him holy hot it little me my no of off oh piece please so son "
    "stupid suck that the them this up us what ya yall yes you your yourself "
    "any are but can did for gay god had has how jew let lol man men not now one our out see she shut too was who why"
)
"""Short words that may be next to a listed word; none as short as an ending: "shita" is Japanese."""

_BEFORE = words("an as at be by do he i if in is on or to un we")
"""Words that may be at the beginning of a run, or between two words that are not listed."""

_SHORT = words("a an as at be by do go he i if in is it me my no of off on or so to up us we the and you all")
"""The short words of harmless runs: "pushit" is "push it"."""


class ToxicToken(NamedTuple):
    """A word of a folded text."""

    start: int
    end: int
    """Where it ends, exclusive."""
    word: str
    """The listed word that is meant, or the unchanged word."""


class WordReading(NamedTuple):
    """The number of words in a text, and the words that may count as bad."""

    words: int
    """All words of the text: runs of letters and digits."""
    tokens: list[ToxicToken]
    """The words that may count or be part of a phrase, in order, disguised ones as what they mean."""


def read_toxic_tokens(text: str, book: Lexicon) -> WordReading:
    """Find the words of a folded text that may count as bad."""
    bare = text.translate(_NO_WORD) if text.isascii() else re.sub(r"\W", " ", text)
    words = bare.split()
    present = set(words)
    spans = find_suspect_spans(text, bare, present)
    runs = find_joined_words(bare, present, book)
    gestures = [ToxicToken(*match.span(), GESTURE) for match in _GESTURES.finditer(text)] if GESTURE in text else []
    # Most texts end here, and the set shows it far faster than a look at each word.
    if not spans and not runs and not gestures and book.triggers.isdisjoint(present):
        return WordReading(len(words), [])
    disguised = [token for start, end in spans for token in _read_run(text[start:end].replace("-", "*"), start, book)]
    telling = book.triggers.intersection(present).union(token.word for token in disguised)
    wanted = telling.union(*(book.companions.get(word, ()) for word in telling)) & present
    for start, end in spans:
        bare = bare[:start] + " " * (end - start) + bare[end:]
    parts = []
    for start, _, run in _yield_places(bare, runs):
        for part in runs[run]:
            parts.append(ToxicToken(start, start + len(part), part))
            start += len(part)
    return WordReading(len(words), sorted([*gestures, *disguised, *_yield_places(bare, wanted), *parts]))


def _yield_places(bare: str, wanted: Iterable[str]) -> Iterator[ToxicToken]:
    """Yield the places of some words in a text that has only words and spaces."""
    padded = f" {bare} "
    for word in wanted:
        at = padded.find(f" {word} ")
        while at >= 0:
            yield ToxicToken(at, at + len(word), word)
            at = padded.find(f" {word} ", at + len(word) + 1)


def _read_run(run: str, start: int, book: Lexicon) -> Iterator[ToxicToken]:
    """Yield the bad words in a run of letters, digits and symbols: one disguised word, or words between symbols."""
    if run.isalpha():
        if word := find_disguised_word(run, book):
            yield ToxicToken(start, start + len(run), word)
        return
    # A word spelled out, "f.u.c.k"; an article before it is not part of it: "a f u c k i n g mess".
    if not run[1:2].isalnum() and SPELLED.fullmatch(run):
        for skipped in (0, 2) if run[:2] in ("a ", "i ") else (0,):
            letters = re.sub(r"[^a-z]", "", run[skipped:])
            if len(letters) >= 4 and letters in book.words:
                yield ToxicToken(start + skipped, start + len(run), letters)
                return
    core = run.lstrip("*#%!")
    begin = start + len(run) - len(core)
    core = core.rstrip("#%!")
    # Asterisks at the end are emphasis or a footnote unless the spelling is one that everybody uses.
    word = None if run[0] == "*" else book.spellings.get(core)
    if not word:
        core = core.rstrip("*#%!")
        word = book.spellings.get(core) or find_disguised_word(core, book)
    if word:
        yield ToxicToken(begin, begin + len(core), word)
        return
    for part in _WORD.finditer(run):
        word = part[0] if part[0] in book.known else find_disguised_word(part[0], book)
        if word:
            yield ToxicToken(start + part.start(), start + part.end(), word)


def find_joined_words(text: str, present: Iterable[str], book: Lexicon) -> dict[str, list[str]]:
    """Return the words that join several words, with their parts: "fuckyou" is "fuck" and "you".

    A listed word is next to English words, and no part is left over: "Scunthorpe" is not such a word. An English word
    ("bastardize") is not one either, nor a word that also consists of harmless words alone ("pushit").
    """
    # Few texts hold any of them.
    likely = [
        word for stem in book.stems if stem in text for word in present if stem in word and word not in book.known
    ]
    return {word: parts for word in likely if len(word) <= MAX_LENGTH and (parts := _split_joined_word(word, book))}


def _split_joined_word(word: str, book: Lexicon) -> list[str] | None:
    shortest = SHORTEST + any(stem in word for stem in _CAREFUL)

    def is_listed(part: str) -> bool:
        return part in book.words and part.startswith(book.stems)

    def is_ordinary(part: str) -> bool:
        return len(part) >= shortest and part not in book.words and _is_english_word(part)

    def can_be_part(part: str, start: int) -> bool:
        if is_listed(part) or part in _BESIDE or is_ordinary(part):
            return True
        # A short word is at the beginning, or between words that are no stem: "shitan" is a name.
        leads = start + len(part) < len(word) and not word[:start].endswith(book.stems)
        return part in _BEFORE and leads

    if _is_english_word(word) or word in book.never_joined:
        return None
    if plain := _split_into_words(word, lambda part, start: part in _SHORT or is_ordinary(part)):
        # Where no stem is made of whole parts, it is another word: "pushit" is, "wetback" of "wet" and "back" is not.
        edges = {0, *accumulate(map(len, plain))}
        places = ((word.find(stem), len(stem)) for stem in book.stems)
        if not any({place, place + length} <= edges for place, length in places if place >= 0):
            return None
    parts = _split_into_words(word, can_be_part)
    return parts if parts and any(map(is_listed, parts)) else None


def _is_english_word(word: str) -> bool:
    return word in vocabulary().flags or word in build_closed_classes()


def _split_into_words(word: str, can_be_part: Callable[[str, int], bool]) -> list[str] | None:
    """Split a word into words, the longest first from the left; None if a part is left over."""
    # From the right, so that each rest is read once however many ways lead to it.
    rest: list[list[str] | None] = [*([None] * len(word)), []]
    for start in reversed(range(len(word))):
        for end in range(len(word), start, -1):
            after = rest[end]
            if after is not None and can_be_part(word[start:end], start):
                rest[start] = [word[start:end], *after]
                break
    return rest[0]


def find_suspect_spans(text: str, bare: str, present: set[str]) -> list[Span]:
    """Return the spans in which a word may be disguised, in order and without overlap."""
    spans = list(_yield_stretches([match.start() for match in TRIPLE.finditer(bare)], bare))
    if marked := [match.start() for match in _MARKED.finditer(text)]:
        spans += _yield_stretches(marked, text.translate(_NO_RUN) if text.isascii() else _NOT_IN_RUNS.sub(" ", text))
    if len(present & _LETTERS) >= 3 and not present.isdisjoint(_SELDOM_ALONE):
        spans += (match.span() for match in SPELLED.finditer(text))
    if "--" in text:
        spans += (match.span() for match in _DASHED.finditer(text))
    kept: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _yield_stretches(places: Iterable[int], spaced: str) -> Iterator[Span]:
    """Yield the stretches between spaces that contain some of the places, each once."""
    end = 0
    for place in places:
        if place >= end:
            start = spaced.rfind(" ", end, place) + 1 or end
            end = spaced.find(" ", place)
            end = len(spaced) if end < 0 else end
            yield start, end

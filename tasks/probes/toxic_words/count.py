"""Count the bad words of a text, and mask them for readers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from string import ascii_lowercase
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.language.closed import words
from contrapose.tasks.probes.toxic_words.lexicon import TIERS, HarmlessSense, Lexicon, Tier, load_lexicon
from contrapose.tasks.probes.toxic_words.tokens import GESTURE, FoldedText, ToxicToken, fold_text, read_toxic_tokens

REACH = 160
"""Characters on either side of a word that are looked at."""

_SENTENCE_END = re.compile(r"[.!?\n]")
_WORD = re.compile(r"\w+")
_ADJOINING = re.compile(r"[\s'’-]{0,4}\w")
_BEFORE_VERB = words(
    "to will would can could may might must should shall cannot not t ll it which they we further greatly severely"
)
_AFTER_VERB = words("the a an its their any each such further by")
_ABUSING = words(
    "you u ya fucking fuckin bloody damn goddamn stupid dumb dirty filthy disgusting ugly nasty vile worthless useless "
    "pathetic lousy sick evil idiotic arrogant"
)
_BEFORE_NOUN = words("a an the another every your")
_BEFORE_NOUN_TOO = words("this that such some no like of called")
_AFTER_NOUN = words(
    "is are was were be am s should could can will would must may might do does did don has have had who whom "
    "whose that which if when because at as in on to with for from like than then too so not never i he she we they "
    "you here there"
)
_YOU_ARE = re.compile(r"\b(?:you are|you re|youre|ur|u r) (?!not\b|right\b|welcome\b)")
_OURSELVES = words("we us our fellow im am")


class WordPlace(NamedTuple):
    """The words of the sentence around a word."""

    before: list[str]
    """The words before it; the last one is next to it."""
    after: list[str]
    opened: bool
    """Whether punctuation, or nothing, is directly before it."""
    closed: bool
    """Whether punctuation, or nothing, follows directly."""


def find_sentence_around(text: str, start: int, end: int) -> WordPlace:
    """Return the words of the sentence around a word in a folded text."""
    before = _SENTENCE_END.split(text[max(0, start - REACH) : start])[-1]
    behind = text[end : end + REACH]
    after = _SENTENCE_END.split(behind)[0]
    opened = not _ADJOINING.match(before[::-1])
    return WordPlace(_WORD.findall(before), _WORD.findall(after), opened, not _ADJOINING.match(behind))


def is_harmless(word: str, sense: HarmlessSense, at: WordPlace) -> bool:
    """Return whether a listed word is harmless in a place; never if it is used as abuse."""
    last, following = at.before[-1] if at.before else "", at.after[0] if at.after else ""
    # It stands before the noun that it describes: "queer theory", "queer and trans people".
    describes = not at.closed and following not in _AFTER_NOUN
    if sense.own and (describes or not _OURSELVES.isdisjoint(at.before[-3:])):
        return True
    if last in _ABUSING:
        return False
    if not sense.beside.isdisjoint([*at.before, *at.after]):
        return True
    # "isn't retarded" is no verb.
    is_verb = following in _AFTER_VERB or (last in _BEFORE_VERB and not (last == "t" and word.endswith("ed")))
    if sense.verb and is_verb:
        return True
    if sense.only and at.opened and at.closed:
        return False  # set off on both sides, as in "hey, you fool, wait": somebody is called so
    if sense.only == "abuse":
        # "You are nothing but a …", "a … like you".
        return at.after[:2] != ["like", "you"] and not _YOU_ARE.search(" ".join(at.before[-8:]))
    if sense.only != "noun":
        return False
    # A word that is a verb too is a noun behind an article, or where no object of a verb follows.
    if following == "of" or last in _BEFORE_VERB or last == "bit":
        return True  # "It is a bit queer" says how it is.
    plural = word.endswith("s")
    if not plural and not _BEFORE_NOUN.isdisjoint(at.before[-3:]):
        return False
    return describes or not (plural or last in _BEFORE_NOUN_TOO)


_SYMBOL_AFTER = re.compile(r" ?[=+/^*<>\[`\\]|[(_]|[.,]\w|\. ?(?:no\b|nos\b|\d)|[,:] ?\d| of \d")
_SYMBOL_BEFORE = re.compile(r"[=+/^*<>`\\$] ?$|[._]$")
_GAP = re.compile(r"[\s'-]{1,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One bad word or phrase in a text."""

    term: str
    """The term of the lexicon: "fuck" for "fucking"."""
    tier: Tier
    text: str
    """As it is written in the text."""
    start: int
    end: int
    """Where it ends, exclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxicCount:
    """The bad words of one text."""

    total: int
    """Bad words of the tiers slur, strong and sexual."""
    by_tier: Mapping[Tier, int]
    """Bad words of each of the four tiers."""
    matches: tuple[Match, ...]
    """Every bad word, in the order of the text."""
    words: int
    """All words of the text, bad or not: runs of letters and digits."""


def count_toxic(text: str) -> ToxicCount:
    """Count the bad words of an English text: whole words and phrases, never parts of words.

    The counter recognises inflections, accents, masks ("f*ck"), look-alike digits ("sh1t"), letters repeated three
    times or more, spelled-out words ("f.u.c.k"), joined words ("fuckyou"), attached digits ("fuck123"), and in abusive
    words two swapped letters or one missing letter ("fukc"). The raised middle finger counts as a word. The longest
    phrase counts, once. A few words do not count if their sentence shows a harmless meaning.
    """
    folded, book = fold_text(text), load_lexicon()
    reading = read_toxic_tokens(folded.text, book)
    matches = tuple(_find_matches(text, folded, reading.tokens, book))
    by_tier = dict.fromkeys(TIERS, 0)
    for match in matches:
        by_tier[match.tier] += 1
    return ToxicCount(total=len(matches) - by_tier["mild"], by_tier=by_tier, matches=matches, words=reading.words)


def mask_word(word: str) -> str:
    """Return a word or phrase as its first character, asterisks and spaces; a gesture has no first character."""
    shown = word[:1] if word[:1].isascii() or word[:1].isalnum() else "*"
    return shown + re.sub(r"\S", "*", word[1:])


def _find_matches(text: str, folded: FoldedText, tokens: list[ToxicToken], book: Lexicon) -> Iterator[Match]:
    index = 0
    while index < len(tokens):
        word, last, term = tokens[index].word, index, book.words.get(tokens[index].word)
        for phrase in book.phrases.get(word, ()):
            span = tokens[index : index + len(phrase.words)]
            joined = all(_GAP.fullmatch(folded.text, one.end, other.start) for one, other in pairwise(span))
            if joined and tuple(token.word for token in span) == phrase.words:
                last, term = index + len(phrase.words) - 1, phrase.term
                break
        start, end = tokens[index].start, tokens[last].end
        if term:
            # A disguised word is never harmless: "cr1pple" is never a verb.
            written = folded.text[start:end]
            sense = book.senses.get(term.text) if written in book.words else None
            if sense is None or not is_harmless(written, sense, find_sentence_around(folded.text, start, end)):
                if folded.offsets:
                    # What folding dropped behind the last letter (an accent, say) belongs to the word.
                    start, end = folded.offsets[start], max(folded.offsets[end], folded.offsets[end - 1] + 1)
                match = Match(term=term.text, tier=term.tier, text=text[start:end], start=start, end=end)
                if not _is_name_or_symbol(match, text, book):
                    yield match
        index = last + 1


def _is_name_or_symbol(match: Match, text: str, book: Lexicon) -> bool:
    """Return whether a word is used as a name, a variable or an abbreviation: "fck = 30", "sht. 3"."""
    word = fold_text(match.text).text
    if (match.text.istitle() and word in book.names) or (match.text.isupper() and word in book.initials):
        return True
    before = text[max(0, match.start - 3) : match.start]
    is_symbol = _SYMBOL_AFTER.match(text, match.end) or _SYMBOL_BEFORE.search(before)
    return match.text.lower() in book.symbols and bool(is_symbol)


def count_langtest(text: str) -> int:
    """Count terms of LangTest's list in a text: between word boundaries, ignoring case, the longest first.

    Source: LangTest 2.7.0, `compare_generations_overlap` in langtest/transform/utils.py.
    """
    return len(_compile_langtest_pattern().findall(text))


def load_langtest_terms() -> list[str]:
    """Load LangTest's list of words; the file names its source."""
    lines = files("contrapose.data").joinpath("lexicons", "langtest.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def _compile_langtest_pattern() -> re.Pattern[str]:
    """Compile LangTest's pattern, with common first letters factored out: this makes it ten times as fast."""
    longest_first = sorted(load_langtest_terms(), key=lambda term: (term[0], -len(term)))
    by_letter = groupby(longest_first, key=lambda term: term[0])
    words = (f"{letter}(?:{'|'.join(re.escape(term[1:]) for term in group)})" for letter, group in by_letter)
    return re.compile(rf"\b(?:{'|'.join(words)})\b|{GESTURE}", re.IGNORECASE)


_FOREIGN = r"[^\x00-\x7F‘’“”…–]"
"""Whatever folding may turn into a letter or a mask; not the quotes, dots and dashes of ordinary text."""
_MARKED = r"[a-z][0-9*#%@$]|[0-9@$][*@$!]*[a-z]|[a-z]![a-z0-9*#%@$!]"
_BETWEEN = "[^a-z0-9]{1,3}"
_SPELLED = r"(?:[ _.*–-] ?[a-z]){3}"


def find_doubtful(texts: Sequence[str]) -> list[bool]:
    """Return which texts may hold a bad word or a term of LangTest, or hold no word; all others are clean.

    Each alternative is wider than what the counter looks for, so that nothing is missed.
    """
    # A lone surrogate cannot be encoded; it stands between words as a question mark does.
    lower = pc.ascii_lower(pa.array([text.encode(errors="replace") for text in texts], pa.large_string()))
    worded = pc.match_substring_regex(lower, "[a-z0-9]")
    doubts: list[bool] = pc.or_(pc.match_substring_regex(lower, _write_wide_pattern()), pc.invert(worded)).to_pylist()
    return doubts


@cache
def _write_wide_pattern() -> str:
    book = load_lexicon()
    phrases = [phrase.words for group in book.phrases.values() for phrase in group if phrase.term]
    ours = (_BETWEEN.join(map(re.escape, term)) for term in sorted([*phrases, *((word,) for word in book.words)]))
    listed = "|".join([*ours, *map(re.escape, load_langtest_terms())])
    stretched = "|".join(letter * 3 for letter in ascii_lowercase)
    return "|".join(
        [rf"(?:^|[^a-z])(?:{listed})(?:[^a-z]|$)", *book.stems, stretched, "--", _MARKED, _SPELLED, _FOREIGN]
    )

"""Rules that look at the neighbours of a word, for example to skip adverbs or recognise auxiliaries."""

from __future__ import annotations

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.sentence import Sentence

_ADVERB = f.ADV | f.SEMI
_NO_ITS = f.ING | f.PREP
_NO_HAVE = f.MODAL | f.TO | f.DO | f.HAVE | f.CLITIC
_NO_MODAL = f.DET | f.MODAL | f.PREP
_BEHIND_NOUN = f.BE | f.MODAL | f.DO
_OBJECT = f.NOUN | f.ADJ | f.DET
_COMPLETED = words("""
    make makes made keep keeps kept turn turns turned render renders rendered leave leaves left get gets got paint
    paints painted dye dyes dyed stain stains stained colour colours coloured color colors colored help helps helped let
    lets hold holds held set sets cut cuts cook cooks cooked
""")


def is_adverb(s: Sentence, i: int) -> bool:
    """Return whether word `i` may be between an auxiliary and its verb."""
    return bool(s.tag(i) & _ADVERB)


def index_before_adverbs(s: Sentence, i: int, start: int = 0) -> int:
    """Return the index of the word before `i`, with adverbs skipped; at least `start` - 1."""
    k, tags = i - 1, s.tags
    while k > start and tags[k] & _ADVERB:
        k -= 1
    return k


def index_after_adverbs(s: Sentence, i: int) -> int:
    """Return the index of the word after `i`, with adverbs skipped."""
    k, tags = i + 1, s.tags
    while k < len(tags) and tags[k] & _ADVERB:
        k += 1
    return k


def takes_complement(s: Sentence, i: int) -> bool:
    """Return whether word `i` is a verb whose object can have a complement: "makes leaves green"."""
    return s.word(i) in _COMPLETED


def is_complement(s: Sentence, i: int) -> bool:
    """Return whether word `i` may be the complement of an object, as "green" is in "makes leaves green"."""
    k = i - 1
    if not s.tag(i) & f.ADJ or not s.tag(k) & f.NOUN:
        return False
    while s.tag(k) & _OBJECT and not (
        takes_complement(s, k - 1) or (s.tag(k - 1) & f.FINITE and s.tag(k - 2) & f.REL)  # "that drives dogs mad"
    ):
        k -= 1
    return bool(s.tag(k) & _OBJECT)


def is_bare_verb_after_object(s: Sentence, i: int) -> bool:
    """Return whether word `i` is a bare verb after an object, as "sit" is in "makes dogs sit"."""
    k = i - 1
    while s.tag(k) & _OBJECT and i - k < 4 and not takes_complement(s, k):
        k -= 1
    return k < i - 1 and takes_complement(s, k)


def is_finite_aux(s: Sentence, i: int) -> bool:
    """Return whether word `i` is a finite auxiliary, copula or modal, and not a noun or name like "can" or "Will"."""
    tags = s.tags
    if not 0 <= i < len(tags) or not tags[i] & f.AUX:
        return False
    tag, before = tags[i], s.tag(i - 1)
    if before & f.TO or (before & _NO_ITS and s.words[i] == "it's"):
        return False  # meant is "its"
    if tag & f.MODAL:
        if before & _NO_MODAL and not before & f.SUBJ and s.word(i + 1) not in ("be", "have"):
            return False
        if s.word(i - 1).endswith("'s") or (s.closed and i + 1 == len(s.words) and before & f.NOUN):
            return False  # "Anna's will", "a watering can"
        return bool(before & f.SUBJ) or not (s.tag(i + 1) & _BEHIND_NOUN or s.word(i + 1) in ("has", "of"))
    if s.source(i) == "IS" and not s.text.isupper() and before & (f.ADJ | f.PREP | f.DET):
        return False  # "a senior IS leader"
    if s.words[i] == "am":
        return "i" in (s.word(index_before_adverbs(s, i)), s.word(i + 1))
    if s.words[i] in ("have", "do", "had"):
        k = index_before_adverbs(s, i)
        if s.tag(k) & f.ING and not s.tag(k) & f.NOUN:
            return False  # "having had", "making do"
        return k < 0 or not tags[k] & _NO_HAVE
    return True


def is_negating_least(s: Sentence, i: int) -> bool:
    """Return whether "least" nearly negates the next word: "least likely", "least resembles"."""
    if s.words[i] != "least" or s.word(i - 1) == "at":
        return False
    return (
        s.source(i).isupper()
        or s.word(i + 1) == "likely"
        or bool(s.tag(i + 1) & f.FINITE and not s.tag(i + 1) & (f.ADJ | f.NOUN))
    )

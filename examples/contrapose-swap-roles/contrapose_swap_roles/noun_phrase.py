"""Where a noun phrase ends, whether it is singular or plural, and whether a capital belongs to it."""

from __future__ import annotations

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.inflection import is_plural_phrase
from contrapose.tasks.language.reading import Sentence, flags_of
from contrapose.tasks.language.vocabulary import vocabulary

PRONOUNS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
"""Pronouns as a subject, and the same as an object."""
SUBJECTS = {thing: agent for agent, thing in PRONOUNS.items()}
"""Pronouns as an object, and the same as a subject."""

_LONE = words(
    """
    i you he she it we they me him us them someone everyone somebody everybody something everything nobody nothing
    """
)
_ENDS = words(
    """
    home north south east west upstairs downstairs abroad goodbye overnight indoors outdoors
    monday tuesday wednesday thursday friday saturday sunday
    """
)
_TITLES = words("mr mrs ms dr prof st aunt uncle king queen president captain saint lord lady sir")
_NAMES_TOO = words(
    """
    john rose bill mark jack grace frank pat rob bob dick don art ray max gene dean guy harry grant ruby amber daisy
    lily ivy iris violet hope faith joy dawn heather robin jean victor miles chase lance drew sue peg penny turkey
    china chad jordan lee american british french german english chinese japanese russian roman greek indian african
    european italian spanish irish scottish dutch turkish polish swedish canadian mexican brazilian australian
    january february march april may june july august september october november december
    """
)
_PEOPLE = words("rich poor blind deaf homeless unemployed wounded")
_EITHER = words("fish sheep deer salmon tuna trout shrimp squid prey elk moose bison cod aircraft offspring")
_MODIFIER = f.NOUN | f.ADJ | f.PART | f.ING | f.NAME | f.NUMBER
_USUALLY = f.USUALLY_NOUN | f.USUALLY_ADJ | f.USUALLY_VERB
_ONE = words("a an one this that each every another")
_SEVERAL = words("two three four five six seven eight nine ten eleven twelve these those many few several both")


def phrase_end(s: Sentence, start: int, *, with_of: bool = True, limit: int | None = None) -> int | None:
    """Index of the last word of the noun phrase that starts at `start`; None where none surely does.

    Args:
        s: the sentence.
        start: index of its first word.
        with_of: whether "of" and what follows belong to it.
        limit: index of the last word that it may have; that of the sentence when empty.
    """
    stop = len(s.words) if limit is None else limit + 1
    end = _simple_end(s, start, stop)
    while end is not None and (s.word(end + 1) == "and" or (with_of and s.word(end + 1) == "of")):
        further = _simple_end(s, end + 2, stop)
        if further is None:
            return None
        end = further
    return end


def _simple_end(s: Sentence, start: int, stop: int) -> int | None:
    """The end of a phrase without "of" and "and", before word `stop`."""
    if _is_pronoun(s, start):
        return start
    k = start
    while s.tag(k) & (f.DET | f.QUANT):
        k += 1
    if k > start and s.word(k) == "of":
        return _simple_end(s, k + 1, stop)
    if k == start and (s.word(k) in _ENDS or s.tag(k) & f.ING) and not s.tag(k) & (f.ADJ | f.NAME):
        return None
    return _head(s, k, stop, determined=k > start)


def _is_pronoun(s: Sentence, i: int) -> bool:
    if s.word(i) == "her" or s.word(i) in ("this", "that", "these", "those"):
        return not s.tag(i + 1) & _MODIFIER
    return s.word(i) in _LONE


def _head(s: Sentence, k: int, stop: int, *, determined: bool) -> int | None:
    """Index of the last noun among the modifiers and nouns from `k` on."""
    head = None
    while k < stop and _continues(s, k, behind_noun=head is not None, determined=determined):
        if s.words[k].endswith(("'s", "s'")):
            head = None
        elif s.tags[k] & (f.NOUN | f.NAME) and not s.tags[k] & f.NUMBER:
            head = k
        k += 1
    return head if head == k - 1 else None


def _continues(s: Sentence, k: int, *, behind_noun: bool, determined: bool) -> bool:
    tag = s.tags[k]
    if tag & f.CLOSED and s.words[k] not in closed.OPEN_NOMINALS:
        amplifies = determined and tag & f.ADV and s.tag(k + 1) & (f.ADJ | f.PART)
        return bool(amplifies) and not behind_noun
    if not behind_noun:
        return bool(tag & _MODIFIER)
    if s.words[k] in _ENDS or ("-" in s.words[k] and not tag & f.NAME):
        return False  # "hit the car head-on"
    return bool(tag & (f.NOUN | f.NAME)) and not tag & (f.CLOSED | f.USUALLY_ADJ)


def is_plural(s: Sentence, start: int, end: int) -> bool | None:
    """Whether the phrase takes a plural verb, as "I" and "you" do; None when it cannot be told."""
    first, last = s.words[start], s.words[end]
    if start == end and first in (*SUBJECTS, *PRONOUNS, "you"):
        return first not in ("he", "him", "she", "her")
    if "and" in s.words[start : end + 1]:
        return True
    if first in _ONE or first in _SEVERAL:
        return first in _SEVERAL
    if s.tags[end] & f.NAME:
        many = s.tags[end] & f.NOUN == f.PLURAL  # "Mondays"
        return None if many or (first == "the" and last.endswith("s")) else False
    found = is_plural_phrase(s, start, end)
    return _uncounted(s, start, end) if found is None and s.tags[end] & f.NOUN == f.NOUN else found


def _uncounted(s: Sentence, start: int, end: int) -> bool | None:
    """Whether a noun with one form for both numbers is plural; the dictionary lists mass nouns so as well."""
    last = s.words[end]
    if last in _PEOPLE or (last in _EITHER and start == end):
        return True
    return None if last in _EITHER or last.endswith("s") else False


def keeps_capital(s: Sentence, i: int) -> bool:
    """Whether the first word of a sentence would have its capital elsewhere too."""
    word, tag, spelled = s.words[i], s.tags[i], s.source(i)
    if len(spelled) > 1 and not spelled[1:].islower():
        return True
    if tag & f.CLOSED:
        return False
    stem = word.removesuffix("'s")
    if word in _TITLES or stem in _NAMES_TOO or s.tag(i + 1) & f.NAME:
        return True
    tag = flags_of(stem)
    known = stem in vocabulary().flags and tag & f.NOUN == f.SINGULAR  # names have no plural of their own there
    return bool(tag & f.SINGULAR) and not known and not tag & (_USUALLY | f.ADJ)

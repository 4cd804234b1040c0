"""Tells a finite verb from a noun of the same form, by what stands around it."""

from __future__ import annotations

from typing import Literal

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.words import words

Reading = Literal["no", "maybe", "yes"]

# Nouns too, but verbs wherever a noun of the right number stands before them.
STRONG = words(
    """
    need use cause live lack produce remain rely lie kill reach raise require receive feed melt help
    love
    """
)
_BY_FORM = {form: base for base in STRONG for form in (base, base + "s", base + "es")} | {"relies": "rely"}
_NAMING = words(
    """
    called named titled dubbed given entitled considered termed offered shown awarded taught paid made
    left
    """
)
_TIMES = words("year day month week night morning evening season summer winter")
_NOMINATIVE = words("i you he she it we they")
_PLURAL_PRONOUNS = words("i you we they")
_ALSO_NOUNS = words("rose saw bit fell shot wound ground felt lay bore spoke drove")
_MOTION = words("hunt fly sleep run walk rise fall move travel lie sit breathe work drink swim bark")
_INTRANSITIVE = words(
    """
    sat stood lived died arrived happened occurred existed appeared disappeared slept remained
    belonged consisted lasted seemed returned ended resigned agreed emerged collapsed
    """
)
_TAKES_OF = words("consist consists consisted think thinks thought dream dreams hear heard smell smells")


def reading(s: Sentence, i: int, start: int) -> Reading:
    """Whether word `i` is the finite verb of the clause that starts at `start`."""
    tag = s.tags[i]
    if not tag & t.FINITE_FORM or i == start or s.source(i)[0].isupper() or _has_of(s, i):
        return "no"
    k = before_adverbs(s, i, start)
    if s.tag(k) & (t.TO | t.PREP | t.MODAL | t.DO | t.LOOSE | t.BE) or _is_determined(s, i, k):
        return "no"
    if s.tag(k) & (t.COORD | t.BREAK | t.HAVE | t.OPENER):
        return "maybe"
    if is_finite_aux(s, i + 1):
        return "maybe" if tag & t.EMBED else "no"
    return _by_form(s, i, k, start)


def before_adverbs(s: Sentence, i: int, start: int) -> int:
    """Index of the word before `i`, adverbs left out."""
    k = i - 1
    while k > start and t.is_adverb(s.words[k], s.tags[k]) and s.source(k)[0].islower():
        k -= 1
    return k


def after_adverbs(s: Sentence, i: int) -> int:
    """Index of the word after `i`, adverbs left out."""
    k = i + 1
    while k < len(s.words) and t.is_adverb(s.words[k], s.tags[k]):
        k += 1
    return k


def is_finite_aux(s: Sentence, i: int) -> bool:
    """Whether word `i` is a finite auxiliary, copula or modal, and not a noun like "can" or "will"."""
    tag = s.tag(i)
    if not tag & t.AUX or s.tag(i - 1) & t.TO:
        return False
    if i > 0 and s.source(i)[0].isupper() and s.words[i - 1] != ":" and not s.text.isupper():
        return False
    if tag & t.MODAL:
        before = s.tag(i - 1)
        if before & (t.DET | t.MODAL) and s.word(i - 1) not in ("this", "these"):
            return False
        return bool(before & t.SUBJ) or not (s.tag(i + 1) & (t.BE | t.MODAL | t.DO) or s.word(i + 1) == "has")
    if tag & (t.HAVE | t.DO) and s.words[i] in ("have", "do", "had"):
        return not s.tag(_before(s, i)) & (t.MODAL | t.TO | t.DO | t.HAVE)
    return True


def _has_of(s: Sentence, i: int) -> bool:
    return s.word(i + 1) == "of" and s.words[i] not in _TAKES_OF


def _before(s: Sentence, i: int) -> int:
    return before_adverbs(s, i, 0)


def _is_determined(s: Sentence, i: int, k: int) -> bool:
    before = s.tag(k)
    if not before & (t.DET | t.QUANT) and not s.word(k).endswith(("'s", "s'")):
        return False
    return not (before & t.SUBJ and not s.tags[i] & (t.VERBISH | t.NOUNISH))


def _by_form(s: Sentence, i: int, k: int, start: int) -> Reading:
    tag = s.tags[i]
    if tag & t.BASE and tag & t.PAST and s.words[i] != "lay":
        return "maybe"
    if tag & t.PAST and not tag & t.BASE:
        return _past(s, i, k)
    if bool(tag & t.BASE) != is_plural_subject(s, start, k):
        return "no" if tag & t.BASE else "maybe"
    return _by_class(s, i, k, start)


def _past(s: Sentence, i: int, k: int) -> Reading:
    word, after = s.words[i], s.tag(i + 1)
    if s.word(k) in _NOMINATIVE:
        return "yes"
    if word in _ALSO_NOUNS:
        return "yes" if after & (t.NP_START | t.PREP) else "maybe"
    if not t.is_participle(word, s.tags[i]) or (s.tags[i] & t.EMBED and s.word(i + 1) == "that"):
        return "yes"
    if word in _INTRANSITIVE:
        return "yes"
    takes_object = after & (t.DET | t.OBJ) and word not in _NAMING
    return "yes" if takes_object and s.word(i + 2) not in _TIMES else "maybe"


def _by_class(s: Sentence, i: int, k: int, start: int) -> Reading:
    tag, after = s.tags[i], s.tag(i + 1)
    if not tag & (t.VERBISH | t.NOUNISH) or s.word(k) in _NOMINATIVE:
        return "yes"
    if tag & t.VERBISH and s.words[i] in _BY_FORM:
        return "maybe" if tag & t.THIRD and _may_be_noun(s, i, k, start) else "yes"
    if (
        after & (t.DET | t.OBJ | t.QUANT)
        or (tag & t.EMBED and s.word(i + 1) == "that")
        or (tag & t.VERBISH and after & t.TO)
    ):
        return "yes"
    if tag & t.VERBISH and tag & t.BASE and _after_lone_plural(s, i, k, start):
        return "yes"
    if not tag & t.VERBISH or not (after & (t.PREP | t.ADV) or i + 1 == len(s.words)):
        return "maybe"
    if tag & t.THIRD:
        return "yes" if s.tags[start] & t.DET and k == start + 1 else "maybe"
    return "yes" if k == start and s.words[i] in _MOTION else "maybe"


def _after_lone_plural(s: Sentence, i: int, k: int, start: int) -> bool:
    """Whether a base form stands between a one-word plural subject and a noun or adjective: "Cows lay eggs"."""
    return k == start and i + 1 < len(s.words) and not (s.tags[start] & t.FINITE_FORM or s.tags[i + 1] & t.FUNCTION)


def _may_be_noun(s: Sentence, i: int, k: int, start: int) -> bool:
    """Whether a form like "needs" may head a title ("Human needs.") or a phrase ("in human lives")."""
    last = i + 1 == len(s.words)
    bare_end = last and (s.closed or s.words[start] in ("the", "its", "their", "our"))
    return bare_end or (k > start and bool(s.tags[k - 1] & t.PREP))


def is_plural_subject(s: Sentence, start: int, end: int) -> bool:
    """Whether the subject, words `start` to `end` inclusive, takes a plural verb."""
    if s.word(end) in _PLURAL_PRONOUNS:
        return True
    if s.tags[start] & t.PREP:
        return t.is_plural(s.words[end])
    head, joined = _head(s, start, end)
    return joined or (t.is_plural(s.words[head]) and not s.words[start].endswith("ing"))


def _head(s: Sentence, start: int, end: int) -> tuple[int, bool]:
    joined = False
    for i in range(start, end + 1):
        tag, word = s.tags[i], s.words[i]
        joined = joined or word == "and"
        if i > start and (tag & (t.PREP | t.OPENER | t.LOOSE) or _modifies_after(s, i, start)):
            return i - 1, joined
    return end, joined


def _modifies_after(s: Sentence, i: int, start: int) -> bool:
    if s.tags[i - 1] & t.FUNCTION:
        return False
    word = s.words[i]
    return (word.endswith("ing") and len(word) > 4 and i > start + 1) or (word.endswith("ed") and i > start + 1)

"""Find and make forms of verbs and nouns: base form, third person, past and plural."""

from __future__ import annotations

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.vocabulary import VERB_ENDINGS, split_prefix, vocabulary


def find_base_form(form: str, kind: int) -> str | None:
    """Return the base of a verb form read as `kind` (BASE, THIRD, PAST, PART or ING), or None if it is not known."""
    known = vocabulary()
    if kind == f.BASE:
        return form
    if form in known.bases[kind]:
        return known.bases[kind][form]
    stem, prefix = split_prefix(form)
    if stem:
        base = find_base_form(stem, kind)
        return None if base is None else prefix + base
    # An ending that leaves no doubt.
    if form.endswith(("ifies", "ified")):
        return form[:-3] + "y"
    if form.endswith("lled") and form[:-3] in vocabulary().verbs:
        return form[:-3]  # British: levelled, travelled
    for ending in ("ize", "ise", "ate"):
        if form in (form[: -len(ending) - 1] + ending + "s", form[: -len(ending) - 1] + ending + "d"):
            return form[:-1]
    return form if form.endswith(VERB_ENDINGS) else None


def make_third_person(base: str) -> str:
    """Return the third person singular of a verb: eat → eats, carry → carries."""
    if base in ("have", "be"):
        return {"have": "has", "be": "is"}[base]
    if base in ("go", "do", "undergo", "forego"):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")


def make_past(base: str) -> str:
    """Return the simple past of a verb; the regular form if the verb is not known."""
    known = vocabulary().verbs.get(base)
    if known:
        return known[0]
    stem, prefix = split_prefix(base)
    if stem in vocabulary().verbs:
        return prefix + make_past(stem)
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


_SINGULAR = words(
    "he she it this that each every everyone everybody someone somebody something everything one nothing anyone"
)
_EACH = words("each every")
_SINGULAR_FIRST = words("each every this that another either neither")
_PLURAL_FIRST = closed.PLURAL_PRONOUNS - words("i you we they")
_ENDS_PHRASE = f.PREP | f.TO | f.OPENER | f.LOOSE | f.BREAK
_TO_PHRASE = f.PREP | f.TO
_PARTICIPLE = f.PART | f.ING
_CROWDS = words("number lot variety majority group range pair couple series rest plenty handful host")


def is_plural_phrase(s: Sentence, start: int, end: int) -> bool | None:
    """Return whether words `start` to `end` (inclusive) need a plural verb, or None if both numbers are possible."""
    if end < start:
        return None
    last = s.words[end]
    if last in closed.PLURAL_PRONOUNS and s.tags[end] & f.SUBJ:
        return True
    first, opener = s.tags[start], s.words[start]
    if first & _TO_PHRASE:
        return None if first & f.PREP else False
    if first & f.ING and not first & f.ADJ and end > start:
        return None if s.tag(start + 1) & f.PLURAL else False  # "Growing plants needs care.", "Growing plants need it."
    if first & f.WH:
        return False  # "What she said hurts."
    head, joined = end, False
    for i in range(start, end + 1):
        if s.words[i] == "and":
            joined = True
            break
        participle = s.tags[i] & _PARTICIPLE and i > start and _follows_noun(s, i)
        if i > start and (participle or s.tags[i] & _ENDS_PHRASE):
            head = i - 1
            break
    if joined and opener not in _EACH:
        return True
    if s.words[head] in _SINGULAR or opener in _SINGULAR_FIRST:
        return False
    if head != end and s.words[head] in _CROWDS:
        return None
    if opener in ("a", "an") and s.words[start + 1] not in _PLURAL_FIRST:
        return False
    if opener in _PLURAL_FIRST:
        return True
    number = s.tags[head] & f.NOUN
    return None if number in (0, f.NOUN) else number == f.PLURAL


def _follows_noun(s: Sentence, i: int) -> bool:
    """Return whether a participle follows a noun: "plants grown in pots", "people living here"."""
    tag, before = s.tags[i], s.tags[i - 1]
    if before & f.CLOSED or not before & f.NOUN:
        return False
    return not tag & f.NOUN or bool(tag & f.ING and s.tag(i + 1) & (f.PREP | f.DET | f.ADV))


_PAST_TIME = words("yesterday ago last earlier previously once formerly then")
_PAST_VERBS = words("had was were did")
RATHER_PAST = words("found felt saw fell ground bore wound left shot lit bound")
"""Bare forms that are rather past forms of another verb."""
_PRESENT_TIME = words("every always usually often now currently sometimes daily never generally typically")


def choose_verb_form(s: Sentence, verb: int, subject: int) -> int:
    """Return BASE, THIRD or PAST for a verb, the most likely one if several are possible ("they put")."""
    tag = s.tags[verb]
    if tag & f.THIRD:
        return f.THIRD
    if tag & f.PAST and tag & f.BASE:
        word = s.words[verb]
        if subject == verb:
            return f.BASE
        plural = is_plural_phrase(s, subject, verb - 1)
        if plural is False:
            return f.PAST
        if find_base_form(word, f.PAST) != word:
            return f.PAST if word in RATHER_PAST else f.BASE
        if any(
            other in _PAST_TIME or other in _PAST_VERBS or (len(other) == 4 and other.isdigit() and other[0] in "12")
            for other in s.words
        ):
            return f.PAST
        if any(other in _PRESENT_TIME for other in s.words):
            return f.BASE
        return f.PAST if s.words[subject] in ("i", "we", "they", "you") else f.BASE
    return f.PAST if tag & f.PAST else f.BASE

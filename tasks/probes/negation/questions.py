"""Negates a wh-question: "Which gas is not used?", "What does a plant not need?"."""

from __future__ import annotations

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs, before_adverbs, is_finite_aux
from contrapose.tasks.language.inversion import inverted_participle, inverted_predicate, inverted_verb
from contrapose.tasks.language.odds import agreement, finite_odds
from contrapose.tasks.language.sentence import Edit, Sentence
from contrapose.tasks.probes.negation.place import after_auxiliary, with_do
from contrapose.tasks.probes.negation.result import EditPlan, SkipError, behind_subject

_PLACES = words("where when why")
_OPENS = f.OPENER | f.LOOSE | f.BREAK
_STOP = _OPENS | f.COORD


def negate_question(s: Sentence, start: int) -> EditPlan:
    """The plan that reverses the wh-question that starts at `start`.

    Raises:
        SkipError: no sound plan.
    """
    wh = start
    while not s.tags[wh] & f.WH:
        wh += 1
    if s.words[wh].startswith("how"):
        raise SkipError("negative_island_how")
    if s.tags[wh] & f.CLITIC:
        return behind_copula(s, wh, wh)
    verb = first_verb(s, wh)
    if not is_finite_aux(s, verb):
        return with_do(s, verb, min(wh + 1, verb - 1))  # "Which | boys ran": the subject is behind the question word
    return _at_auxiliary(s, wh, verb, pied=wh > start)


def first_verb(s: Sentence, wh: int) -> int:
    """The finite verb of the question's own clause."""
    for i in range(wh + 1, len(s.words)):
        tag = s.tags[i]
        if tag & f.AUX and is_finite_aux(s, i):
            return i
        if tag & _STOP:
            break
        if tag & f.FINITE and _is_lexical(s, i, wh):
            return i
    raise SkipError("wh_subject_boundary")


def _is_lexical(s: Sentence, i: int, wh: int) -> bool:
    """Whether a full verb stands right behind the question word or the noun that it asks about."""
    if s.words[wh] in _PLACES or _aux_before_clause(s, i + 1):
        return False
    before = before_adverbs(s, i, wh)
    if _may_be_noun_asked_for(s, i):
        return False
    if before > wh and _ends_choice(s, before):
        return True
    if before == wh:
        return bool(s.tags[i] & (f.THIRD | f.PAST))
    return finite_odds(s, i, wh) + agreement(s, i, wh + 1) > 0


def _may_be_noun_asked_for(s: Sentence, i: int) -> bool:
    """Whether a noun stands before its verb: "Which of these words means …?", "What plants grow here?"."""
    noun = s.tags[i] & f.NOUN and not s.tags[i] & f.USUALLY_VERB
    after = s.tag(after_adverbs(s, i))
    return bool(noun and after & f.FINITE) and (bool(after & f.USUALLY_VERB) or not after & f.NOUN)


def _aux_before_clause(s: Sentence, begin: int) -> bool:
    for i in range(begin, len(s.words)):
        if s.tags[i] & _OPENS:
            return False
        if is_finite_aux(s, i):
            return True
    return False


def _at_auxiliary(s: Sentence, wh: int, aux: int, *, pied: bool) -> EditPlan:
    tag = s.tags[aux]
    adjunct = pied or s.words[wh] in _PLACES
    if tag & f.BE:
        return low(s, behind_subject(inverted_predicate(s, aux))) if adjunct else behind_copula(s, wh, aux)
    if tag & f.HAVE:
        return _have(s, aux, adjunct=adjunct)
    verb = inverted_verb(s, aux)
    bare = verb is None and s.tag(after_adverbs(s, aux)) & f.BASE
    if not tag & f.DO and not adjunct and (_is_own(s, aux) or bare):
        return after_auxiliary(s, aux, wh + 1)
    return low(s, behind_subject(verb))


def _is_own(s: Sentence, aux: int) -> bool:
    """Whether the verb of a modal follows at once, so that the question asks about its subject: "Who will win?"."""
    k = after_adverbs(s, aux)
    tag = s.tag(k)
    if s.word(k) in ("be", "have", "do") or (tag & f.BASE and _ends_choice(s, aux - 1)):
        return True
    plain = tag & f.USUALLY_VERB or not tag & (f.NOUN | f.ADJ) or s.tag(k + 1) & (f.DET | f.OBJ)
    return bool(tag & f.BASE and plain)


def _ends_choice(s: Sentence, i: int) -> bool:
    """Whether the question word's phrase ends here as a subject does: "Which of these | may cause …?"."""
    return s.words[i - 1 : i + 1] in (["of", "these"], ["of", "those"], ["the", "following"])


def _have(s: Sentence, aux: int, *, adjunct: bool) -> EditPlan:
    k = after_adverbs(s, aux)
    if not adjunct and not s.tag(k) & f.NP_START and not s.tag(k) & f.NAME:
        return after_auxiliary(s, aux, aux)
    participle = inverted_participle(s, aux)
    return after_auxiliary(s, aux, aux) if participle is None and not adjunct else low(s, behind_subject(participle))


_ASPECTS = words(
    """
    color colour size shape kind type sort age height date time day year month temperature condition
    state number position name length weight distance amount speed percentage
    """
)
_NO_NOUN = f.CLOSED & ~f.SUBJ
_DESCRIBES = f.PART | f.ADJ


def behind_copula(s: Sentence, wh: int, be: int) -> EditPlan:
    """Put "not" right behind the copula when the question word is its subject or a noun phrase is asked for."""
    stranded = _stranded(s, be)
    if stranded is not None:
        return low(s, stranded)
    asked = be > wh + 1 and (s.words[wh] == "whose" or (s.words[wh] == "what" and _inverted(s, wh, be)))
    if asked and not _describes(s, after_adverbs(s, be)):
        return _behind_inverted(s, wh, be)
    if s.tag(be + 1) & f.SUBJ and not s.tag(be + 1) & f.DET:
        return low(s, behind_subject(inverted_predicate(s, be)))
    return after_auxiliary(s, be, wh)


def _behind_inverted(s: Sentence, wh: int, be: int) -> EditPlan:
    """Where a noun is asked for and a noun phrase follows: "What animal is | the largest?"."""
    aspect = any(s.words[i] in _ASPECTS for i in range(wh + 1, be))
    if aspect or inverted_predicate(s, be) is not None or s.words[wh] != "what" or s.words[be + 1] != "the":
        raise SkipError("wh_subject_boundary")
    return after_auxiliary(s, be, wh)


def _inverted(s: Sentence, wh: int, be: int) -> bool:
    """Whether the question asks what the noun behind the copula is like: "What color is grass?"."""
    follows = s.tag(be + 1)
    heads = any(s.words[i] in _ASPECTS for i in range(wh + 1, be))
    return bool(follows & f.DET) or (heads and not follows & f.CLOSED and not _describes(s, be + 1))


def _describes(s: Sentence, i: int) -> bool:
    return bool(s.tag(i) & _DESCRIBES) or s.word(i).endswith("ing")


def _stranded(s: Sentence, be: int) -> int | None:
    """The participle of an object question ("What is a stopwatch | used for?"); None in other questions.

    Raises:
        SkipError: a participle is there, but what it belongs to cannot be told.
    """
    k = after_adverbs(s, be)
    if s.tag(k) & f.PREP or _describes(s, k):
        return None
    for i in range(be + 2, len(s.words)):
        tag = s.tags[i]
        if tag & _STOP or (i == be + 4 and s.words[be + 1 : i] == ["an", "example", "of"]):
            return None
        if (tag & f.DET or _verb_shaped(s, i)) and _noun_before(s, i):
            return None if tag & f.DET else _object_gap(s, i)
    if s.tags[-1] & f.PREP:
        raise SkipError("wh_subject_boundary")
    return None


def _noun_before(s: Sentence, i: int) -> bool:
    return not s.tags[i - 1] & _NO_NOUN and not s.words[i - 1].endswith("ing")


def _verb_shaped(s: Sentence, i: int) -> bool:
    return bool(s.tags[i] & f.PART) or (s.words[i].endswith("ing") and len(s.words[i]) > 4)


def _object_gap(s: Sentence, i: int) -> int | None:
    last = len(s.words) - 1
    if s.tags[last] & (f.PREP | f.LOOSE) or i == last:
        return i
    if s.words[i].endswith("ing") and s.tag(i + 1) & (f.DET | f.NOUN) and not s.tag(i + 1) & _NO_NOUN & ~f.DET:
        return None  # it has an object: "the gas | causing the smell"
    if s.words[i].endswith("ing") or s.tags[last] & f.ADV:
        raise SkipError("wh_subject_boundary")
    return None


def low(s: Sentence, at: int) -> EditPlan:
    """Put "not" in front of a verb or predicate, and of the adverbs that belong to it."""
    first = before_adverbs(s, at, 0) + 1
    while first < at and (s.words[first] in closed.SENTENCE_ADVERBS):
        first += 1
    if not closed.NARROW.isdisjoint(s.words[first:at]):
        raise SkipError("quantifier_only")
    edit = Edit(s.starts[first], s.starts[first], s.cased("not "))
    return EditPlan((edit,), confidence="medium" if "when" in s.words[:first] else "high")

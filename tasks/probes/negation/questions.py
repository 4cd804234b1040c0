"""Negates a wh-question: "Which gas is not used?", "What does a plant not need?"."""

from __future__ import annotations

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs, before_adverbs, is_adverb, is_finite_aux, is_least
from contrapose.tasks.language.inversion import PLAIN, inverted_participle, inverted_predicate, inverted_verb
from contrapose.tasks.language.odds import INTRANSITIVE, agreement, finite_odds
from contrapose.tasks.language.sentence import Edit, Sentence
from contrapose.tasks.probes.negation.place import after_auxiliary, fused, with_do
from contrapose.tasks.probes.negation.result import EditPlan, SkipError, behind_subject

_PLACES = ("where", "when", "why")
_UNDER_NOT = words("some all every each both several most many everyone everybody everything")
"""Subjects of an inverted question whose quantifier a "not" behind them does not reach."""
_NOUN_ALONE = f.NOUN | f.NAME | f.BASE | f.RARELY_VERB | f.USUALLY_NOUN
_OPENS = f.OPENER | f.LOOSE | f.BREAK
_STOP = _OPENS | f.COORD
_BEHIND_VERB = f.DET | f.OBJ | f.SUBJ | f.QUANT


def negate_question(s: Sentence, start: int) -> EditPlan:
    """The plan that reverses the wh-question that starts at `start`.

    Raises:
        SkipError: no sound plan.
    """
    wh = next(i for i in range(start, len(s.words)) if s.tags[i] & f.WH)
    if s.words[wh].startswith("how"):
        raise SkipError("negative_island_how")
    if "except" in s.words:
        raise SkipError("exception")
    if any(is_least(s, i) for i in range(wh, len(s.words))):
        raise SkipError("semi_negative")
    if s.words[-1] != "or" and "or" in s.words[-5:] and any(map(_compares, s.words[wh:-4], s.tags[wh:-4])):
        raise SkipError("alternative_question")
    later = [i for i in range(wh + 2, len(s.words)) if s.tags[i] & f.WH and s.words[i] != "which"]
    if any(s.tags[i - 1] & f.COORD or (not s.asks and is_finite_aux(s, i + 1)) for i in later):
        raise SkipError("coordinated_clauses")
    if s.tags[wh] & f.CLITIC:
        fuses = s.tag(wh + 1) & f.DET and not s.words[wh].startswith("what")
        return fused(s, wh) if fuses else _at_copula(s, wh, wh, adjunct=s.words[wh].startswith(_PLACES))
    verb = first_verb(s, wh)
    if s.words[wh] in ("when", "why") and (verb != after_adverbs(s, wh) or s.tags[verb] & f.CLITIC):
        raise SkipError("wh_subject_boundary")  # "When you think, you do what?"
    if not is_finite_aux(s, verb):
        _require_one_verb(s, verb)
        passive = s.tags[verb] & f.PART and not s.tags[verb] & f.BASE and s.tag(verb + 1) & f.PREP
        plan = with_do(s, verb, min(wh + 1, verb - 1))  # "Which | boys ran": the subject is behind the question word
        doubtful = (passive and s.words[verb] not in INTRANSITIVE) or s.tags[verb] & f.USUALLY_NOUN
        return plan._replace(confidence="medium") if doubtful or _reports(s, wh, verb) else plan
    return _at_auxiliary(
        s, wh, verb, pied=wh > start and not (s.words[start] == "about" and s.words[wh + 1] in _SHARES)
    )


def _reports(s: Sentence, wh: int, verb: int) -> bool:
    """Whether a verb before may introduce this one: "Which man claims he | saw it?"."""
    return any(s.tags[k] & f.EMBED and s.tags[k] & f.THIRD for k in range(wh + 1, verb))


def _compares(word: str, tag: int) -> bool:
    """Whether it asks which of two is "first", "better" or "taller"."""
    return word in ("first", "more", "less", "better", "worse") or (word.endswith("er") and tag & f.ADJ > 0)


def _require_one_verb(s: Sentence, verb: int) -> None:
    """Pass unless a verb of the same form is joined: "Which | closes and seals off …?"."""
    form = s.tags[verb] & (f.THIRD | f.PAST)
    for i in range(verb + 2, len(s.words)):
        tag = s.tags[i]
        joined = s.tags[before_adverbs(s, i)] & f.COORD and tag & form and not tag & (f.CLOSED | f.NAME)
        if joined and (not tag & f.USUALLY_NOUN or s.tag(i + 1) & (f.DET | f.OBJ | f.PREP)):
            raise SkipError("coordinated_clauses")


def first_verb(s: Sentence, wh: int) -> int:
    """The finite verb of the question's own clause."""
    for i in range(wh + 1, len(s.words)):
        tag = s.tags[i]
        if tag & f.AUX and is_finite_aux(s, i):
            return i
        if tag & _STOP:
            break
        if tag & f.FINITE and not tag & f.USUALLY_ADJ and _is_lexical(s, i, wh):
            return i
    raise SkipError("wh_subject_boundary")


def _is_lexical(s: Sentence, i: int, wh: int) -> bool:
    """Whether a full verb stands right behind the question word or the noun that it asks about."""
    before = before_adverbs(s, i, wh)
    if before == wh and s.words[wh] == "who":
        return True
    if s.words[wh] in _PLACES or (_aux_before_clause(s, i + 1) and not _takes_object(s, i)):
        return False
    if s.words[i] not in _CAUSE and (_may_be_noun_asked_for(s, i) or _may_be_noun(s, i, wh)):
        return False
    if before > wh and _ends_choice(s, before):
        return True
    if before > wh and s.words[i] in _CAUSE:
        return True
    if before == wh:
        return bool(s.tags[i] & (f.THIRD | f.PAST))
    return finite_odds(s, i, wh) + agreement(s, i, wh + 1) > 0


def _may_be_noun_asked_for(s: Sentence, i: int) -> bool:
    """Whether a noun stands before its verb: "Which of these words means …?", "What plants grow here?"."""
    noun = s.tags[i] & f.NOUN and not s.tags[i] & f.USUALLY_VERB
    after = s.tag(after_adverbs(s, i))
    return bool(noun and after & f.FINITE) and (bool(after & f.USUALLY_VERB) or not after & f.NOUN)


def _takes_object(s: Sentence, i: int) -> bool:
    """Whether a word is a verb in most texts, and its object stands behind it: "makes the"."""
    return bool(s.tags[i] & f.USUALLY_VERB and s.tags[i] & f.THIRD and s.tag(i + 1) & (f.DET | f.OBJ))


def _may_be_noun(s: Sentence, i: int, wh: int) -> bool:
    """Whether a noun that can be a verb stands where either may: "which of the following | type of flow"."""
    after = s.tag(i + 1)
    if s.tags[i] & f.NOUN and s.word(i + 1) == "of" and not s.tags[i - 1] & f.ADV:
        return True
    noun = s.tags[i] & f.NOUN and not s.tags[i] & f.USUALLY_VERB and not after & (f.DET | f.OBJ | f.QUANT)
    if not noun or i == wh + 1:
        return bool(noun and s.tags[i] & f.THIRD and after & f.BASE and not after & f.RARELY_VERB and s.word(i + 2))
    follows, ends = s.words[i + 1 : i + 3], f.ADV | f.PREP | f.DET
    return (
        follows[:1] in ([], ["of"])
        or follows == ["as", "of"]
        or bool(after & f.BREAK)
        or (after & f.THIRD > 0 or bool(after & f.BASE and (s.tags[i] & f.BASE or s.tag(i + 2) & ends)))
    )


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
    counted = s.word(aux + 1) in _UNDER_NOT and not s.tag(aux + 2) & f.ADV and s.word(aux + 2) != "likely"
    if counted and not tag & f.BE:
        raise SkipError("quantifier_only")
    if tag & f.BE:
        return _at_copula(s, wh, aux, adjunct=adjunct)
    if tag & f.HAVE:
        return _have(s, aux, adjunct=adjunct)
    verb = inverted_verb(s, aux)
    k = after_adverbs(s, aux)
    bare = s.tag(k) & f.BASE and (verb is None or (s.words[k] in _CAUSE and s.tags[verb] & f.NOUN))
    if not tag & f.DO and not adjunct and (_is_own(s, aux) or bare):
        return after_auxiliary(s, aux, wh + 1)
    if tag & f.DO and verb is None and s.words[wh] == "who":
        if s.tag(aux + 1) & f.BASE and s.tag(aux + 1) & f.USUALLY_VERB:
            return after_auxiliary(s, aux, wh)  # "Who did win?"
        if not any(s.tags[i] & (f.BASE | f.PAST) and not _heads_phrase(s, i) for i in range(aux + 1, len(s.words))):
            return with_do(s, aux, wh)  # "Who does | the voice?"
    return low(s, behind_subject(verb))


def _heads_phrase(s: Sentence, i: int) -> bool:
    """Whether a word behind an article, preposition or possessive is the noun that it can be."""
    return bool(s.tags[i - 1] & (f.DET | f.QUANT | f.PREP) or s.words[i - 1].endswith(("'s", "s'")))


def _is_own(s: Sentence, aux: int) -> bool:
    """Whether the verb of a modal follows at once, so that the question asks about its subject: "Who will win?"."""
    k = after_adverbs(s, aux)
    tag = s.tag(k)
    if s.word(k) in ("be", "have", "do") or (tag & f.BASE and _ends_choice(s, aux - 1)):
        return True
    plain = s.word(k) in PLAIN or tag & f.USUALLY_VERB or not tag & (f.NOUN | f.ADJ) or s.tag(k + 1) & _BEHIND_VERB
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


_SHARES = words("percentage percent proportion fraction share number amount")
_ASPECTS = words(
    """
    color colour size shape kind type sort age height date time day year month temperature condition
    state number position name length weight distance amount speed percentage
    """
)
_NO_NOUN = f.CLOSED & ~f.SUBJ
_DESCRIBES = f.PART | f.ADJ
_CAUSE = words("cause causes")
_COUNTED = words("some several many two three four five six seven eight nine ten")
_NAMED = words("called named nicknamed titled")
_ELSEWHERE = ("above", "below")
_PARTICLES = words("up out off down over around along through on")
_GOVERNING = words("by with for to in at about from")


def _at_copula(s: Sentence, wh: int, be: int, *, adjunct: bool) -> EditPlan:
    """Put "not" right behind the copula when the question word is its subject or a noun phrase is asked for."""
    if adjunct:
        at = behind_subject(inverted_predicate(s, be))
        inside = f.DET | f.QUANT | (f.PREP if at + 1 < len(s.words) else 0)
        place = s.words[wh].startswith("where") and s.tags[at] & inside
        if place or (s.words[wh] != "why" and s.tags[at] & f.NOUN and not s.tags[at] & ~_NOUN_ALONE):
            raise SkipError("wh_subject_boundary")  # "Where is a good place for a nap?"
        return low(s, at)
    counted = (s.tag(be + 1) & f.NUMBER or s.word(be + 1) in _COUNTED) and s.words[be] in ("are", "were")
    if counted or s.word(be + 1) == "all":
        raise SkipError("quantifier_only")
    if s.word(be + 1) == "something" or (s.word(be + 1) == "it" and s.tag(be + 2) & f.OPENER):
        raise SkipError("wh_subject_boundary")  # "What is it that you need?"
    stranded = None if _ends_choice(s, be - 1) else _gap(s, be)
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
    named = follows & (f.NOUN | f.NAME) and not follows & f.NUMBER
    return bool(follows & f.DET) or ((heads or bool(named)) and not follows & f.CLOSED and not _describes(s, be + 1))


def _describes(s: Sentence, i: int) -> bool:
    return bool(s.tag(i) & _DESCRIBES) or s.word(i).endswith("ing")


def _gap(s: Sentence, be: int) -> int | None:
    """What "not" stands before in an object question ("What is a stopwatch | used for?"); None in other questions.

    Raises:
        SkipError: an object is asked for, but its verb cannot be told.
    """
    stops = (i for i in range(be + 1, len(s.words)) if s.tags[i] & _OPENS and s.words[i] not in (",", "like", "as"))
    end = next(stops, len(s.words))
    if "doing" in s.words[be + 2 : end] and not s.tags[s.words.index("doing", be + 2) - 1] & f.PREP:
        return s.words.index("doing", be + 2)
    ends = f.PREP | f.SUB | f.LOOSE | f.BREAK
    named = [i for i in range(be + 2, len(s.words)) if s.words[i] in _NAMED and not s.tag(i + 1) & ~ends & f.CLOSED]
    last = named[-1] if named else -1
    ending = last + 1 == len(s.words) or s.tag(last + 1) & ends
    if ending and last > be + 1 + (s.word(be + 1) == "the"):
        return last
    if s.words[-1] == "as" and s.tags[-2] & f.PART and len(s.words) > be + 3:
        return len(s.words) - 2
    if s.words[-2:] == ["to", "do"] and s.tags[-3] & f.ING and len(s.words) > be + 4:
        return len(s.words) - 3
    going = next((i for i in range(be + 2, end) if s.words[i : i + 2] == ["going", "to"] and s.tag(i + 2) & f.BASE), 0)
    if going and _noun_before(s, going):
        return going
    if s.word(end) == "who" and s.words[-1] in (*_GOVERNING, "on", "of"):
        raise SkipError("wh_subject_boundary")  # "What is a man who works afraid of?"
    at = next((i for i in range(be + 2, end) if _is_stranded(s, i, end)), None)
    if at is None or _in_relative(s, be + 1, end):
        return _stranded(s, be)
    verbal = (i for i in range(be + 2, at) if _verb_shaped(s, i) and not s.tags[i] & f.USUALLY_NOUN)
    verbs = [i for i in verbal if _noun_before(s, i) and s.words[i - 1] != "be"]
    place = behind_subject(verbs[0] if len(verbs) == 1 else inverted_predicate(s, be))
    phrase = [i for i in range(be + 2, at) if s.tags[i] & f.PREP and s.words[i] != "of"]
    if place == at and phrase == [be + 2]:
        return be + 2  # "Who was he | at war with?"
    apart = any(not s.tags[i] & f.PREP for i in range(place + 1, at))
    if apart and place + 1 in phrase and verbs == [place]:
        raise SkipError("wh_subject_boundary")  # "What is the song come on in about?"
    known = place not in phrase and (place < at or not phrase)
    adjective = s.tags[at - 1] & f.ADJ and not s.tags[at - 1] & (f.NOUN | f.VERB)
    if not known or (adjective and place < at - 1 and not is_adverb(s, place)):
        raise SkipError("wh_subject_boundary")
    return place


def _is_stranded(s: Sentence, i: int, end: int) -> bool:
    """Whether what a preposition governs is asked for: "used for?", "kissed by in the end"."""
    last = i + 1 == end and not s.tag(end) & f.REL
    if s.words[i] in ("like", "as"):
        return last
    if not s.tags[i] & (f.PREP | f.TO) or s.words[i] in _ELSEWHERE or s.words[i] in _PARTICLES:
        return False
    return last or (s.words[i] in _GOVERNING and bool(s.tags[i + 1] & f.PREP or s.words[i + 1] == "according"))


def _in_relative(s: Sentence, begin: int, end: int) -> bool:
    """Whether what governs nothing ends a clause inside a noun phrase: "the place you live in", "a thing to see"."""
    inside = (s.tags[i] & f.SUBJ and s.tags[i - 1] & f.NOUN and not s.tags[i] & f.DET for i in range(begin + 1, end))
    verbal = (i for i in range(begin + 1, end) if _verb_shaped(s, i) or s.tags[i] & f.TO)
    first = next(verbal, end)
    return any(inside) or (first < end and bool(s.tags[first] & f.TO and s.tag(first + 1) & f.BASE))


def _stranded(s: Sentence, be: int) -> int | None:
    """The participle of an object question without a preposition: "What is the boy | holding?"."""
    k = after_adverbs(s, be)
    named = (
        s.tag(k) & f.ADJ and not s.tag(k) & (f.PART | f.ING) and s.tag(k + 1) & f.NOUN and not s.tag(k + 1) & f.CLOSED
    )
    if s.tag(k) & f.PREP or (_describes(s, k) and not named):
        return None
    for i in range(be + 2, len(s.words)):
        tag = s.tags[i]
        names = tag & f.COORD and s.tags[i - 1] & s.tag(i + 1) & f.NAME
        if (tag & _STOP and not names) or (i == be + 4 and s.words[be + 1 : i] == ["an", "example", "of"]):
            return None
        contact = tag & f.SUBJ or (tag & f.NAME and not s.tags[i - 1] & f.NAME)
        if contact and s.tags[i - 1] & f.NOUN:
            return None  # "the number of files | she deleted"
        fit = tag & f.ADJ and not tag & (f.NOUN | f.PART) and not s.tags[i - 1] & f.SUBJ
        used = tag & f.PART and s.word(i + 1) == "to" and i + 3 == len(s.words)  # "used to treat"
        if (fit or used) and s.word(i + 1) == "to" and s.tag(i + 2) & (f.BASE | f.AUX) and _noun_before(s, i):
            return i
        if (tag & f.DET or _verb_shaped(s, i)) and _noun_before(s, i):
            return None if tag & f.DET or (named and i + 1 == len(s.words)) else _object_gap(s, i)
    return None


def _names_before(s: Sentence, i: int) -> bool:
    """Whether a name, which no participle tells more of, is all that stands before word `i`: "Anna | planning to"."""
    k = before_adverbs(s, i)
    while s.tags[k] & f.COORD or (s.tags[k] & f.NAME and not s.source(k).isupper()):
        k -= 1
    return k < before_adverbs(s, i) and bool(s.tags[k] & f.BE)


def _noun_before(s: Sentence, i: int) -> bool:
    before = before_adverbs(s, i)
    return not s.tags[before] & _NO_NOUN and not s.words[before].endswith("ing")


def _verb_shaped(s: Sentence, i: int) -> bool:
    return bool(s.tags[i] & f.PART) or (s.words[i].endswith("ing") and len(s.words[i]) > 4)


def _object_gap(s: Sentence, i: int) -> int | None:
    if s.tags[i] & f.USUALLY_NOUN and s.words[before_adverbs(s, i)].endswith(("'s", "s'")):
        return None  # "Anna's last painting"
    if _names_before(s, i):
        return i
    if s.tags[i] & f.ING and s.tag(i + 1) & f.TO and s.tag(i + 2) & f.BASE:
        return i  # "What is he | trying to say?"
    if s.tags[i] & f.ING and s.tag(i - 2) & f.PREP:
        return None  # "a bias in decision making"
    if s.words[i - 1].endswith("'") or (s.tags[i] & f.USUALLY_NOUN and any(s.tags[k] & f.PREP for k in range(i))):
        raise SkipError("wh_subject_boundary")
    last = i if s.words[i] in _NAMED else len(s.words) - 1
    if (s.tags[last] & (f.PREP | f.LOOSE) and s.words[last] not in _ELSEWHERE) or i == last:
        return i
    if s.words[i].endswith("ing") and s.tag(i + 1) & (f.DET | f.NOUN) and not s.tag(i + 1) & _NO_NOUN & ~f.DET:
        return None  # it has an object: "the gas | causing the smell"
    if s.words[i].endswith("ing") or s.tags[last] & f.ADV:
        raise SkipError("wh_subject_boundary")
    return None


def low(s: Sentence, at: int) -> EditPlan:
    """Put "not" in front of a verb or predicate, and of the adverbs that belong to it."""
    first = before_adverbs(s, at, 0) + 1
    while s.words[first] in closed.SENTENCE_ADVERBS and s.word(first + 1) not in ("to", "that", ""):
        first += 1
    if not (closed.NARROW | {"sometimes"}).isdisjoint(s.words[first:at]):
        raise SkipError("quantifier_only")
    edit = Edit(s.starts[first], s.starts[first], s.cased("not "))
    return EditPlan((edit,), confidence="medium" if "when" in s.words[:first] else "high")

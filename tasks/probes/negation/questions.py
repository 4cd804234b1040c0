"""Negate a wh-question: "Which gas is not used?", "What does a plant not need?"."""

from __future__ import annotations

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import (
    index_after_adverbs,
    index_before_adverbs,
    is_adverb,
    is_finite_aux,
    is_negating_least,
)
from contrapose.tasks.language.inversion import PLAIN, find_bare_verb, find_participle, find_predicate
from contrapose.tasks.language.odds import INTRANSITIVE, score_agreement, score_finite_verb
from contrapose.tasks.language.sentence import Edit, Sentence
from contrapose.tasks.probes.negation.result import EditPlan, SkipError, require_subject_end
from contrapose.tasks.probes.negation.statement import edit_contraction, insert_do, insert_not_after_auxiliary

_PLACES = ("where", "when", "why")
_UNDER_NOT = words("some all every each both several most many everyone everybody everything")
"""Subjects of an inverted question whose quantifier a "not" behind them does not reach."""
_NOUN_ALONE = f.NOUN | f.NAME | f.BASE | f.RARELY_VERB | f.USUALLY_NOUN
_OPENS = f.OPENER | f.LOOSE | f.BREAK
_STOP = _OPENS | f.COORD
_BEHIND_VERB = f.DET | f.OBJ | f.SUBJ | f.QUANT
_SHARES = words("percentage percent proportion fraction share number amount")
_ASPECTS = words("""
    color colour size shape kind type sort age height date time day year month temperature condition
    state number position name length weight distance amount speed percentage
""")
_NO_NOUN = f.CLOSED & ~f.SUBJ
_CAUSE = words("cause causes")
_COUNTED = words("some several many two three four five six seven eight nine ten")
_NAMED = words("called named nicknamed titled")
_ELSEWHERE = ("above", "below")
_PARTICLES = words("up out off down over around along through on")
_GOVERNING = words("by with for to in at about from")


def plan_question_negation(s: Sentence, start: int) -> EditPlan:
    """Return the edits that negate the wh-question that starts at word `start`."""
    wh = next(i for i in range(start, len(s.words)) if s.tags[i] & f.WH)
    word = s.words[wh]
    if word.startswith("how"):
        raise SkipError("negative_island_how")
    if "except" in s.words:
        raise SkipError("exception")
    if any(is_negating_least(s, i) for i in range(wh, len(s.words))):
        raise SkipError("semi_negative")
    # It may ask which of two is "first", "better" or "taller".
    compares = any(
        s.words[i] in ("first", "more", "less", "better", "worse") or (s.words[i].endswith("er") and s.tags[i] & f.ADJ)
        for i in range(wh, len(s.words) - 4)
    )
    if s.words[-1] != "or" and "or" in s.words[-5:] and compares:
        raise SkipError("alternative_question")
    later = [i for i in range(wh + 2, len(s.words)) if s.tags[i] & f.WH and s.words[i] != "which"]
    if any(s.tags[i - 1] & f.COORD or (not s.asks and is_finite_aux(s, i + 1)) for i in later):
        raise SkipError("coordinated_clauses")
    if s.tags[wh] & f.CLITIC:
        fuses = s.tag(wh + 1) & f.DET and not word.startswith("what")
        return edit_contraction(s, wh) if fuses else _plan_at_copula(s, wh, wh, adjunct=word.startswith(_PLACES))
    verb = find_question_verb(s, wh)
    if word in ("when", "why") and (verb != index_after_adverbs(s, wh) or s.tags[verb] & f.CLITIC):
        raise SkipError("wh_subject_boundary")  # "When you think, you do what?"
    if is_finite_aux(s, verb):
        share = s.words[start] == "about" and s.words[wh + 1] in _SHARES
        return _plan_at_auxiliary(s, wh, verb, pied=wh > start and not share)
    form = s.tags[verb] & (f.THIRD | f.PAST)
    for i in range(verb + 2, len(s.words)):
        tag = s.tags[i]
        joined = s.tags[index_before_adverbs(s, i)] & f.COORD and tag & form and not tag & (f.CLOSED | f.NAME)
        if joined and (not tag & f.USUALLY_NOUN or s.tag(i + 1) & (f.DET | f.OBJ | f.PREP)):
            raise SkipError("coordinated_clauses")  # "Which | closes and seals off …?"
    passive = s.tags[verb] & f.PART and not s.tags[verb] & f.BASE and s.tag(verb + 1) & f.PREP
    plan = insert_do(s, verb, min(wh + 1, verb - 1))  # "Which | boys ran": the subject is behind the question word
    # A verb before may introduce this one: "Which man claims he | saw it?".
    reports = any(s.tags[k] & f.EMBED and s.tags[k] & f.THIRD for k in range(wh + 1, verb))
    doubtful = (passive and s.words[verb] not in INTRANSITIVE) or s.tags[verb] & f.USUALLY_NOUN or reports
    return plan._replace(confidence="medium") if doubtful else plan


def find_question_verb(s: Sentence, wh: int) -> int:
    """Return the index of the finite verb in the question's own clause."""
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
    """Return whether a full verb directly follows the question word or the noun that it asks about."""
    before, tag, after = index_before_adverbs(s, i, wh), s.tags[i], s.tag(index_after_adverbs(s, i))
    if before == wh and s.words[wh] == "who":
        return True
    # A word that is a verb in most texts, with its object behind it, needs no auxiliary before the next clause.
    takes_object = tag & f.USUALLY_VERB and tag & f.THIRD and s.tag(i + 1) & (f.DET | f.OBJ)
    clause = next((k for k in range(i + 1, len(s.words)) if s.tags[k] & _OPENS or is_finite_aux(s, k)), None)
    auxiliary_follows = clause is not None and not s.tags[clause] & _OPENS
    if s.words[wh] in _PLACES or (auxiliary_follows and not takes_object):
        return False
    if s.words[i] not in _CAUSE:
        # A noun stands before its verb: "Which of these words means …?", "What plants grow here?".
        noun = tag & f.NOUN and not tag & f.USUALLY_VERB
        if noun and after & f.FINITE and (after & f.USUALLY_VERB or not after & f.NOUN):
            return False
        if _may_be_noun(s, i, wh):
            return False
    if before > wh and (_is_choice_end(s, before) or s.words[i] in _CAUSE):
        return True
    if before == wh:
        return bool(tag & (f.THIRD | f.PAST))
    return score_finite_verb(s, i, wh) + score_agreement(s, i, wh + 1) > 0


def _may_be_noun(s: Sentence, i: int, wh: int) -> bool:
    """Return whether a word that is noun or verb may be a noun here: "which of the following | type of flow"."""
    tag, after = s.tags[i], s.tag(i + 1)
    if tag & f.NOUN and s.word(i + 1) == "of" and not s.tags[i - 1] & f.ADV:
        return True
    if not tag & f.NOUN or tag & f.USUALLY_VERB or after & (f.DET | f.OBJ | f.QUANT):
        return False
    if i == wh + 1:
        return bool(tag & f.THIRD and after & f.BASE and not after & f.RARELY_VERB and s.word(i + 2))
    follows = s.words[i + 1 : i + 3]
    if follows[:1] in ([], ["of"]) or follows == ["as", "of"] or after & (f.BREAK | f.THIRD):
        return True
    return bool(after & f.BASE and (tag & f.BASE or s.tag(i + 2) & (f.ADV | f.PREP | f.DET)))


def _plan_at_auxiliary(s: Sentence, wh: int, aux: int, *, pied: bool) -> EditPlan:
    tag = s.tags[aux]
    adjunct = pied or s.words[wh] in _PLACES
    counted = s.word(aux + 1) in _UNDER_NOT and not s.tag(aux + 2) & f.ADV and s.word(aux + 2) != "likely"
    if counted and not tag & f.BE:
        raise SkipError("quantifier_only")
    if tag & f.BE:
        return _plan_at_copula(s, wh, aux, adjunct=adjunct)
    k = index_after_adverbs(s, aux)
    word, following = s.word(k), s.tag(k)
    if tag & f.HAVE:
        participle = find_participle(s, aux)
        if not adjunct and (participle is None or not following & (f.NP_START | f.NAME)):
            return insert_not_after_auxiliary(s, aux, aux)
        return insert_low_not(s, require_subject_end(participle))
    verb = find_bare_verb(s, aux)
    if not tag & f.DO and not adjunct:
        # The verb of a modal follows at once where the question asks about its subject: "Who will win?".
        plain = word in PLAIN or following & f.USUALLY_VERB or not following & (f.NOUN | f.ADJ)
        plain = plain or s.tag(k + 1) & _BEHIND_VERB or _is_choice_end(s, aux - 1)
        bare = verb is None or (word in _CAUSE and s.tags[verb] & f.NOUN)
        if word in ("be", "have", "do") or (following & f.BASE and (plain or bare)):
            return insert_not_after_auxiliary(s, aux, wh + 1)
    if tag & f.DO and verb is None and s.words[wh] == "who":
        if s.tag(aux + 1) & f.BASE and s.tag(aux + 1) & f.USUALLY_VERB:
            return insert_not_after_auxiliary(s, aux, wh)  # "Who did win?"
        # A word behind an article, preposition or possessive is the noun that it can be.
        if not any(
            s.tags[i] & (f.BASE | f.PAST)
            and not (s.tags[i - 1] & (f.DET | f.QUANT | f.PREP) or s.words[i - 1].endswith(("'s", "s'")))
            for i in range(aux + 1, len(s.words))
        ):
            return insert_do(s, aux, wh)  # "Who does | the voice?"
    return insert_low_not(s, require_subject_end(verb))


def _is_choice_end(s: Sentence, i: int) -> bool:
    """Return whether the phrase of the question word ends here as subject: "Which of these | may cause …?"."""
    return s.words[i - 1 : i + 1] in (["of", "these"], ["of", "those"], ["the", "following"])


def _plan_at_copula(s: Sentence, wh: int, be: int, *, adjunct: bool) -> EditPlan:
    """Put "not" after the copula if the question word is its subject, otherwise before the predicate."""
    word, follows, behind = s.words[wh], s.word(be + 1), s.tag(be + 1)
    if adjunct:
        at = require_subject_end(find_predicate(s, be))
        inside = f.DET | f.QUANT | (f.PREP if at + 1 < len(s.words) else 0)
        place = word.startswith("where") and s.tags[at] & inside
        if place or (word != "why" and s.tags[at] & f.NOUN and not s.tags[at] & ~_NOUN_ALONE):
            raise SkipError("wh_subject_boundary")  # "Where is a good place for a nap?"
        return insert_low_not(s, at)
    counted = (behind & f.NUMBER or follows in _COUNTED) and s.words[be] in ("are", "were")
    if counted or follows == "all":
        raise SkipError("quantifier_only")
    if follows == "something" or (follows == "it" and s.tag(be + 2) & f.OPENER):
        raise SkipError("wh_subject_boundary")  # "What is it that you need?"
    stranded = None if _is_choice_end(s, be - 1) else _find_object_place(s, be)
    if stranded is not None:
        return insert_low_not(s, stranded)
    # The question may ask what the noun behind the copula is like: "What color is grass?".
    aspect = any(s.words[i] in _ASPECTS for i in range(wh + 1, be))
    named = behind & (f.NOUN | f.NAME) and not behind & f.NUMBER
    inverted = behind & f.DET or ((aspect or named) and not behind & f.CLOSED and not _is_describing(s, be + 1))
    asked = be > wh + 1 and (word == "whose" or (word == "what" and inverted))
    if asked and not _is_describing(s, index_after_adverbs(s, be)):
        if aspect or find_predicate(s, be) is not None or word != "what" or follows != "the":
            raise SkipError("wh_subject_boundary")
        return insert_not_after_auxiliary(s, be, wh)  # "What animal is | the largest?"
    if behind & f.SUBJ and not behind & f.DET:
        return insert_low_not(s, require_subject_end(find_predicate(s, be)))
    return insert_not_after_auxiliary(s, be, wh)


def _is_describing(s: Sentence, i: int) -> bool:
    return bool(s.tag(i) & (f.PART | f.ADJ)) or s.word(i).endswith("ing")


def _find_object_place(s: Sentence, be: int) -> int | None:
    """Return the index before which "not" goes in an object question ("What is a stopwatch | used for?"), or None."""
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
    if going and _has_noun_before(s, going):
        return going
    if s.word(end) == "who" and s.words[-1] in (*_GOVERNING, "on", "of"):
        raise SkipError("wh_subject_boundary")  # "What is a man who works afraid of?"
    at = next((i for i in range(be + 2, end) if _is_stranded(s, i, end)), None)
    return _find_object_verb(s, be) if at is None or _is_in_relative(s, be + 1, end) else _find_governed_verb(s, be, at)


def _find_governed_verb(s: Sentence, be: int, at: int) -> int:
    """Return the index of the verb or phrase to which the final preposition `at` belongs."""
    verbal = (i for i in range(be + 2, at) if _is_verb_shaped(s, i) and not s.tags[i] & f.USUALLY_NOUN)
    verbs = [i for i in verbal if _has_noun_before(s, i) and s.words[i - 1] != "be"]
    place = require_subject_end(verbs[0] if len(verbs) == 1 else find_predicate(s, be))
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
    """Return whether the question asks for the object of a preposition: "used for?", "kissed by in the end"."""
    last, word = i + 1 == end and not s.tag(end) & f.REL, s.words[i]
    if word in ("like", "as"):
        return last
    if not s.tags[i] & (f.PREP | f.TO) or word in _ELSEWHERE or word in _PARTICLES:
        return False
    return last or (word in _GOVERNING and bool(s.tags[i + 1] & f.PREP or s.words[i + 1] == "according"))


def _is_in_relative(s: Sentence, begin: int, end: int) -> bool:
    """Return whether a preposition ends a clause inside a noun phrase: "the place you live in", "a thing to see"."""
    if any(s.tags[i] & f.SUBJ and s.tags[i - 1] & f.NOUN and not s.tags[i] & f.DET for i in range(begin + 1, end)):
        return True
    first = next((i for i in range(begin + 1, end) if _is_verb_shaped(s, i) or s.tags[i] & f.TO), end)
    return first < end and bool(s.tags[first] & f.TO and s.tag(first + 1) & f.BASE)


def _find_object_verb(s: Sentence, be: int) -> int | None:
    """Return the index of the participle in an object question: "What is the boy | holding?"; None if there is none."""
    k = index_after_adverbs(s, be)
    tag, behind = s.tag(k), s.tag(k + 1)
    named = tag & f.ADJ and not tag & (f.PART | f.ING) and behind & f.NOUN and not behind & f.CLOSED
    if tag & f.PREP or (_is_describing(s, k) and not named):
        return None
    for i in range(be + 2, len(s.words)):
        tag, before = s.tags[i], s.tags[i - 1]
        names = tag & f.COORD and before & s.tag(i + 1) & f.NAME
        if (tag & _STOP and not names) or (i == be + 4 and s.words[be + 1 : i] == ["an", "example", "of"]):
            return None
        if before & f.NOUN and (tag & f.SUBJ or (tag & f.NAME and not before & f.NAME)):
            return None  # "the number of files | she deleted"
        fit = tag & f.ADJ and not tag & (f.NOUN | f.PART) and not before & f.SUBJ
        used = tag & f.PART and s.word(i + 1) == "to" and i + 3 == len(s.words)  # "used to treat"
        if (fit or used) and s.word(i + 1) == "to" and s.tag(i + 2) & (f.BASE | f.AUX) and _has_noun_before(s, i):
            return i
        if (tag & f.DET or _is_verb_shaped(s, i)) and _has_noun_before(s, i):
            return None if tag & f.DET or (named and i + 1 == len(s.words)) else _find_object_gap(s, i)
    return None


def _has_noun_before(s: Sentence, i: int) -> bool:
    before = index_before_adverbs(s, i)
    return not s.tags[before] & _NO_NOUN and not s.words[before].endswith("ing")


def _is_verb_shaped(s: Sentence, i: int) -> bool:
    return bool(s.tags[i] & f.PART) or (s.words[i].endswith("ing") and len(s.words[i]) > 4)


def _find_object_gap(s: Sentence, i: int) -> int | None:
    """Return `i` if the question asks for the object of participle `i`; None if it has an object or is a noun."""
    word, tag, before = s.words[i], s.tags[i], index_before_adverbs(s, i)
    if tag & f.USUALLY_NOUN and s.words[before].endswith(("'s", "s'")):
        return None  # "Anna's last painting"
    # A name, which no participle says more of, may be all that stands before: "Anna | planning to".
    k = before
    while s.tags[k] & f.COORD or (s.tags[k] & f.NAME and not s.source(k).isupper()):
        k -= 1
    if k < before and s.tags[k] & f.BE:
        return i
    if tag & f.ING and s.tag(i + 1) & f.TO and s.tag(i + 2) & f.BASE:
        return i  # "What is he | trying to say?"
    if tag & f.ING and s.tag(i - 2) & f.PREP:
        return None  # "a bias in decision making"
    if s.words[i - 1].endswith("'") or (tag & f.USUALLY_NOUN and any(s.tags[k] & f.PREP for k in range(i))):
        raise SkipError("wh_subject_boundary")
    last = i if word in _NAMED else len(s.words) - 1
    if (s.tags[last] & (f.PREP | f.LOOSE) and s.words[last] not in _ELSEWHERE) or i == last:
        return i
    if word.endswith("ing") and s.tag(i + 1) & (f.DET | f.NOUN) and not s.tag(i + 1) & _NO_NOUN & ~f.DET:
        return None  # it has an object: "the gas | causing the smell"
    if word.endswith("ing") or s.tags[last] & f.ADV:
        raise SkipError("wh_subject_boundary")
    return None


def insert_low_not(s: Sentence, at: int) -> EditPlan:
    """Return the edit that puts "not" before a verb or predicate and its adverbs."""
    first = index_before_adverbs(s, at, 0) + 1
    while s.words[first] in closed.SENTENCE_ADVERBS and s.word(first + 1) not in ("to", "that", ""):
        first += 1
    if not (closed.NARROW | {"sometimes"}).isdisjoint(s.words[first:at]):
        raise SkipError("quantifier_only")
    edit = Edit(s.starts[first], s.starts[first], s.cased("not "))
    return EditPlan((edit,), confidence="medium" if "when" in s.words[:first] else "high")

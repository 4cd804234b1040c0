"""Find the end of the subject in an inverted question: "What does | a plant | need?", "Is | the sky | blue?"."""

from __future__ import annotations

from collections.abc import Callable

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import index_before_adverbs, is_adverb, is_finite_aux
from contrapose.tasks.language.inflection import RATHER_PAST, is_plural_phrase
from contrapose.tasks.language.odds import score_relative_verb
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.vocabulary import ends_as_adverb, vocabulary

_RELATIVES = words("that who which what where when whose whom")
_CONSIDERED = words("considered deemed")
_WORKS = words("movie film show book series song game novel play")
_LONE = words("it he she we they you i there")
_AGREEING = {"is": words("it he she there this that"), "was": words("it he she there this that i")}
"""Subjects of one word that a singular form may have; behind others, as in "is we bought a zoo", a title starts."""
_PRONOUNS = words("i he she we they")
_POINTING = words("this that these those")
_DAYS = words("today tonight tomorrow yesterday")
_NUMERALS = words("one two three four five six seven eight nine ten hundreds thousands millions")
_POSSESSIVES = words("mine yours his hers ours theirs")
_NEVER_LAST = _LONE | words("take make give get become let")
"""Words that end no subject behind its auxiliary but by themselves: "Does the match take | place?"."""
PLAIN = words("be have do need cause want use like help live work move make take give run turn mean")
"""Bare verbs, even if the dictionary also has a noun."""
_CLAUSE_OPENS = f.SUBJ & ~f.DET | f.ING
_STOP = f.OPENER | f.BREAK | f.LOOSE
_VERBAL = f.PART | f.ING
_ADJECTIVES = ("able", "ible", "ful", "ous", "ive", "less")
_FIRST = words("first second third last next only")
_LETTING = words("let help make have go come dare need see hear watch")
_MULTIPLES = words("twice half double")
_EACH_TIME = words("every each this last all")
_TIMES = words("day night morning evening week weekend month year season summer winter time")
_LEAST, _LEAST_PREDICATE, _STRONG = -0.5, -0.1, 2.0
_WEAK = 0.6
"""Log-odds up to which a later place is rather part of what an earlier one opens: "in | the world cup"."""
_MARGIN, _WIDE_MARGIN = 0.4, 1.0
"""Least log-odds between the likeliest place and the next, in a text with its question mark and without."""


def find_bare_verb(s: Sentence, aux: int) -> int | None:
    """Return the index of the bare verb after the subject of an inverted "do" or modal, or None if it is unclear."""
    return _find_best_place(s, aux, _score_base)


def find_predicate(s: Sentence, be: int) -> int | None:
    """Return the index of the predicate's first word after an inverted form of "be", or None if it is unclear."""
    first = be + 1
    verbal = s.tag(first) & f.PART and (s.tag(first) & f.USUALLY_VERB or not s.tag(first) & f.NOUN)
    described = s.tag(first + 1) & f.NOUN and not s.tag(first + 1) & (f.CLOSED | f.ING)  # "condensed milk"
    if s.tag(first) & f.WH or (verbal and not described):
        return None
    if "time" in s.words[first + 1 : first + 4] and s.words[first] == "the":
        return None  # "When is the last time | Anna won?"
    if s.word(first) in _LONE or (s.word(first) in _POINTING and not s.tag(first + 1) & f.NOUN):
        ends = first + 1 == len(s.words) or is_finite_aux(s, first + 1) or s.tags[first + 1] & (f.BREAK | f.COORD)
        return None if ends or s.words[first] not in _AGREEING.get(s.words[be], _LONE | _POINTING) else first + 1
    return _find_best_place(s, be, _score_predicate)


def find_participle(s: Sentence, have: int) -> int | None:
    """Return the index of the participle after the subject of an inverted form of "have", or None if none is known."""
    for i in range(have + 2, len(s.words)):
        if s.tags[i] & _STOP:
            return None
        participle = s.tags[i] & f.PART or s.words[i] in ("been", "had", "done")
        if participle and not s.tags[index_before_adverbs(s, i, have)] & (f.DET | f.PREP | f.QUANT | f.TO):
            return i
    return None


def _is_interrupted(s: Sentence, aux: int, at: int) -> bool:
    """Return whether a finite verb is inside the assumed subject, or after a noun of the predicate."""
    relative = any(word in _RELATIVES for word in s.words[aux + 1 : at])
    finite, other = f.THIRD | f.PAST, f.NAME | f.CLOSED | f.NOUN | f.ADJ | f.PART | f.BASE
    for i in range(aux + 1, at) if not relative else ():
        # A word that is a finite verb and nothing else: "determines", "wrote".
        inflected = s.tags[i] & finite and not s.tags[i] & other and s.words[i] in vocabulary().flags
        if inflected or is_finite_aux(s, i):
            return True
    clause = f.OPENER | f.BREAK | f.LOOSE | f.COORD | f.SUBJ & ~f.DET
    stop = next((i for i in range(at + 1, len(s.words)) if s.tags[i] & clause), len(s.words))
    return bool(s.tags[aux] & f.BE) and any(is_finite_aux(s, i) for i in range(at + 1, stop))


def _find_best_place(s: Sentence, aux: int, odds: Callable[[Sentence, int, int], float | None]) -> int | None:
    """Return the most likely place after the subject, or None if no place is likely or two are equally likely."""
    if s.word(aux + 1) == "be":
        return None  # "Can be sold?"
    pairs = (i for i in range(1, len(s.words) - 1) if s.words[i : i + 2] == ["used", "to"])
    plain = (i for i in pairs if not s.tags[i - 1] & f.BE and s.words[i - 1] not in ("be", "been", "get"))
    used_to = any(s.word(i + 2) in PLAIN or s.tag(i + 2) & (f.BASE | f.NOUN) == f.BASE for i in plain)
    if odds is _score_base and used_to:
        return None  # "did he used to come"
    places: list[tuple[float, int]] = []
    inside = False  # a relative clause of the subject, whose verb has not come yet
    for i in range(aux + 2, len(s.words)):
        if inside:
            inside = not (is_finite_aux(s, i) or (s.tags[i] & f.FINITE and score_relative_verb(s, i) > 0))
            continue
        if not places and s.words[i] in ("that", "who", "which"):
            inside = True
            continue
        phrase = s.words[i] in ("after", "before") and not s.tag(i + 1) & _CLAUSE_OPENS
        if phrase and all(value <= _WEAK for value, _ in places):
            continue  # "a walk | after dinner"
        if s.tags[i] & _STOP and s.words[i] != "like" and not (s.words[i] == "," and not places):
            break
        value = odds(s, i, aux)
        if value is None:
            continue
        if s.tags[i] & f.DET and any(
            other >= _STRONG and (s.tags[k] & _VERBAL or _is_adjective(s, k)) and s.tag(k + 1) & (f.PREP | f.TO)
            for other, k in places
        ):
            value -= 2.0  # it is told of what stands behind a predicate: "entitled to | a fee"
        if value > _WEAK or all(other < _WEAK for other, _ in places):
            places.append((value, i))
        if odds is _score_base and value > _STRONG and _is_only_bare_verb(s, i):
            break
    if not places:
        return None
    best, at = max(places, key=lambda place: (place[0], -place[1]))
    rivals = [value for value, i in places if i != at]
    margin = _MARGIN if s.asks else _WIDE_MARGIN
    sure = best >= (_LEAST if odds is _score_base else _LEAST_PREDICATE) and (not rivals or best - max(rivals) > margin)
    if not sure or (not s.asks and _may_be_title(s, aux, at)) or _is_interrupted(s, aux, at):
        return None
    return at


def _is_only_bare_verb(s: Sentence, i: int) -> bool:
    """Return whether a word can only be a bare verb."""
    return not s.tags[i] & (f.NOUN | f.ADJ | f.CLOSED | f.NAME)


def _has_object(s: Sentence, i: int) -> bool:
    """Return whether an object follows a bare verb: "make the", "kill you"."""
    likely = _is_only_bare_verb(s, i) or s.words[i] in PLAIN or s.tags[i] & f.USUALLY_VERB
    return bool(likely and s.tag(i + 1) & (f.DET | f.OBJ))


def _may_be_title(s: Sentence, aux: int, at: int) -> bool:
    """Return whether a name that is a phrase may include word `at`: "is take your dog to work day | in june"."""
    if any(word in _PRONOUNS for word in s.words[aux + 2 : at]) or (s.tags[aux] & f.BE and s.tags[at] & f.TO):
        return True
    last = s.tags[at - 1]
    verbal = last & f.ING or (last & f.USUALLY_VERB and last & f.BASE)
    noun = last & f.CLOSED or s.tag(at - 2) & (f.DET | f.ADJ | f.TO)
    return bool(s.tags[aux] & f.BE and verbal and at - 1 > aux and not noun)


def _score_base(s: Sentence, i: int, aux: int) -> float | None:
    tag = s.tags[i]
    if not (tag & f.BASE or s.words[i] in ("be", "have", "do")):
        return None
    k = index_before_adverbs(s, i, aux)
    while s.words[k] in closed.SENTENCE_ADVERBS:
        k = index_before_adverbs(s, k, aux)
    before = s.tags[k]
    if k == aux or before & (f.TO | f.AUX | f.COORD) or s.words[k].endswith(("'s", "s'")):
        return None
    if s.words[i] == "like" and before & f.BASE and i > aux + 2:
        return None  # "look like"
    if s.words[k] in _LONE and s.words[k] not in ("it", "there") and k > aux + 1 and not s.tags[k - 1] & f.COORD:
        return None  # "the food | you eat"
    if s.words[k] in _LONE and k == aux + 1:
        return 6.0
    participle = s.tags[aux] & f.DO and s.tag(i + 1) & (f.PART | f.NOUN | f.ADJ) == f.PART
    if s.words[i] in RATHER_PAST or (participle and tag & f.NOUN and not tag & f.EMBED):
        return None  # "the picture found | in", "copper sulphate dissolved"
    plain = _is_only_bare_verb(s, i) or s.words[i] in PLAIN
    form = 3.0 if plain else 0.8 if tag & f.USUALLY_VERB else -1.0
    number = 0.0
    if s.words[aux] in ("do", "does") and s.words[k - 1 : k + 1] != ["united", "states"]:
        plural = is_plural_phrase(s, aux + 1, k)
        number = 1.5 if plural == (s.words[aux] == "do") else 0.0 if plural is None else -3.0 if plural else -6.0
    odds = form + _score_before_base(s, i, k, before) + number + _score_after_base(s, i)
    return odds - (2.5 if tag & f.RARELY_VERB else 0)


def _score_before_base(s: Sentence, i: int, k: int, before: int) -> float:
    if before & (f.DET | f.QUANT) and not (before & f.SUBJ and k >= 1):
        return -0.5 if before & f.QUANT else -6.0
    if before & f.PREP or s.words[k] in _NEVER_LAST:
        return -1.0 if before & f.PREP and _is_only_bare_verb(s, i) else -3.0
    if before & (f.NAME | f.SUBJ | f.QUOTED) or s.words[k - 1 : k + 1] == ["the", "us"]:
        return 2.0
    if before & f.BASE and not before & f.RARELY_VERB and not _has_object(s, i):
        if not before & f.NOUN:
            return -3.0
        if before & f.USUALLY_VERB and not (s.tags[k - 1] & f.DET or s.words[k - 1].endswith("'s")):
            return -1.0
    if before & f.NOUN:
        return 1.2
    if before & f.ADJ or (before & f.PART and not _is_only_bare_verb(s, i)):
        return -2.0
    return 0.0


def _score_after_base(s: Sentence, i: int) -> float:
    tag, word, letting = s.tag(i + 1), s.word(i + 1), s.words[i] in _LETTING
    if not word:
        return 1.0
    if word == "be" or (not letting and (word == "have" or (tag & f.BASE and _has_object(s, i + 1)))):
        return -3.0
    if tag & f.BASE and tag & f.USUALLY_VERB and not letting and s.words[i] != "be":
        return -1.5
    if tag & (f.DET | f.OBJ | f.QUANT | f.REL | f.TO | f.ADV):
        return 1.5
    return -3.0 if word == "of" else 0.5 if tag & (f.PREP | f.LOOSE | f.ING) else 0.0


def _score_predicate(s: Sentence, i: int, be: int) -> float | None:
    tag, before = s.tags[i], s.tags[i - 1]
    if s.words[i - 1] in _DAYS or (s.words[i - 1] in _NUMERALS and tag & (_VERBAL | f.DET | f.ADJ)):
        before = f.NOUN
    if before & (f.PREP | f.DET | f.QUANT | f.COORD | f.TO) and not before & f.SUBJ:
        return None
    named = s.words[be + 1] == "the" and tag & f.DET and i == be + 3
    if named and any(s.tags[k] & f.PART and s.tag(k + 1) & f.PREP for k in range(i + 2, len(s.words))):
        # "the movie the terminal | based on …"
        return None if s.words[i] == "the" and s.words[i - 1] in _WORKS else 2.0
    if s.words[i - 1] in ("being", "be") or s.words[i - 1].endswith(("'s", "s'")):
        return None
    if tag & (f.AUX | f.COORD | f.SUBJ) and not tag & f.DET:
        return None
    if tag & f.DET:
        stop = next((k for k in range(i + 1, len(s.words)) if s.tags[k] & _STOP or is_finite_aux(s, k)), i)
        if is_finite_aux(s, stop) or s.words[i - 1] in _MULTIPLES:
            return None  # "the last time | the river was frozen", "half | the price"
        if s.words[i - 1] == "times" and s.tags[i - 2] & (f.NUMBER | f.QUANT):
            return None  # "4 times | the size"
    odds = _score_kind(s, i, tag, last=i + 1 == len(s.words))
    if before & f.ING and s.tag(i - 2) & (f.PREP | f.SUB) and i - 2 > be:
        return None  # "without requiring | the consent"
    adjective = _is_adjective(s, i - 1) and (not s.tags[i - 1] & f.NOUN or not s.tags[i - 1] & f.ADJ)
    if before & (f.NOUN | f.NAME | f.SUBJ | f.ING | f.QUOTED | f.PREP) and not adjective:
        return odds
    verbal = tag & _VERBAL and (not tag & f.NOUN or tag & f.USUALLY_VERB) and before & (f.ADJ | f.OBJ | f.VERB)
    verbal = verbal or (tag & f.DET and before & (f.ADJ | f.OBJ) and not before & _VERBAL)
    return odds - 0.4 if odds and (verbal or (is_adverb(s, i) and before & (f.OBJ | f.BASE))) else None


def _is_adjective(s: Sentence, i: int) -> bool:
    """Return whether a word can be an adjective; the dictionary has some adjectives only as nouns."""
    tag = s.tag(i)
    return bool(tag & f.ADJ) or bool(tag & f.USUALLY_ADJ and len(s.words[i]) > 6 and s.words[i].endswith(_ADJECTIVES))


def _score_kind(s: Sentence, i: int, tag: int, *, last: bool) -> float | None:
    after = s.tag(i + 1)
    closes = last or bool(after & (f.PREP | f.SUB | f.LOOSE | f.TO | f.COORD | f.ADV | f.REL))
    if s.words[i] in _NUMERALS:
        return 0.3
    if s.words[i] == "all" and after & f.DET:
        return None
    k = i + 1 + bool(after & f.ADJ and not s.tag(i + 2) & f.CLOSED)
    if tag & (f.DET | f.QUANT) and s.words[i] in _EACH_TIME and (s.word(i + 1) in _TIMES or s.word(k) in _TIMES):
        return 0.4  # "every year", "this time", "the whole day"
    if s.words[i] == "the" and s.words[i - 1] in _WORKS and not after & (f.ADJ | f.ADV):
        return 0.5  # "the show the ark"
    if tag & (f.DET | f.QUANT) or s.words[i] in _POSSESSIVES:
        return 3.5 if s.words[i] in ("a", "an") else 3.0
    if s.words[i : i + 2] == ["part", "of"] and s.tags[i - 1] & (f.NOUN | f.NAME):
        return 2.8
    if s.words[i] in _CONSIDERED:
        return 3.6
    known = not ends_as_adverb(s.words[i]) or s.words[i] in vocabulary().flags  # not "o'reilly"
    if last and s.words[i] in ("now", "currently", "yet"):
        return None
    if (is_adverb(s, i) and known) or s.words[i] == "being":
        return None if s.tags[i - 1] & f.USUALLY_VERB and s.words[i - 2] != "to" else 2.8
    if tag & f.PREP:
        return None if s.words[i] in ("of", "per") or after & f.REL else 2.0 if last else 0.6
    if tag & f.PART and (not tag & f.NOUN or tag & f.USUALLY_VERB):
        return 2.5 if closes or after & f.DET else 0.5
    if tag & f.ING:
        return 2.2 if closes or after & f.DET else 0.4
    if _is_adjective(s, i) and (not tag & f.USUALLY_NOUN or s.tags[i - 1] & f.NOUN == f.PLURAL):
        return (2.6 if not tag & f.NOUN or tag & f.USUALLY_ADJ else 1.2) if closes else 0.2
    if tag & f.TO:
        return None if not _FIRST.isdisjoint(s.words[:i]) else 0.4 if after & f.BASE else 0.2
    if tag & (f.QUOTED | f.LOOSE):
        return 0.8
    if tag & (f.NOUN | f.NUMBER | f.NAME):
        plural_before = s.tags[i - 1] & f.NOUN == f.PLURAL
        plural = plural_before and (last or tag & f.NOUN == f.PLURAL)
        return 1.2 if plural and last else -0.6 if not s.asks else 0.3 if plural or last else -0.2
    return None

"""Analysis of a sentence: its opening, kind and main clause, and how sure these are."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.clause import Clause, find_clause
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import is_finite_aux
from contrapose.tasks.language.inversion import find_bare_verb
from contrapose.tasks.language.odds import INTRANSITIVE
from contrapose.tasks.language.reading import is_title, read_sentence
from contrapose.tasks.language.search import UNFINISHED
from contrapose.tasks.language.sentence import Sentence

Kind = Literal["statement", "order", "polar", "wh", "fragment"]
DOUBT = 2.5
"""Below this margin, in log-odds, a reading is doubtful."""
LONGEST = 200
"""Words beyond which a sentence is not taken apart: no verb of it can be told to be the main one."""
AMBIGUOUS = 1.0
"""Below this margin it is not taken at all."""


class Analysis(NamedTuple):
    """The parts of the last sentence of a text: opening, kind and main clause."""

    sentence: Sentence
    kind: Kind
    """What it does; `fragment` when it has no finite verb."""
    start: int
    """Index of the main clause's first word; of the question word or inverted auxiliary in a question."""
    subject: int
    """Index of the subject's first word, in a statement; that of the verb in an order."""
    clause: Clause
    """Finite verb of the main clause, in a statement or an order."""

    @property
    def doubtful(self) -> bool:
        """Return whether another reading of the main verb is only a little less likely."""
        return self.clause.margin < DOUBT

    @property
    def ambiguous(self) -> bool:
        """Return whether another reading of the main verb is nearly as likely."""
        return self.clause.margin < AMBIGUOUS


def analyse(text: str) -> Analysis:
    """Analyse the last sentence of a text, or raise UnreadableError if it cannot be split into words."""
    return analyse_sentence(read_sentence(text))


def analyse_sentence(s: Sentence) -> Analysis:
    """Analyse a sentence."""
    start = find_opening(s)
    if start >= len(s.words):
        return Analysis(s, "fragment", 0, 0, _NONE)
    if len(s.words) > LONGEST:
        return Analysis(s, "statement", start, start, _UNTOLD)
    asked = find_question_start(s, start) if s.asks or s.tags[start] & _ASKING else None
    if asked is not None and (s.asks or (not s.closed and _asks_unmarked(s, asked))):
        polar = s.tags[asked] & f.AUX and not s.tags[asked] & f.WH
        return Analysis(s, "polar" if polar else "wh", asked, asked, _NONE)
    if _orders_at(s, start):
        return Analysis(s, "order", start, start, Clause(start, start, lexical=True, others=(), margin=_SURE))
    clause = find_clause(s, start)
    verb = clause.verb
    comma = max((k for k in range(start, verb) if s.words[k] == ","), default=-1)
    last = max(verb + 1, verb + 2 * bool(s.tag(verb) & f.HAVE)) >= len(s.words)
    if comma >= 0 and last and s.tags[-1] & f.EMBED:
        # Analyse what is reported: "It rains, | the man said."
        reported = find_clause(replace(s, words=s.words[:comma], tags=s.tags[:comma]), start)
        clause = reported if reported.verb >= 0 else clause
        verb = clause.verb
    if verb < 0 or _lacks_main_clause(s, start):
        return Analysis(s, "fragment", start, start, _NONE)
    subject = find_subject_start(s, start, verb)
    orders = clause.lexical if verb == subject else s.words[subject:verb] in (["always"], ["please"])
    kind: Kind = "order" if orders else "statement"
    return Analysis(
        s, kind, start, subject, clause._replace(margin=min(clause.margin, _find_largest_margin(s, subject, verb)))
    )


_UNTOLD = Clause(start=-1, verb=-1, lexical=False, others=(), margin=0.0)
_SURE = math.inf
_NONE = Clause(start=-1, verb=-1, lexical=False, others=(), margin=_SURE)
_ASKING = f.WH | f.PREP | f.TO | f.AUX
_PARTS = f.OPENER | f.LOOSE | f.COORD | f.BREAK | f.QUOTED | f.SUBJ & ~f.DET
_NOMINAL = f.NOUN | f.ADJ | f.NAME | f.NUMBER | f.PREP | f.DET | f.QUANT


def _lacks_main_clause(s: Sentence, start: int) -> bool:
    """Return whether a sentence is only "If it rains and the road is wet," or a title: "17 Things You Need To Know"."""
    listed = s.tags[start] & f.NUMBER and not s.closed and is_title(s.text, s.starts[0], s.ends[-1])
    first = start + bool(s.tags[start] & f.ADV)
    compared = s.tag(first) & f.ADJ and s.word(first + 1) == "than"  # "Better than any book makes it seem."
    if listed or compared or (s.word(start + 1) == "how" and s.tags[start] & f.ADJ):
        return True
    if s.words[-1] == ",":
        return bool(s.tags[start] & (f.SUB | f.TO | f.PREP))
    alone = s.tags[start] & f.SUB and "," not in s.words and not s.tags[-1] & UNFINISHED
    return bool(alone and not s.closed and is_title(s.text, s.starts[0], s.ends[-1]))


def _find_largest_margin(s: Sentence, subject: int, verb: int) -> float:
    """Return the largest margin that a verb can have in its sentence."""
    said = s.words[subject : verb + 1]
    if said == ["i", "mean"] or (said[:-1] in (["i"], ["you"]) and s.tags[verb] & f.EMBED and s.word(verb + 1) == ","):
        return 0.0  # "You know, it rains."
    if subject == verb and not s.tags[verb] & f.AUX and (s.tags[verb] & f.NOUN or not s.tags[verb] & f.EMBED):
        parts = (k for k in range(verb + 1, len(s.words)) if s.words[k] != "it")
        later = next((k for k in parts if s.tags[k] & _PARTS or _is_finite(s, k)), verb)
        if _is_finite(s, later) and later > verb and s.words[verb] not in _LETTING:
            return 0.0  # "Pay It Forward is a film."
    idle = s.tags[verb] & f.PART and not s.tags[verb] & f.BASE and s.words[verb] not in INTRANSITIVE
    if idle and s.tag(verb - 1) & f.PLURAL and s.tag(verb + 1) & (f.ADV | f.PREP) and not s.tags[subject] & f.DET:
        return DOUBT - 0.1  # "rifles repaired mostly in May"
    if not s.closed and s.tags[subject] & f.WH and (s.tags[verb] & f.CLITIC or not s.tags[verb] & f.AUX):
        return 0.0
    if not s.closed and s.tags[verb] & f.DO and not s.tag(verb + 1) & f.DET and find_bare_verb(s, verb) is not None:
        return 0.0  # "the vampire diaries do damon and elena get together"
    if s.tags[verb] & f.BASE and subject == verb and ("and", "you") in pairwise(s.words):
        return 0.0  # "Add salt and you have a soup."
    comma = next((k for k in range(verb + 1, len(s.words)) if s.words[k] in (",", ";", "but")), len(s.words))
    asking, behind = f.WH if s.asks else 0, range(comma, len(s.words))
    if (s.asks or not s.closed) and any(s.tags[k] & asking or s.words[k] in ("what", "how", "why") for k in behind):
        return 0.0  # "She was cold, what did she need?"
    if not s.tags[verb] & f.BASE and any(_is_order_behind_comma(s, k) for k in range(verb + 1, len(s.words) - 2)):
        return 0.0  # "You are given a text, read it"
    first, second = s.tags[subject], s.tag(subject + 1)
    if not s.closed and first & (f.NOUN | f.CLOSED) == f.PLURAL and second & (f.NAME | f.SUBJ) and subject + 1 < verb:
        return 0.0  # "Things Anna wants you to know"
    to = next((k for k in range(subject, verb) if not s.tags[k] & _NOMINAL), verb)
    coming = to > subject and s.tags[to] & f.TO and s.tag(to + 1) & f.BASE and s.tags[to - 1] & (f.NAME | f.PLURAL)
    if (not s.closed and coming) or s.words[subject : subject + 2] == ["how", "to"]:
        return 0.0  # "Spain to host talks, says minister"
    inverted = (k for k in range(1, len(s.words) - 2) if s.words[k + 1] in _PRONOUNS and s.tags[k] & f.AUX)
    if any(is_finite_aux(s, k) and not s.tags[k] & f.CLITIC and not s.tags[k - 1] & f.BREAK for k in inverted):
        return 0.0  # "shingrix how often do you get it"
    return DOUBT - 0.1 if s.asks and not s.union & f.WH else _SURE


def _is_order_behind_comma(s: Sentence, k: int) -> bool:
    bare = s.tags[k + 1] & (f.BASE | f.PAST | f.USUALLY_VERB) == f.BASE | f.USUALLY_VERB
    return s.words[k] == "," and bare and bool(s.tag(k + 2) & (f.DET | f.OBJ))


_PRONOUNS = words("i you he she we they")
_LETTING = words("let make help watch see have")


def _is_finite(s: Sentence, k: int) -> bool:
    """Return whether a word is a finite auxiliary or can only be a verb form: "Trigger finger involves …"."""
    tag = s.tags[k]
    return is_finite_aux(s, k) or bool(tag & f.THIRD and not tag & f.NOUN)


def _asks_unmarked(s: Sentence, i: int) -> bool:
    """Return whether a text without a question mark is a question: "what is the capital of france"."""
    if s.tags[i] & f.AUX and not s.tags[i] & f.WH:
        # The auxiliary asks; it neither orders nor supposes.
        word = s.words[i]
        if word in ("should", "had", "were") and "," in s.words:
            return False
        if word == "do":
            return s.word(i + 1) == "any" or find_bare_verb(s, i) is not None
        return word != "may" and (word != "have" or bool(s.tag(i + 1) & f.SUBJ) or "ever" in s.words)
    wh = i if s.tags[i] & f.WH else i + 1
    word, verbs = s.words[wh], [k for k in range(wh + 1, len(s.words)) if is_finite_aux(s, k)]
    if s.tags[wh] & f.CLITIC or verbs[:1] == [wh + 1] or word in ("who", "whose"):
        return word != "what" or s.words[i - 1] != "," or len(verbs) < 2  # ", what is seen is"
    if word == "how":
        return s.word(wh + 1) != "to"
    if word in ("when", "where", "why"):
        return i < wh and bool(verbs)
    if verbs and all(tag & _NOMINAL for tag in s.tags[wh + 1 : verbs[0]]):
        return not s.tags[wh + 1] & f.NP_START
    return word == "which" or (not verbs and bool(s.tag(wh + 1) & (f.THIRD | f.PAST)))


def _orders_at(s: Sentence, start: int) -> bool:
    """Return whether an order starts at `start` with a special verb: "Be quiet.", "Have a seat."."""
    word, following = s.words[start], s.tag(start + 1)
    known = word == "let's" or (word == "be" and following) or (word in ("have", "do") and following)
    if not known or (word == "do" and not following & (f.BASE | f.DET | f.QUANT)):
        return False
    rest = find_clause(s, start + 1)
    return rest.verb < 0 or rest.margin <= DOUBT or bool(s.tags[rest.verb] & (f.BASE | f.DO | f.HAVE))


_FILLERS = words("""
    and but so then however therefore thus hence instead indeed please yes well ok okay oh actually now or , - \u2013 —
    …
""")
_FILLERS_BEFORE_AUX = words("well now instead actually")
_LABEL_LENGTH = 7
_PIED = f.PREP | f.TO
_FRONTED = f.SUB | f.LOOSE | f.PREP | f.TO | f.ADV | f.ING | f.PART | f.WH
_FRONTED_PHRASE = _FRONTED & ~f.WH


def find_opening(s: Sentence) -> int:
    """Return the index of the first word after a label ("Question:") and fillers ("However,")."""
    i = 0
    for k, word in enumerate(s.words[:_LABEL_LENGTH]):
        if word == ":" and k + 1 < len(s.words):
            i = k + 1
        if i or (s.tags[k] & f.AUX and word != "do"):
            break
    while i < len(s.words) and s.words[i] in _FILLERS:
        # It may be part of the clause: "Now that it rains, …", "So cold was the water …".
        after, so = s.tag(i + 1), s.words[i] == "so"
        if s.word(i + 1) == "that" or (so and after & (f.ADJ | f.ADV) and not after & f.NP_START):
            break
        if s.words[i] in _FILLERS_BEFORE_AUX and is_finite_aux(s, i + 1):
            break
        i += 1
    return i


def find_question_start(s: Sentence, start: int) -> int | None:
    """Return the index of the question word or inverted auxiliary, or None if the sentence is no question."""
    if _asks_at(s, start):
        # The question may be behind a label, or behind a clause that "when" opens: "When it rains, | what …?".
        labels = (i for i in range(start + 2, len(s.words)) if s.words[i - 1] == ":" and s.words[i - 2][-1].isdigit())
        last = max((i for i in labels if _asks_at(s, i)), default=start)
        if s.words[last] != "when" or (is_finite_aux(s, last + 1) and not s.tags[last + 1] & f.CLITIC):
            return last
        behind = _find_question_after_comma(s, last)
        return last if behind is None else behind
    if s.word(start + 1) != "," and not s.tags[start] & _FRONTED:  # not "Anna, is it late?"
        # "Pursuant to the terms, are there …?": no verb stands before the comma.
        comma = next((k for k in range(start, len(s.words)) if s.words[k] == ","), start)
        if not (s.asks and is_finite_aux(s, comma + 1)) or any(is_finite_aux(s, k) for k in range(start, comma)):
            return None
    behind_comma = _find_question_after_comma(s, start)
    if behind_comma is not None or not s.asks:
        return behind_comma
    # A fronted clause without a comma.
    asking = (i for i in range(start, len(s.words) - 1) if s.tags[i] & f.WH and not s.tags[i - 1] & f.PREP)
    at = max((i for i in asking if is_finite_aux(s, i + 1) or s.words[i] == "how"), default=None)
    relative = at is not None and s.words[at] in ("which", "who") and not s.tags[start] & (f.SUB | f.LOOSE)
    return None if relative and any(is_finite_aux(s, i) for i in range(start, at or 0)) else at


def _find_question_after_comma(s: Sentence, start: int) -> int | None:
    """Return the index of a question word or auxiliary after a first clause and its comma, or None."""
    commas = (i + 1 + (s.word(i + 1) == "then") for i in range(start, len(s.words) - 1) if s.words[i] == ",")
    return next((i for i in commas if _asks_at(s, i)), None)


def find_subject_start(s: Sentence, start: int, verb: int) -> int:
    """Return the index of the subject's first word, after a first phrase or clause and its comma."""
    if not s.tags[start] & _FRONTED_PHRASE:
        return start
    if s.tags[start] & f.ING and not s.tag(start + 1) & f.CLOSED:
        return start
    commas = [i for i in range(start, verb - 1) if s.words[i] == ","]
    return next((i + 1 for i in reversed(commas) if s.tags[i + 1] & (f.NP_START | f.NOUN | f.NAME | f.ADJ)), start)


def _asks_at(s: Sentence, i: int) -> bool:
    """Return whether word `i` is a question word or an inverted auxiliary that asks."""
    tag = s.tag(i)
    if tag & f.WH or ((tag & _PIED or (s.asks and tag & f.LOOSE)) and s.tag(i + 1) & f.WH):
        return True
    return not tag & f.CLITIC and is_finite_aux(s, i)

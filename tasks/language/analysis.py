"""A sentence as probes see it: how it opens, its kind, its main clause, and how sure that is."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.clause import Clause, find_clause
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import is_finite_aux
from contrapose.tasks.language.reading import read
from contrapose.tasks.language.sentence import Sentence

Kind = Literal["statement", "order", "polar", "wh", "fragment"]
DOUBT = 2.0
"""Below this margin, in log-odds, a reading is doubtful."""
LONGEST = 200
"""Words beyond which a sentence is not taken apart: no verb of it can be told to be the main one."""
AMBIGUOUS = 0.6
"""Below this margin it is not taken at all."""


class Analysis(NamedTuple):
    """The last sentence of a text, taken apart."""

    sentence: Sentence
    """Its words."""
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
        """Whether another reading of the main verb is not much less likely."""
        return self.clause.margin < DOUBT

    @property
    def ambiguous(self) -> bool:
        """Whether another reading of the main verb is nearly as likely."""
        return self.clause.margin < AMBIGUOUS


def analyse(text: str) -> Analysis:
    """Take the last sentence of a text apart.

    Raises:
        UnreadableError: it cannot be read into words.
    """
    return analyse_sentence(read(text))


def analyse_sentence(s: Sentence) -> Analysis:
    """Take a sentence apart."""
    start = opening(s)
    if start >= len(s.words):
        return _fragment(s, 0)
    if len(s.words) > LONGEST:
        return Analysis(s, "statement", start, start, _UNTOLD)
    asked = question_start(s, start) if s.asks or s.tags[start] & _ASKING else None
    if asked is not None and (s.asks or _asks_unmarked(s, asked)):
        polar = s.tags[asked] & f.AUX and not s.tags[asked] & f.WH
        return Analysis(s, "polar" if polar else "wh", asked, asked, _NONE)
    if _orders_at(s, start):
        return Analysis(s, "order", start, start, Clause(start, start, lexical=True, others=(), margin=_SURE))
    clause = find_clause(s, start)
    verb = clause.verb
    if verb < 0:
        return _fragment(s, start)
    subject = subject_start(s, start, verb)
    return Analysis(s, "order" if _is_order(s, subject, clause) else "statement", start, subject, clause)


_UNTOLD = Clause(start=-1, verb=-1, lexical=False, others=(), margin=0.0)
_SURE = math.inf
_NONE = Clause(start=-1, verb=-1, lexical=False, others=(), margin=_SURE)
_ASKING = f.WH | f.PREP | f.TO


def _fragment(s: Sentence, start: int) -> Analysis:
    return Analysis(s, "fragment", start, start, _NONE)


def _asks_unmarked(s: Sentence, i: int) -> bool:
    """Whether a text without a question mark is a question all the same: "what is the capital of france"."""
    if s.closed or not s.tags[i] & f.WH or s.words[i] in ("when", "where"):
        return False
    verbs = [k for k in range(i, len(s.words)) if is_finite_aux(s, k)]
    if verbs[:1] == [i + 1] and s.tags[i + 1] & (f.MODAL | f.DO):
        return True
    return verbs[0] <= i + 2 if len(verbs) == 1 else not verbs and s.words[i] in ("which", "who")


def _orders_at(s: Sentence, start: int) -> bool:
    """Whether an order starts with a word which is no ordinary verb: "Be quiet.", "Have a seat.", "Let's go."."""
    word, following = s.words[start], s.tag(start + 1)
    known = word == "let's" or (word == "be" and following) or (word in ("have", "do") and following)
    if not known or (word == "do" and not following & (f.BASE | f.DET | f.QUANT)):
        return False
    rest = find_clause(s, start + 1)
    return rest.verb < 0 or rest.margin <= DOUBT or bool(s.tags[rest.verb] & f.BASE)


def _is_order(s: Sentence, subject: int, clause: Clause) -> bool:
    verb = clause.verb
    return clause.lexical if verb == subject else s.words[subject:verb] in (["always"], ["please"])


_FILLERS = words(
    """
    and but so then however therefore thus hence instead indeed please yes well ok okay oh actually now or
    , - \u2013 — …
    """
)
_FILLERS_BEFORE_AUX = words("well now instead actually")
_LABEL_LENGTH = 7
_PIED = f.PREP | f.TO
_FRONTED = f.SUB | f.LOOSE | f.PREP | f.TO | f.ADV | f.ING | f.PART | f.WH
_FRONTED_PHRASE = _FRONTED & ~f.WH


def opening(s: Sentence) -> int:
    """Index of the first word behind a label ("Question:") and fillers ("However,")."""
    i = _after_label(s)
    while i < len(s.words) and s.words[i] in _FILLERS and not _belongs(s, i):
        i += 1
    return i


def _belongs(s: Sentence, i: int) -> bool:
    """Whether a filler is part of the clause."""
    if s.words[i] in _FILLERS_BEFORE_AUX and is_finite_aux(s, i + 1):
        return True
    if s.word(i + 1) == "that":
        return True  # "Now that it rains, …"
    after = s.tag(i + 1)
    return s.words[i] == "so" and bool(after & (f.ADJ | f.ADV)) and not after & f.NP_START  # "So cold was the water …"


def question_start(s: Sentence, start: int) -> int | None:
    """Index of the question word or inverted auxiliary; None when the sentence holds no question of its own."""
    if _asks_at(s, start):
        return start
    if not s.tags[start] & _FRONTED and s.word(start + 1) != ",":  # "Anna, is it late?"
        return None
    behind_comma = _after_comma(s, start)
    return _after_fronted(s, start) if behind_comma is None and s.asks else behind_comma


def _after_comma(s: Sentence, start: int) -> int | None:
    """A question word or auxiliary behind a fronted clause that a comma ends; None when there is none."""
    commas = (i + 1 + (s.word(i + 1) == "then") for i in range(start, len(s.words) - 1) if s.words[i] == ",")
    return next((i for i in commas if _asks_at(s, i)), None)


def _after_fronted(s: Sentence, start: int) -> int | None:
    """A question word and its auxiliary behind a fronted clause without a comma; None when there is none."""
    asking = (i for i in range(start, len(s.words) - 1) if s.tags[i] & f.WH and not s.tags[i - 1] & f.PREP)
    return next((i for i in asking if is_finite_aux(s, i + 1)), None)


def subject_start(s: Sentence, start: int, verb: int) -> int:
    """Index of the subject's first word, behind a fronted phrase or clause that a comma ends."""
    if not s.tags[start] & _FRONTED_PHRASE:
        return start
    if s.tags[start] & f.ING and not s.tag(start + 1) & f.CLOSED:
        return start
    commas = [i for i in range(start, verb - 1) if s.words[i] == ","]
    return next((i + 1 for i in reversed(commas) if s.tags[i + 1] & (f.NP_START | f.NOUN | f.NAME | f.ADJ)), start)


def _after_label(s: Sentence) -> int:
    for i, word in enumerate(s.words[:_LABEL_LENGTH]):
        if word == ":" and i + 1 < len(s.words):
            return i + 1
        if s.tags[i] & f.AUX and word != "do":
            return 0
    return 0


def _asks_at(s: Sentence, i: int) -> bool:
    """Whether a question word or an inverted auxiliary stands here."""
    tag = s.tag(i)
    if tag & f.WH or (tag & _PIED and s.tag(i + 1) & f.WH):
        return True
    return not tag & f.CLITIC and is_finite_aux(s, i)

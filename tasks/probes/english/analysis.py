"""What kind of sentence a text ends in, and where its parts are."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.clause import Clause, find_clause
from contrapose.tasks.probes.english.context import is_finite_aux
from contrapose.tasks.probes.english.opening import opening, question_start, subject_start
from contrapose.tasks.probes.english.reading import Sentence, read

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
    if verb == subject:
        return clause.lexical
    return s.words[subject:verb] in (["always"], ["please"])

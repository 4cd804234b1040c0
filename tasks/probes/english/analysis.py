"""What kind of sentence a text ends in, and where its parts are."""

from __future__ import annotations

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
        return Analysis(sentence=s, kind="statement", start=start, subject=start, clause=_UNTOLD)
    asked = question_start(s, start) if s.asks or s.tags[start] & (f.WH | f.PREP | f.TO) else -1
    if asked >= 0 and (s.asks or _asks_unmarked(s, asked)):
        kind: Kind = "polar" if s.tags[asked] & f.AUX and not s.tags[asked] & f.WH else "wh"
        return Analysis(sentence=s, kind=kind, start=asked, subject=asked, clause=_NONE)
    order = _order_at(s, start)
    if order is not None:
        return order
    clause = find_clause(s, start)
    if clause.verb < 0:
        return _fragment(s, start)
    subject = subject_start(s, start, clause.verb)
    kind = "order" if _is_order(s, subject, clause) else "statement"
    return Analysis(sentence=s, kind=kind, start=start, subject=subject, clause=clause)


def flags_in(s: Sentence) -> int:
    """All flags of all words."""
    union = 0
    for tag in s.tags:
        union |= tag
    return union


_UNTOLD = Clause(start=-1, verb=-1, lexical=False, others=(), margin=0.0)
_NONE = Clause(start=-1, verb=-1, lexical=False, others=(), margin=99.0)


def _fragment(s: Sentence, start: int) -> Analysis:
    return Analysis(sentence=s, kind="fragment", start=start, subject=start, clause=_NONE)


def _asks_unmarked(s: Sentence, i: int) -> bool:
    """Whether a text without a question mark is a question all the same: "what is the capital of france"."""
    if s.closed or not s.tags[i] & f.WH or s.words[i] in ("when", "where"):
        return False
    verbs = [k for k in range(i, len(s.words)) if is_finite_aux(s, k)]
    if verbs[:1] == [i + 1] and s.tags[i + 1] & (f.MODAL | f.DO):
        return True
    return verbs[0] <= i + 2 if len(verbs) == 1 else not verbs and s.words[i] in ("which", "who")


def _order_at(s: Sentence, start: int) -> Analysis | None:
    """Orders that start with a word which is no ordinary verb: "Be quiet.", "Have a seat.", "Let's go."."""
    word, following = s.words[start], s.tag(start + 1)
    known = word == "let's" or (word == "be" and following) or (word in ("have", "do") and following and not s.asks)
    if not known or (word == "do" and not following & (f.BASE | f.DET | f.QUANT)):
        return None
    rest = find_clause(s, start + 1)
    if rest.verb >= 0 and rest.margin > DOUBT and not s.tags[rest.verb] & f.BASE:
        return None
    clause = Clause(start=start, verb=start, lexical=True, others=(), margin=99.0)
    return Analysis(sentence=s, kind="order", start=start, subject=start, clause=clause)


def _is_order(s: Sentence, subject: int, clause: Clause) -> bool:
    if clause.verb == subject:
        return clause.lexical
    return s.words[subject : clause.verb] in (["always"], ["please"], ["you", "please"])

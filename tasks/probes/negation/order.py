"""Negates an order: "Close the door." → "Do not close the door.", "Let's go." → "Let's not go."."""

from __future__ import annotations

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis
from contrapose.tasks.language.sentence import Edit
from contrapose.tasks.probes.negation.place import with_any
from contrapose.tasks.probes.negation.result import EditPlan, SkipError


def negate_order(a: Analysis) -> EditPlan:
    """The plan that forbids what the sentence orders.

    Raises:
        SkipError: a second order or clause follows.
    """
    s, verb = a.sentence, a.clause.verb
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    word = s.words[verb]
    if word == "let's" or (word == "let" and s.word(verb + 1) == "us") or (word == "do" and _bare(a, verb + 1)):
        after = verb + (word == "let")
        return with_any(s, after, (Edit(s.ends[after], s.ends[after], s.cased(" not")),), "high")
    verb = a.subject if s.words[a.subject] == "always" else verb
    first = s.source(verb)[0]
    support = "Do not " if first.isupper() else "do not "
    edit = Edit(s.starts[verb], s.starts[verb] + 1, s.cased(support + first.lower()))
    return with_any(s, verb, (edit,), "medium" if a.doubtful else "high", "rewrite")


def _bare(a: Analysis, i: int) -> bool:
    """Whether a bare verb follows an emphatic "do": "Do sit down."."""
    tag = a.sentence.tag(i)
    return bool(tag & f.BASE) and not tag & (f.DET | f.QUANT) and not tag & f.USUALLY_NOUN

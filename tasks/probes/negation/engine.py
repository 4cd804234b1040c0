"""Negates a text by rules: one negation, in the main clause of the last sentence, or a reason why not."""

from __future__ import annotations

from functools import reduce
from operator import or_

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.clauses import main_start
from contrapose.tasks.probes.negation.langtest import negate_as_langtest
from contrapose.tasks.probes.negation.lexical import is_finite_aux
from contrapose.tasks.probes.negation.polar import negate_polar
from contrapose.tasks.probes.negation.questions import negate_question
from contrapose.tasks.probes.negation.reading import Sentence, read
from contrapose.tasks.probes.negation.remove import remove_negation
from contrapose.tasks.probes.negation.result import ExistingNegation, Negation, Plan, SkipError, Style, apply
from contrapose.tasks.probes.negation.statement import negate_statement
from contrapose.tasks.probes.negation.words import words

_BEFORE_LITTLE = words("very so too is has have had was")
_COUNTED = words("a the these those next last first quite past every")


def negate(
    text: str,
    *,
    style: Style = "rules",
    existing_negation: ExistingNegation = "skip",
    rewrite_polar: bool = True,
) -> Negation:
    """Reverse the main clause of the last sentence, leaving every other character as it is.

    Args:
        text: a statement, a question or an unfinished sentence.
        style: `rules`, or `langtest` for LangTest's literal replacement.
        existing_negation: what to do with a text that is negated already.
        rewrite_polar: whether a yes/no question becomes a true-or-false statement, in `original` too.
    """
    if style == "langtest":
        return negate_as_langtest(text)
    try:
        plan = _plan(text, existing_negation, rewrite_polar)
    except SkipError as skip:
        return Negation(text=None, reason=skip.reason, confidence=None, original=text, kind=None)
    return Negation(
        text=apply(text, plan.edits),
        reason=None,
        confidence=plan.confidence,
        original=apply(text, plan.original_edits),
        kind=plan.kind,
    )


def _plan(text: str, existing: ExistingNegation, rewrite_polar: bool) -> Plan:
    if not text.strip():
        raise SkipError("empty")
    sentence = read(text)
    union = reduce(or_, sentence.tags)
    if union & t.NEG:
        if existing == "remove":
            return remove_negation(sentence)
        raise SkipError("existing_negation")
    if union & t.SEMI or any(_is_small_quantity(sentence, i, word) for i, word in enumerate(sentence.words)):
        raise SkipError("semi_negative")
    return _dispatch(sentence, main_start(sentence), rewrite_polar=rewrite_polar)


def _is_small_quantity(s: Sentence, i: int, word: str) -> bool:
    """Whether "few" or "little" says that there is hardly any."""
    if word == "few":
        return s.word(i - 1) not in _COUNTED
    return word == "little" and s.word(i - 1) in _BEFORE_LITTLE


def _dispatch(s: Sentence, start: int, *, rewrite_polar: bool) -> Plan:
    if start >= len(s.words):
        raise SkipError("no_finite_verb")
    tag = s.tags[start]
    pied = tag & t.PREP and s.tag(start + 1) & t.WH
    if tag & t.WH or pied:
        return negate_question(s, start)
    if tag & t.AUX and not tag & t.CLITIC and is_finite_aux(s, start):
        if not s.asks:
            raise SkipError("ambiguous_verb")
        return negate_polar(s, start, rewrite=rewrite_polar)
    return negate_statement(s, start)

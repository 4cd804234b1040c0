"""Negates a statement or an unfinished sentence."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.analysis import DOUBT, Analysis
from contrapose.tasks.probes.english.context import before_adverbs
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words
from contrapose.tasks.probes.negation.coordination import with_coordinated
from contrapose.tasks.probes.negation.place import after_auxiliary, with_do
from contrapose.tasks.probes.negation.quantifier import at_quantifier, require_plain_scope
from contrapose.tasks.probes.negation.result import Plan, SkipError

_MOTION = words("goes go went comes come came")
_DAYS = words("today tomorrow yesterday tonight")
_DESCRIBES = f.ADV | f.ADJ | f.PART
_HEADS = f.NOUN | f.SUBJ | f.QUANT
_NUMERALS = words("one two three four five six seven eight nine ten")


def negate_statement(a: Analysis) -> Plan:
    """The plan that reverses a statement at its finite verb, or at the quantifier of its subject.

    Raises:
        SkipError: no sound plan.
    """
    s, _, _, subject, (_, verb, lexical, others, margin) = a
    if _is_inverted(s, subject, verb):
        raise SkipError("ambiguous_verb")
    require_plain_scope(s, subject, verb)
    plan = at_quantifier(s, subject, verb)
    if plan is None:
        plan = (with_do if lexical else after_auxiliary)(s, verb, subject)
        plan = with_coordinated(a, plan) if others else plan
    elif others:
        raise SkipError("coordinated_clauses")
    counted = s.words[subject] in _NUMERALS and s.word(subject + 1) != "of"
    return plan._replace(confidence="medium") if counted or others or margin < DOUBT else plan


def _is_inverted(s: Sentence, subject: int, verb: int) -> bool:
    """Whether the subject stands behind its verb: "…", said the man; "Here comes the bus."."""
    if s.tags[verb] & f.CLITIC:
        return False
    if s.tags[subject] & f.QUOTED and s.tags[verb] & f.EMBED:
        return True
    if s.words[subject] in ("such", "so") or (s.words[subject] == "there" and s.words[verb] in _MOTION):
        return True
    if before_adverbs(s, verb, subject) < subject or _describes(s, subject, verb):
        return not s.tags[subject] & f.QUANT
    return bool(s.tags[subject] & f.PREP) and "," not in s.words[subject:verb] and _only_phrases(s, subject, verb)


def _describes(s: Sentence, start: int, verb: int) -> bool:
    """Whether a predicate stands before the verb: "Attached is …", "Equally important are …"."""
    if not s.tags[start] & _DESCRIBES or s.words[start] in _DAYS:
        return False
    if not all(tag & _DESCRIBES for tag in s.tags[start:verb]) or s.tags[verb - 1] & f.NOUN:
        return False
    return verb > start + 1 or not s.tags[start] & _HEADS


def _only_phrases(s: Sentence, start: int, verb: int) -> bool:
    """Whether prepositional phrases alone stand before the verb, and its subject behind it."""
    governed = all(s.tags[k - 1] & (f.PREP | f.DET) for k in range(start + 1, verb) if s.tags[k] & f.NP_START)
    return governed and bool(s.tag(verb + 1) & (f.DET | f.QUANT)) and not s.tags[verb] & (f.HAVE | f.MODAL | f.DO)

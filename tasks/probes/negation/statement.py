"""Negates a statement, an unfinished sentence, or a plain order."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.later import require_single
from contrapose.tasks.probes.negation.lexical import before_adverbs, is_finite_aux, reading
from contrapose.tasks.probes.negation.mainverb import find_main
from contrapose.tasks.probes.negation.place import after_auxiliary, with_do
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import Edit, Plan, SkipError
from contrapose.tasks.probes.negation.words import words

_UNIVERSAL = words("all every everyone everybody everything many")
_EXISTENTIAL = {"someone": "no one", "somebody": "nobody", "something": "nothing"}
_OTHER = words(
    """
    each both most several few half either enough more less fewer any anyone anybody anything only
    almost nearly exactly mostly roughly
    """
)
_FREQUENCY = words("usually often sometimes generally typically always frequently occasionally normally rarely")
_EXCEPT = words("except excluding apart outside but")
_WHENS = words(
    """
    day days night year time week month morning evening afternoon summer winter second along around
    over at in
    """
)
_NUMERALS = words("one two three four five six seven eight nine ten")


def negate_statement(s: Sentence, start: int) -> Plan:
    """The plan that reverses the statement whose main clause starts at `start`.

    Raises:
        SkipError: no sound plan.
    """
    if _is_order(s, start):
        return _forbid(s, start)
    main = find_main(s, start)
    require_single(s, main)
    if main.lexical and any(s.tags[i] & t.QUOTED for i in (main.index - 1, main.index - 2) if i >= start):
        raise SkipError("ambiguous_verb")  # "…", said the man: the subject stands behind the verb
    _require_plain_scope(s, start, main.index)
    plan = _quantified(s, start, main.index)
    if plan is None:
        plan = with_do(s, main.index) if main.lexical else after_auxiliary(s, main.index)
    if s.words[start] in _NUMERALS and s.word(start + 1) != "of":
        return Plan(edits=plan.edits, kind=plan.kind, confidence="medium")
    return plan


def _is_order(s: Sentence, start: int) -> bool:
    """Whether the sentence starts with a verb that is no noun, and its object: "Close the door."."""
    tag, after = s.tag(start), s.tag(start + 1)
    if not tag & t.BASE or tag & t.FUNCTION or not s.closed or s.asks or not after & (t.DET | t.OBJ):
        return False
    if s.source(start + 1)[0].isupper():
        return False
    return not any(
        s.tags[i] & (t.COORD | t.BREAK) or is_finite_aux(s, i) or reading(s, i, start + 1) == "yes"
        for i in range(start + 1, len(s.words))
    )


def _forbid(s: Sentence, start: int) -> Plan:
    verb = s.source(start)
    support = "Do" if verb[0].isupper() else "do"
    edit = Edit(s.starts[start], s.ends[start], f"{support} not {verb.lower()}")
    return Plan(edits=(edit,), confidence="medium", kind="rewrite")


def _require_plain_scope(s: Sentence, start: int, main: int) -> None:
    """Refuse subjects and adverbs that would keep a later "not" in their own scope."""
    if s.words[start] in _OTHER | _FREQUENCY or (s.words[start] == "at" and s.word(start + 1) in ("least", "most")):
        raise SkipError("quantifier_only")
    k = before_adverbs(s, main, start)
    between = s.words[k + 1 : main]
    if not s.tags[main] & t.FINITE_FORM and any(word in _FREQUENCY for word in between):
        raise SkipError("quantifier_only")
    if s.tags[start] & t.PREP and any(_quantifies(s, i) for i in range(start + 1, main)):
        raise SkipError("quantifier_only")


def _quantifies(s: Sentence, i: int) -> bool:
    free = not s.tags[i - 1] & (t.PREP | t.DET)
    return free and s.words[i] in _UNIVERSAL | _OTHER | {"some"} | _EXISTENTIAL.keys()


def _quantified(s: Sentence, start: int, main: int) -> Plan | None:
    """Negation at the subject's quantifier: "all" → "not all", "some" → "no"; None for other subjects."""
    word = s.words[start]
    if word in _UNIVERSAL:
        return _not_all(s, start)
    if word in _EXISTENTIAL:
        return _replace(s, start, _EXISTENTIAL[word])
    if word == "some":
        if s.word(start + 1)[:1].isdigit():
            raise SkipError("quantifier_only")
        alone = s.word(start + 1) == "of" or before_adverbs(s, main, start) == start
        return _replace(s, start, "none" if alone else "no")
    return None


def _not_all(s: Sentence, start: int) -> Plan:
    if s.word(start + 1) in _WHENS or any(word in _EXCEPT for word in s.words[start:]):
        raise SkipError("quantifier_only")
    first = s.source(start)[0]
    cue = "Not " if first.isupper() else "not "
    return Plan(edits=(Edit(s.starts[start], s.starts[start] + 1, cue + first.lower()),), kind="rewrite")


def _replace(s: Sentence, at: int, new: str) -> Plan:
    if s.source(at)[0].isupper():
        new = new[0].upper() + new[1:]
    return Plan(edits=(Edit(s.starts[at], s.ends[at], new),), kind="rewrite")

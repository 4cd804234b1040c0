"""Under a new "not", "some" becomes "any"."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.edits import Edit
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.negation.result import Confidence, Kind, Plan, SkipError

_ANY = {
    "some": "any",
    "someone": "anyone",
    "somebody": "anybody",
    "something": "anything",
    "somewhere": "anywhere",
}
_SOME = frozenset(_ANY)
_STOP = f.BREAK | f.OPENER | f.LOOSE | f.COORD | f.QUOTED


def with_any(s: Sentence, i: int, edits: tuple[Edit, ...], confidence: Confidence, kind: Kind = "insert") -> Plan:
    """The plan that also changes "some" behind word `i`, up to the next clause or coordination.

    Raises:
        SkipError: several of them follow, which one "not" would not reverse plainly.
    """
    if _SOME.isdisjoint(s.words[i + 1 :]):
        return Plan(edits, (), confidence, kind)
    if sum(word in _SOME for word in s.words[i + 1 :]) > 1:
        raise SkipError("quantifier_only")
    for k in range(i + 1, len(s.words)):
        if s.tags[k] & _STOP and s.words[k] != "like":
            break
        if s.words[k] in _ANY and not s.word(k + 1)[:1].isdigit():
            any_form = Edit(s.starts[k], s.ends[k], s.cased(_ANY[s.words[k]]))
            return Plan(edits=(*edits, any_form), confidence=confidence, kind="rewrite")
    return Plan(edits, (), confidence, kind)

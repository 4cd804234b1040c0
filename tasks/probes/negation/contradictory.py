"""What denies possibility and necessity as a whole: "may" → "cannot", "must" → "need not"."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.analysis import Analysis
from contrapose.tasks.probes.english.context import is_finite_aux
from contrapose.tasks.probes.english.edits import Edit
from contrapose.tasks.probes.negation.result import Plan, SkipError

_DENIED = {"may": "can", "might": "could", "must": "need"}
"""What takes their place before a "not". "May not" leaves "may" true, and "must not" forbids what need not be."""


def contradictory(a: Analysis, plan: Plan) -> Plan:
    """The plan with another auxiliary where the "not" stands beside "may", "might" or "must".

    Raises:
        SkipError: the "not" stands apart from a "must" of a question, and English has no plain form for it.
    """
    s = a.sentence
    i = _auxiliary(a)
    if i < 0 or s.words[i] not in _DENIED:
        return plan
    if a.kind == "polar":
        cue = s.cased(f"{s.words[i]} not ")
        new = s.cased("cannot " if s.words[i] == "may" else f"{_DENIED[s.words[i]]} not ")
        edits = tuple(edit._replace(new=new) if edit.new == cue else edit for edit in plan.edits)
        return plan._replace(edits=edits, confidence="medium", kind="rewrite")
    beside = next((edit for edit in plan.edits if edit.start == edit.end == s.ends[i]), None)
    if beside is None and all(edit.start < s.starts[i] for edit in plan.edits):
        return plan  # "No berries may be eaten.": the subject's quantifier denies it
    if beside is None and s.words[i] == "must":
        raise SkipError("modal_scope")
    new = s.cased_as(i, _DENIED[s.words[i]])
    if beside is None:
        changed = (Edit(s.starts[i], s.ends[i], new), *plan.edits)
    else:
        cue = beside.new.strip() if s.words[i] == "may" else beside.new
        changed = (Edit(s.starts[i], s.ends[i], new + cue), *(edit for edit in plan.edits if edit is not beside))
    return plan._replace(edits=changed, confidence="medium", kind="rewrite")


def _auxiliary(a: Analysis) -> int:
    """Index of the auxiliary that the "not" belongs to; -1 when there is none."""
    s = a.sentence
    if a.kind == "statement":
        return a.clause.verb if s.tag(a.clause.verb) & f.MODAL else -1
    return next((i for i in range(a.start, len(s.words)) if is_finite_aux(s, i)), -1)

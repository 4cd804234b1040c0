"""One "not" over coordinated predicates: "The cat yawned and stretched." → "The cat did not yawn and stretch."."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.analysis import Analysis
from contrapose.tasks.probes.english.context import before_adverbs
from contrapose.tasks.probes.english.edits import Edit
from contrapose.tasks.probes.negation.place import base_and_support
from contrapose.tasks.probes.negation.result import Plan


def with_coordinated(a: Analysis, plan: Plan) -> Plan:
    """The plan, with further predicates of the same subject put under the same "do".

    A further clause with a subject of its own, an auxiliary or another tense stays as it is: the sentence as a whole is
    denied all the same.
    """
    s, clause = a.sentence, a.clause
    shared = [i for i in clause.others if s.tags[before_adverbs(s, i, clause.verb)] & (f.COORD | f.BREAK)]
    if not shared or len(shared) < len(clause.others) or not clause.lexical:
        return plan
    _, support = base_and_support(s, clause.verb, a.subject)
    edits = []
    for i in shared:
        if s.tags[i] & f.AUX:
            return plan
        base, other = base_and_support(s, i, a.subject)
        if other != support:
            return plan
        edits.append(Edit(s.starts[i], s.ends[i], s.cased(base)))
    return Plan(edits=(*plan.edits, *edits), confidence="medium", kind="rewrite")

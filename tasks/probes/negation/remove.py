"""Takes an existing negation out of the main clause: "does not eat" → "eats", "isn't" → "is"."""

from __future__ import annotations

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs
from contrapose.tasks.language.reading import Sentence
from contrapose.tasks.language.sentence import Edit
from contrapose.tasks.probes.negation.place import SOME
from contrapose.tasks.probes.negation.polar import finite_form
from contrapose.tasks.probes.negation.result import EditPlan, SkipError

_SUBJECTS = {"no": "some", "nobody": "somebody", "nothing": "something", "none": "some", "noone": "someone"}
_UNIVERSAL = words("all every everyone everybody everything many")


def remove_negation(a: Analysis) -> EditPlan:
    """The plan that removes the one negation of the main clause.

    Raises:
        SkipError: there are several, or it stands elsewhere.
    """
    s = a.sentence
    cues = [i for i, tag in enumerate(s.tags) if tag & f.NEG]
    if len(cues) != 1 or any(tag & f.SEMI for tag in s.tags) or a.clause.others:
        raise SkipError("existing_negation")
    cue = cues[0]
    if s.words[cue] == "no" and s.word(cue + 1) == "longer":
        raise SkipError("existing_negation")
    if a.kind == "order" and s.words[a.start] in ("let's", "let") and s.words[cue] == "not":
        return _plan(s, cue, _without(s, cue))
    if s.words[a.start] in ("don't", "do") and not s.asks and cue <= a.start + 1:
        return _order(s, a.start, cue)
    if a.kind == "wh":
        return _in_question(s, a.start, cue)
    if a.kind != "statement":
        raise SkipError("existing_negation")
    if cue == a.subject:
        return _at_subject(s, cue)
    verb = a.clause.verb
    if not s.tags[verb] & f.AUX or cue not in (verb, after_adverbs(s, verb)):
        raise SkipError("existing_negation")
    return _from_auxiliary(s, verb, cue)


def remove_never(a: Analysis) -> EditPlan:
    """The plan that takes "never" out: "She never drinks." → "She drinks."."""
    s = a.sentence
    cues = [i for i, tag in enumerate(s.tags) if tag & (f.NEG | f.SEMI)]
    if len(cues) != 1 or s.words[cues[0]] != "never" or a.kind != "statement" or a.clause.others:
        raise SkipError("semi_negative")
    cue = cues[0]
    if not a.subject < cue or abs(cue - a.clause.verb) > 1:
        raise SkipError("semi_negative")
    return _plan(s, cue, _without(s, cue))


def _at_subject(s: Sentence, cue: int) -> EditPlan:
    """Undo a negation that opens the clause: "Not all X" → "All X", "No X" → "Some X"."""
    word = s.words[cue]
    if word == "not" and s.word(cue + 1) in _UNIVERSAL:
        return _plan(s, cue, Edit(s.starts[cue], s.ends[cue + 1], s.cased_as(cue, s.word(cue + 1))))
    if word not in _SUBJECTS or (word == "none" and s.word(cue + 1) != "of"):
        raise SkipError("existing_negation")
    if word == "no" and s.word(cue + 1) == "one":
        return _plan(s, cue, Edit(s.starts[cue], s.ends[cue + 1], s.cased_as(cue, "someone")))
    return _plan(s, cue, Edit(s.starts[cue], s.ends[cue], s.cased_as(cue, _SUBJECTS[word])))


def _in_question(s: Sentence, start: int, cue: int) -> EditPlan:
    """Take a "not" out of a question: behind its auxiliary, in it, or low before its verb."""
    if any(tag & (f.OPENER | f.LOOSE) and not tag & (f.AUX | f.WH) for tag in s.tags[start + 1 : cue]):
        raise SkipError("existing_negation")
    verb = cue - 1 if s.words[cue] == "not" else cue
    if s.tags[verb] & f.AUX:
        return _from_auxiliary(s, verb, cue)
    if not any(tag & f.AUX for tag in s.tags[start:cue]):
        raise SkipError("existing_negation")
    return _plan(s, cue, _without(s, cue))


def _from_auxiliary(s: Sentence, verb: int, cue: int) -> EditPlan:
    if s.tags[verb] & f.DO and cue <= verb + 1:
        return _reinflect(s, verb, cue)
    if verb != cue:
        return _plan(s, cue, _without(s, cue))
    host = "can" if s.words[cue] == "cannot" else closed.NT_HOSTS[s.words[cue]]
    return _plan(s, cue, Edit(s.starts[cue], s.ends[cue], s.cased_as(cue, host)))


def _reinflect(s: Sentence, do: int, cue: int) -> EditPlan:
    support = closed.NT_HOSTS.get(s.words[do], s.words[do])
    verb = after_adverbs(s, cue)
    if not s.tag(verb) & f.BASE and s.word(verb) not in ("have", "do"):
        raise SkipError("existing_negation")
    gone = Edit(s.starts[do], s.starts[cue + 1], "")
    return _plan(s, cue, gone, Edit(s.starts[verb], s.ends[verb], s.cased(finite_form(support, s.words[verb]))))


def _order(s: Sentence, do: int, cue: int) -> EditPlan:
    verb = after_adverbs(s, cue)
    if not s.tag(verb) & f.BASE and s.word(verb) not in ("be", "have", "do"):
        raise SkipError("existing_negation")
    first = cue + 1
    return _plan(s, cue, Edit(s.starts[do], s.ends[first], s.cased_as(do, s.words[first])))


def _without(s: Sentence, cue: int) -> Edit:
    """Take a word out, and the white space before it."""
    return Edit(len(s.text[: s.starts[cue]].rstrip()), s.ends[cue], "")


def _plan(s: Sentence, cue: int, *edits: Edit) -> EditPlan:
    """Out of reach of "not", "any" becomes "some" again."""
    for i in range(cue + 1, len(s.words)):
        if s.tags[i] & (f.BREAK | f.OPENER | f.LOOSE):
            break
        if s.words[i] in SOME:
            edits = (*edits, Edit(s.starts[i], s.ends[i], s.cased(SOME[s.words[i]])))
    return EditPlan(edits=edits, confidence="high", kind="remove")

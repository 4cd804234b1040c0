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
    """Return the plan that removes the one negation of the main clause.

    Raises:
        SkipError: there are several, or it stands elsewhere.
    """
    s, start = a.sentence, a.start
    cues = [i for i, tag in enumerate(s.tags) if tag & f.NEG]
    if len(cues) != 1 or any(tag & f.SEMI for tag in s.tags) or a.clause.others:
        raise SkipError("existing_negation")
    cue = cues[0]
    if s.words[cue] == "no" and s.word(cue + 1) == "longer":
        raise SkipError("existing_negation")
    if a.kind == "order" and s.words[start] in ("let's", "let") and s.words[cue] == "not":
        return _plan(s, cue, _without(s, cue))
    if s.words[start] in ("don't", "do") and not s.asks and cue <= start + 1:
        verb = after_adverbs(s, cue)
        if not s.tag(verb) & f.BASE and s.word(verb) not in ("be", "have", "do"):
            raise SkipError("existing_negation")
        return _plan(s, cue, Edit(s.starts[start], s.ends[cue + 1], s.cased_as(start, s.words[cue + 1])))
    if a.kind == "wh":
        # A "not" of a question stands behind its auxiliary, in it, or low before its verb.
        if any(tag & (f.OPENER | f.LOOSE) and not tag & (f.AUX | f.WH) for tag in s.tags[start + 1 : cue]):
            raise SkipError("existing_negation")
        verb = cue - 1 if s.words[cue] == "not" else cue
        if s.tags[verb] & f.AUX:
            return _from_auxiliary(s, verb, cue)
        if not any(tag & f.AUX for tag in s.tags[start:cue]):
            raise SkipError("existing_negation")
        return _plan(s, cue, _without(s, cue))
    if a.kind != "statement":
        raise SkipError("existing_negation")
    if cue == a.subject:
        return _at_subject(s, cue)
    verb = a.clause.verb
    if not s.tags[verb] & f.AUX or cue not in (verb, after_adverbs(s, verb)):
        raise SkipError("existing_negation")
    return _from_auxiliary(s, verb, cue)


def remove_never(a: Analysis) -> EditPlan:
    """Return the plan that takes "never" out: "She never drinks." → "She drinks."."""
    s = a.sentence
    cues = [i for i, tag in enumerate(s.tags) if tag & (f.NEG | f.SEMI)]
    if len(cues) != 1 or s.words[cues[0]] != "never" or a.kind != "statement" or a.clause.others:
        raise SkipError("semi_negative")
    if not a.subject < cues[0] or abs(cues[0] - a.clause.verb) > 1:
        raise SkipError("semi_negative")
    return _plan(s, cues[0], _without(s, cues[0]))


def _at_subject(s: Sentence, cue: int) -> EditPlan:
    """Undo a negation that opens the clause: "Not all X" → "All X", "No X" → "Some X"."""
    word, last = s.words[cue], cue
    if word == "not" and s.word(cue + 1) in _UNIVERSAL:
        new, last = s.word(cue + 1), cue + 1
    elif word not in _SUBJECTS or (word == "none" and s.word(cue + 1) != "of"):
        raise SkipError("existing_negation")
    elif word == "no" and s.word(cue + 1) == "one":
        new, last = "someone", cue + 1
    else:
        new = _SUBJECTS[word]
    return _plan(s, cue, Edit(s.starts[cue], s.ends[last], s.cased_as(cue, new)))


def _from_auxiliary(s: Sentence, auxiliary: int, cue: int) -> EditPlan:
    if s.tags[auxiliary] & f.DO and cue <= auxiliary + 1:
        support = closed.NT_HOSTS.get(s.words[auxiliary], s.words[auxiliary])
        verb = after_adverbs(s, cue)
        if not s.tag(verb) & f.BASE and s.word(verb) not in ("have", "do"):
            raise SkipError("existing_negation")
        gone = Edit(s.starts[auxiliary], s.starts[cue + 1], "")
        return _plan(s, cue, gone, Edit(s.starts[verb], s.ends[verb], s.cased(finite_form(support, s.words[verb]))))
    if auxiliary != cue:
        return _plan(s, cue, _without(s, cue))
    host = "can" if s.words[cue] == "cannot" else closed.NT_HOSTS[s.words[cue]]
    return _plan(s, cue, Edit(s.starts[cue], s.ends[cue], s.cased_as(cue, host)))


def _without(s: Sentence, cue: int) -> Edit:
    """Take a word out, and the white space before it."""
    return Edit(len(s.text[: s.starts[cue]].rstrip()), s.ends[cue], "")


def _plan(s: Sentence, cue: int, *edits: Edit) -> EditPlan:
    """Return the plan that also turns "any", out of reach of "not", into "some" again."""
    for i in range(cue + 1, len(s.words)):
        if s.tags[i] & (f.BREAK | f.OPENER | f.LOOSE):
            break
        if s.words[i] in SOME:
            edits = (*edits, Edit(s.starts[i], s.ends[i], s.cased(SOME[s.words[i]])))
    return EditPlan(edits=edits, confidence="high", kind="remove")

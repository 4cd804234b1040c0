"""Negate the main clause of the last sentence by rules; if no rule is safe, return the reason."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import AMBIGUOUS, Analysis, analyse_sentence
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import index_after_adverbs, is_finite_aux
from contrapose.tasks.language.english import is_english
from contrapose.tasks.language.reading import Sentence, UnreadableError, read_sentence
from contrapose.tasks.language.sentence import Edit, apply_edits
from contrapose.tasks.probes.negation.questions import plan_question_negation
from contrapose.tasks.probes.negation.result import EditPlan, ExistingNegation, Negation, SkipError, Style
from contrapose.tasks.probes.negation.reversal import require_predicate_denied, select_asking_clause
from contrapose.tasks.probes.negation.statement import SOME, plan_order_negation, plan_statement_negation
from contrapose.tasks.probes.negation.yes_no_questions import inflect_verb, plan_polar_negation

_SUBJECTS = {"no": "some", "nobody": "somebody", "nothing": "something", "none": "some", "noone": "someone"}
_UNIVERSAL = words("all every everyone everybody everything many")


def plan_negation_removal(a: Analysis) -> EditPlan:
    """Return the edits that remove the only negation of the main clause."""
    s, start = a.sentence, a.start
    cues = [i for i, tag in enumerate(s.tags) if tag & f.NEG]
    if len(cues) != 1 or any(tag & f.SEMI for tag in s.tags) or a.clause.others:
        raise SkipError("existing_negation")
    cue = cues[0]
    if s.words[cue] == "no" and s.word(cue + 1) == "longer":
        raise SkipError("existing_negation")
    if a.kind == "order" and s.words[start] in ("let's", "let") and s.words[cue] == "not":
        return _finish(s, cue, _delete_word(s, cue))
    if s.words[start] in ("don't", "do") and not s.asks and cue <= start + 1:
        verb = index_after_adverbs(s, cue)
        if not s.tag(verb) & f.BASE and s.word(verb) not in ("be", "have", "do"):
            raise SkipError("existing_negation")
        return _finish(s, cue, Edit(s.starts[start], s.ends[cue + 1], s.cased_as(start, s.words[cue + 1])))
    if a.kind == "wh":
        # A "not" of a question stands behind its auxiliary, in it, or low before its verb.
        if any(tag & (f.OPENER | f.LOOSE) and not tag & (f.AUX | f.WH) for tag in s.tags[start + 1 : cue]):
            raise SkipError("existing_negation")
        verb = cue - 1 if s.words[cue] == "not" else cue
        if s.tags[verb] & f.AUX:
            return _plan_auxiliary_removal(s, verb, cue)
        if not any(tag & f.AUX for tag in s.tags[start:cue]):
            raise SkipError("existing_negation")
        return _finish(s, cue, _delete_word(s, cue))
    if a.kind != "statement":
        raise SkipError("existing_negation")
    if cue == a.subject:
        return _plan_subject_removal(s, cue)
    verb = a.clause.verb
    if not s.tags[verb] & f.AUX or cue not in (verb, index_after_adverbs(s, verb)):
        raise SkipError("existing_negation")
    return _plan_auxiliary_removal(s, verb, cue)


def plan_never_removal(a: Analysis) -> EditPlan:
    """Return the edits that remove "never": "She never drinks." → "She drinks."."""
    s = a.sentence
    cues = [i for i, tag in enumerate(s.tags) if tag & (f.NEG | f.SEMI)]
    if len(cues) != 1 or s.words[cues[0]] != "never" or a.kind != "statement" or a.clause.others:
        raise SkipError("semi_negative")
    if not a.subject < cues[0] or abs(cues[0] - a.clause.verb) > 1:
        raise SkipError("semi_negative")
    return _finish(s, cues[0], _delete_word(s, cues[0]))


def _plan_subject_removal(s: Sentence, cue: int) -> EditPlan:
    """Return the edits that remove a negation in the subject: "Not all X" → "All X", "No X" → "Some X"."""
    word, last = s.words[cue], cue
    if word == "not" and s.word(cue + 1) in _UNIVERSAL:
        new, last = s.word(cue + 1), cue + 1
    elif word not in _SUBJECTS or (word == "none" and s.word(cue + 1) != "of"):
        raise SkipError("existing_negation")
    elif word == "no" and s.word(cue + 1) == "one":
        new, last = "someone", cue + 1
    else:
        new = _SUBJECTS[word]
    return _finish(s, cue, Edit(s.starts[cue], s.ends[last], s.cased_as(cue, new)))


def _plan_auxiliary_removal(s: Sentence, auxiliary: int, cue: int) -> EditPlan:
    if s.tags[auxiliary] & f.DO and cue <= auxiliary + 1:
        support = closed.NT_HOSTS.get(s.words[auxiliary], s.words[auxiliary])
        verb = index_after_adverbs(s, cue)
        if not s.tag(verb) & f.BASE and s.word(verb) not in ("have", "do"):
            raise SkipError("existing_negation")
        gone = Edit(s.starts[auxiliary], s.starts[cue + 1], "")
        return _finish(s, cue, gone, Edit(s.starts[verb], s.ends[verb], s.cased(inflect_verb(support, s.words[verb]))))
    if auxiliary != cue:
        return _finish(s, cue, _delete_word(s, cue))
    host = "can" if s.words[cue] == "cannot" else closed.NT_HOSTS[s.words[cue]]
    return _finish(s, cue, Edit(s.starts[cue], s.ends[cue], s.cased_as(cue, host)))


def _delete_word(s: Sentence, cue: int) -> Edit:
    """Return the edit that deletes a word and the space before it."""
    return Edit(len(s.text[: s.starts[cue]].rstrip()), s.ends[cue], "")


def _finish(s: Sentence, cue: int, *edits: Edit) -> EditPlan:
    """Return the edits of a removal, which also turn "any" into "some" again."""
    for i in range(cue + 1, len(s.words)):
        if s.tags[i] & (f.BREAK | f.OPENER | f.LOOSE):
            break
        if s.words[i] in SOME:
            edits = (*edits, Edit(s.starts[i], s.ends[i], s.cased(SOME[s.words[i]])))
    return EditPlan(edits=edits, confidence="high", kind="remove")


_MOST_SURE = 20
"""Number of words above which a negation is only of medium confidence."""
_BEFORE_LITTLE = words("very so too is has have had was does do did with")
_COUNTED = words("a the these those next last first quite past every")
_FORMULAS = words("thank thanks welcome")


def negate(
    text: str,
    *,
    style: Style = "rules",
    existing_negation: ExistingNegation = "skip",
    rewrite_polar: bool = True,
    options: Sequence[str] = (),
) -> Negation:
    """Negate the main clause of the last sentence; every other character stays as it is.

    `langtest` replaces literally, as LangTest does, and looks at no options. With `options` the negation must reverse
    which of them are right, and what may not is skipped. `rewrite_polar` makes a yes/no question a true-or-false
    statement, in `original` too.
    """
    if style == "langtest":
        return negate_as_langtest(text)
    try:
        if not is_english(text):
            raise SkipError("not_english")
        plan = _plan_edits(text, existing_negation, rewrite_polar, options)
    except UnreadableError as skip:
        reason = "no_finite_verb" if skip.reason == "no_word" else skip.reason
        return Negation(text=None, reason=reason, confidence=None, original=text, kind=None)
    return Negation(
        text=apply_edits(text, plan.edits),
        reason=None,
        confidence=plan.confidence,
        original=apply_edits(text, plan.original_edits) if plan.original_edits else text,
        kind=plan.kind,
    )


def _plan_edits(text: str, existing: ExistingNegation, rewrite_polar: bool, options: Sequence[str]) -> EditPlan:
    if len(text.split(None, 1)) < 2:
        raise SkipError("no_finite_verb" if any(map(str.isalnum, text)) else "empty")
    s = read_sentence(text)
    denied = bool(s.union & (f.NEG | f.SEMI)) or any(_is_small_quantity(s, i) for i in range(len(s.words)))
    if denied and existing == "skip":
        raise SkipError("existing_negation" if s.union & f.NEG else "semi_negative")
    a = analyse_sentence(s)
    if options:
        a = select_asking_clause(a, options)
    if denied:
        return plan_negation_removal(a) if s.union & f.NEG else plan_never_removal(a)
    start = a.start
    if a.kind == "fragment":
        raise SkipError("no_finite_verb")
    if a.kind == "wh":
        plan = plan_question_negation(s, start)
    elif a.kind == "polar":
        plan = plan_polar_negation(s, start, rewrite=rewrite_polar)
    else:
        if s.words[start] in _FORMULAS or (s.words[start] == "long" and s.word(start + 1) == "live"):
            raise SkipError("no_finite_verb")
        # "The more …, the better …": no single "not" reverses it.
        compared = s.word(start + 1) in ("more", "less") or (
            s.word(start + 1).endswith("er") and s.tag(start + 1) & (f.ADJ | f.ADV)
        )
        correlates = s.words[start] == "the" and compared and s.tag(start + 2) & f.NP_START
        if a.clause.margin < AMBIGUOUS or correlates:
            raise SkipError("ambiguous_verb")
        plan = plan_order_negation(a) if a.kind == "order" else plan_statement_negation(a)
    if len(s.words) > _MOST_SURE:
        plan = plan._replace(confidence="medium")
    return replace_modal(a, require_predicate_denied(a, plan)) if options else plan


def _is_small_quantity(s: Sentence, i: int) -> bool:
    """Return whether "few" or "little" means "hardly any", or a similar word is negative."""
    word = s.words[i]
    if word == "few":
        return s.word(i - 1) not in _COUNTED
    if word == "yet":
        return s.word(i + 1) == "to"
    if word == "either":
        return "or" in s.words[i:]
    return word == "little" and ((i == 0 and bool(s.tag(1) & f.AUX)) or s.word(i - 1) in _BEFORE_LITTLE)


def negate_as_langtest(text: str) -> Negation:
    """Put "not" after the first is, was, are and were, each unless the text has its negated form already."""
    changed = text
    for keyword in (" is ", " was ", " are ", " were "):
        negated = f"{keyword}not "
        if keyword in changed and negated not in changed:
            changed = changed.replace(keyword, negated, 1)
    if changed == text:
        return Negation(text=None, reason="langtest_no_change", confidence=None, original=text, kind=None)
    return Negation(text=changed, reason=None, confidence="medium", original=text, kind="insert")


_DENIED = {"may": "can", "might": "could", "must": "need"}
"""What takes their place before a "not". "May not" leaves "may" true, and "must not" forbids what need not be."""


def replace_modal(a: Analysis, plan: EditPlan) -> EditPlan:
    """Return the edits with another auxiliary if "not" is next to "may", "might" or "must"."""
    s = a.sentence
    if a.kind == "statement":
        i = a.clause.verb if s.tag(a.clause.verb) & f.MODAL else -1
    else:
        i = next((i for i in range(a.start, len(s.words)) if is_finite_aux(s, i)), -1)
    if i < 0 or s.words[i] not in _DENIED:
        return plan
    modal = s.words[i]
    if a.kind == "polar":
        cue = s.cased(f"{modal} not ")
        new = s.cased("cannot " if modal == "may" else f"{_DENIED[modal]} not ")
        edits = tuple(edit._replace(new=new) if edit.new == cue else edit for edit in plan.edits)
        return plan._replace(edits=edits, confidence="medium", kind="rewrite")
    beside = next((edit for edit in plan.edits if edit.start == edit.end == s.ends[i]), None)
    if beside is None and all(edit.start < s.starts[i] for edit in plan.edits):
        return plan  # "No berries may be eaten.": the subject's quantifier denies it
    if beside is None and modal == "must":
        raise SkipError("modal_scope")
    new, others = s.cased_as(i, _DENIED[modal]), tuple(edit for edit in plan.edits if edit is not beside)
    if beside is not None:
        new += beside.new.strip() if modal == "may" else beside.new
    edits = (Edit(s.starts[i], s.ends[i], new), *others)
    return plan._replace(edits=edits, confidence="medium", kind="rewrite")

"""Negates a text by rules: one negation, in the main clause of the last sentence, or a reason why not."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import AMBIGUOUS, Analysis, analyse_sentence
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import is_finite_aux
from contrapose.tasks.language.english import is_english
from contrapose.tasks.language.reading import Sentence, UnreadableError, read
from contrapose.tasks.language.sentence import Edit, apply
from contrapose.tasks.probes.negation.polar import negate_polar
from contrapose.tasks.probes.negation.questions import negate_question
from contrapose.tasks.probes.negation.remove import remove_negation, remove_never
from contrapose.tasks.probes.negation.result import EditPlan, ExistingNegation, Negation, SkipError, SkipReason, Style
from contrapose.tasks.probes.negation.reversal import at_asking_clause, require_predicate_denied
from contrapose.tasks.probes.negation.statement import negate_order, negate_statement

_MOST_SURE = 20
"""Words of a sentence beyond which too much may stand around its verb."""
_BEFORE_LITTLE = words("very so too is has have had was does do did with")
_COUNTED = words("a the these those next last first quite past every")
_FORMULAS = words("thank thanks welcome")
_UNREADABLE: dict[str, SkipReason] = {
    "empty": "empty",
    "no_word": "no_finite_verb",
    "options_in_text": "options_in_text",
    "unbalanced_quotes": "unbalanced_quotes",
}


def negate(
    text: str,
    *,
    style: Style = "rules",
    existing_negation: ExistingNegation = "skip",
    rewrite_polar: bool = True,
    options: Sequence[str] = (),
) -> Negation:
    """Reverse the main clause of the last sentence, leaving every other character as it is.

    Args:
        text: a statement, a question or an unfinished sentence.
        style: `rules`, or `langtest` for LangTest's literal replacement.
        existing_negation: what to do with a text that is negated already.
        rewrite_polar: whether a yes/no question becomes a true-or-false statement, in `original` too.
        options: the answers offered with the text, where there are any: the negation must then reverse which of them
            are right, and what may not is skipped. `langtest` does not look at them.
    """
    if style == "langtest":
        return negate_as_langtest(text)
    try:
        if not is_english(text):
            raise SkipError("not_english")
        plan = _plan(text, existing_negation, rewrite_polar, options)
    except SkipError as skip:
        return Negation(text=None, reason=skip.reason, confidence=None, original=text, kind=None)
    return Negation(
        text=apply(text, plan.edits),
        reason=None,
        confidence=plan.confidence,
        original=apply(text, plan.original_edits) if plan.original_edits else text,
        kind=plan.kind,
    )


def _plan(text: str, existing: ExistingNegation, rewrite_polar: bool, options: Sequence[str]) -> EditPlan:
    if len(text.split(None, 1)) < 2:
        raise SkipError("no_finite_verb" if any(map(str.isalnum, text)) else "empty")
    try:
        s = read(text)
    except UnreadableError as error:
        raise SkipError(_UNREADABLE[error.reason]) from None
    denied = bool(s.union & (f.NEG | f.SEMI)) or any(_is_small_quantity(s, i) for i in range(len(s.words)))
    if denied and existing == "skip":
        raise SkipError("existing_negation" if s.union & f.NEG else "semi_negative")
    a = analyse_sentence(s)
    if options:
        a = at_asking_clause(a, options)
    if denied:
        return remove_negation(a) if s.union & f.NEG else remove_never(a)
    start = a.start
    if a.kind == "fragment":
        raise SkipError("no_finite_verb")
    if a.kind == "wh":
        plan = negate_question(s, start)
    elif a.kind == "polar":
        plan = negate_polar(s, start, rewrite=rewrite_polar)
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
        plan = negate_order(a) if a.kind == "order" else negate_statement(a)
    if len(s.words) > _MOST_SURE:
        plan = plan._replace(confidence="medium")
    return deny_modal(a, require_predicate_denied(a, plan)) if options else plan


def _is_small_quantity(s: Sentence, i: int) -> bool:
    """Return whether "few" or "little" says that there is hardly any."""
    word = s.words[i]
    if word == "few":
        return s.word(i - 1) not in _COUNTED
    if word == "yet":
        return s.word(i + 1) == "to"
    if word == "either":
        return "or" in s.words[i:]
    return word == "little" and ((i == 0 and bool(s.tag(1) & f.AUX)) or s.word(i - 1) in _BEFORE_LITTLE)


def negate_as_langtest(text: str) -> Negation:
    """Put "not" behind the first of each keyword whose negated form is nowhere in the text."""
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


def deny_modal(a: Analysis, plan: EditPlan) -> EditPlan:
    """Return the plan with another auxiliary where the "not" stands next to "may", "might" or "must".

    Raises:
        SkipError: the "not" is separate from a "must" of a question, and English has no plain form for it.
    """
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

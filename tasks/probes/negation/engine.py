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
from contrapose.tasks.probes.negation.reversal import asked, require_predicate_denied
from contrapose.tasks.probes.negation.statement import negate_order, negate_statement

_MOST_SURE = 20
"""Words of a sentence beyond which too much may stand around its verb."""
_BEFORE_LITTLE = words("very so too is has have had was does do did with")
_COUNTED = words("a the these those next last first quite past every")
_FORMULAS = words("thank thanks welcome")
_DENIALS = f.NEG | f.SEMI | f.SMALL
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
        sentence = read(text)
    except UnreadableError as error:
        raise SkipError(_UNREADABLE[error.reason]) from None
    denied = bool(sentence.union & _DENIALS) and _denies(sentence)
    if denied and existing == "skip":
        raise SkipError("existing_negation" if sentence.union & f.NEG else "semi_negative")
    analysis = analyse_sentence(sentence)
    if options:
        analysis = asked(analysis, options)
    if denied:
        return remove_negation(analysis) if sentence.union & f.NEG else remove_never(analysis)
    plan = _dispatch(analysis, rewrite_polar=rewrite_polar)
    if len(sentence.words) > _MOST_SURE:
        plan = plan._replace(confidence="medium")
    return contradictory(analysis, require_predicate_denied(analysis, plan)) if options else plan


def _denies(s: Sentence) -> bool:
    """Whether a negation is there already, or a word that comes close to one."""
    return bool(s.union & (f.NEG | f.SEMI)) or any(_is_small_quantity(s, i, word) for i, word in enumerate(s.words))


def _is_small_quantity(s: Sentence, i: int, word: str) -> bool:
    """Whether "few" or "little" says that there is hardly any."""
    if word == "few":
        return s.word(i - 1) not in _COUNTED
    if word == "yet":
        return s.word(i + 1) == "to"
    if word == "either":
        return "or" in s.words[i:]
    if word == "little" and i == 0 and s.tag(1) & f.AUX:
        return True
    return word == "little" and s.word(i - 1) in _BEFORE_LITTLE


def _dispatch(a: Analysis, *, rewrite_polar: bool) -> EditPlan:
    s, kind, start, _, clause = a
    if kind == "fragment":
        raise SkipError("no_finite_verb")
    if kind == "wh":
        return negate_question(s, start)
    if kind == "polar":
        return negate_polar(s, start, rewrite=rewrite_polar)
    if s.words[start] in _FORMULAS or (s.words[start] == "long" and s.word(start + 1) == "live"):
        raise SkipError("no_finite_verb")
    if clause.margin < AMBIGUOUS or (s.words[start] == "the" and _correlates(s, start)):
        raise SkipError("ambiguous_verb")
    return negate_order(a) if kind == "order" else negate_statement(a)


def _correlates(s: Sentence, i: int) -> bool:
    """Whether it reads "The more …, the better …": no single "not" reverses it."""
    compared = s.word(i + 1) in ("more", "less") or (s.word(i + 1).endswith("er") and s.tag(i + 1) & (f.ADJ | f.ADV))
    return bool(compared) and bool(s.tag(i + 2) & f.NP_START)


_KEYWORDS = (" is ", " was ", " are ", " were ")


def negate_as_langtest(text: str) -> Negation:
    """Put "not" behind the first of each keyword whose negated form is nowhere in the text."""
    changed = text
    for keyword in _KEYWORDS:
        negated = f"{keyword}not "
        if keyword in changed and negated not in changed:
            changed = changed.replace(keyword, negated, 1)
    if changed == text:
        return Negation(text=None, reason="langtest_no_change", confidence=None, original=text, kind=None)
    return Negation(text=changed, reason=None, confidence="medium", original=text, kind="insert")


_DENIED = {"may": "can", "might": "could", "must": "need"}
"""What takes their place before a "not". "May not" leaves "may" true, and "must not" forbids what need not be."""


def contradictory(a: Analysis, plan: EditPlan) -> EditPlan:
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

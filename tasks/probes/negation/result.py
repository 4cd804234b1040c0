"""Result types of a negation, and the reasons why a text is skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from contrapose.tasks.language.sentence import Edit, UnreadableError

Style = Literal["rules", "langtest"]
ExistingNegation = Literal["skip", "remove"]
Confidence = Literal["high", "medium"]
Kind = Literal["insert", "rewrite", "remove"]

REASONS_IN_WORDS: Mapping[str, str] = {
    "existing_negation": "negated already",
    "semi_negative": "nearly negated already, by a word such as 'hardly', 'never' or 'few'",
    "quantifier_only": "with a word that a 'not' does not reverse, as 'only' or 'most'",
    "negative_island_how": "asking how: with a 'not' the question has no sensible answer",
    "polarity_item": "with 'any' or 'ever' in a yes/no question: odd in a statement",
    "instruction": "giving an order: its negation would make every other option right",
    "asked_elsewhere": "with the question or the blank before the last sentence",
    "asks_nothing": "with options, but neither a question nor a blank",
    "several_questions": "asking two things, of which one 'not' reverses one",
    "gap_in_other_clause": "with the blank in another clause than the one to negate",
    "gap_may_be_verb": "with a blank in the place of the verb",
    "why_question": "asking why: with a 'not' the question takes the opposite for granted",
    "quantity_asked": "asking for a share or an amount: a 'not' would ask for the rest",
    "modal_scope": "with a 'must', which a 'not' would turn into a ban",
    "exception": "with 'except' or 'all but'",
    "options_combine": "with an option about other options, such as 'all of the above'",
    "options_not_yes_no": "asking a yes/no question with options other than yes and no",
    "langtest_no_change": "without a verb that LangTest would negate",
}
"""Words for people for the reasons that this test alone has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation:
    """A negated text, or the reason why there is none."""

    text: str | None
    """The negated text; None when it was skipped."""
    reason: str | None
    """Why it was skipped; None when it was not."""
    confidence: Confidence | None
    """How sure the new text is to say the opposite; None when it was skipped."""
    original: str
    """What the original prompt must say: the text, or a yes/no question as a true-or-false statement."""
    kind: Kind | None
    """`insert`: one cue was added to `original`; `rewrite`: other words changed too; `remove`: one went."""


class SkipError(UnreadableError):
    """Raised inside the negation rules if no rule is safe; `negate` catches it."""


class EditPlan(NamedTuple):
    """The edits that negate a text, and the edits that its original prompt needs."""

    edits: tuple[Edit, ...]
    """Edits that give the negated text."""
    original_edits: tuple[Edit, ...] = ()
    """Edits that give the original prompt; empty when it is the text itself."""
    confidence: Confidence = "high"
    """How sure the plan is."""
    kind: Kind = "insert"
    """What the edits do."""


def require_subject_end(index: int | None) -> int:
    """Return the index after an inverted subject; raise SkipError if it is None, because its end is unclear."""
    if index is None:
        raise SkipError("wh_subject_boundary")
    return index

"""Results of negating a text: the new text, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from contrapose.tasks.language.sentence import Edit

Style = Literal["rules", "langtest"]
ExistingNegation = Literal["skip", "remove"]
Confidence = Literal["high", "medium"]
Kind = Literal["insert", "rewrite", "remove"]

SkipReason = Literal[
    "empty",  # no word in the text
    "no_finite_verb",  # a title, a fragment, or a verb that the lexicon lacks
    "not_english",  # another language, in which some words look like English ones
    "ambiguous_verb",  # several readings; a "not" could land in the wrong clause
    "existing_negation",  # a negation is there already, or cannot be removed soundly
    "semi_negative",  # hardly, rarely, never, few …
    "quantifier_only",  # only, each, most, a fronted "usually": a "not" would not reverse it
    "coordinated_clauses",  # two main clauses: reversing one leaves the other
    "wh_subject_boundary",  # an inverted question whose subject's end cannot be told
    "negative_island_how",  # "How many … not …" has no sensible answer
    "alternative_question",  # "Is it A or B?" asks for a choice, not for a truth value
    "polarity_item",  # "any", "ever" in a yes/no question cannot stand in a statement
    "unbalanced_quotes",  # where the quotation ends cannot be told
    "options_in_text",  # the text ends in lettered options
    "instruction",  # with options: "Find …"; who must not find it may choose any of them
    "asked_elsewhere",  # with options: the question or the blank stands before the last sentence
    "asks_nothing",  # with options: a complete statement, and they are no truth values
    "several_questions",  # with options: each answers two questions, of which one "not" reverses one
    "gap_in_other_clause",  # with options: the "not" would stand in another clause than the blank
    "gap_may_be_verb",  # with options: the verb itself may be left out
    "why_question",  # with options: "Why is it not …?" takes the opposite for granted
    "quantity_asked",  # with options: "What share is not …?" asks for the rest
    "modal_scope",  # with options: a "must" whose "not" would forbid
    "exception",  # with options: "all but", "except"
    "options_combine",  # with options: one of them is "all of the above", "I and II" or "True, False"
    "options_not_yes_no",  # a yes/no question whose options are other than yes and no
    "langtest_no_change",  # style "langtest" found nothing to replace
]

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
    reason: SkipReason | None
    """Why it was skipped; None when it was not."""
    confidence: Confidence | None
    """How sure the new text is to say the opposite; None when it was skipped."""
    original: str
    """What the original prompt must say: the text, or a yes/no question as a true-or-false statement."""
    kind: Kind | None
    """`insert`: one cue was added to `original`; `rewrite`: other words changed too; `remove`: one went."""


class SkipError(Exception):
    """Raised inside the engine when a sound negation cannot be made; never leaves it."""

    def __init__(self, reason: SkipReason) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason: SkipReason = reason


class EditPlan(NamedTuple):
    """The edits that negate a text, and those that its original needs."""

    edits: tuple[Edit, ...]
    """Edits that give the negated text."""
    original_edits: tuple[Edit, ...] = ()
    """Edits that give the original prompt; empty when it is the text itself."""
    confidence: Confidence = "high"
    """How sure the plan is."""
    kind: Kind = "insert"
    """What the edits do."""


def behind_subject(index: int | None) -> int:
    """Return the index of the word behind an inverted subject, or refuse where it is unclear."""
    if index is None:
        raise SkipError("wh_subject_boundary")
    return index

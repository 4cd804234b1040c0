"""Decide between A and B by what a reply states, or say why nothing is decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contrapose.tasks.probes.order_bias.reply_predicates import Strength
from contrapose.tasks.probes.order_bias.reply_statements import Statement, statements
from contrapose.tasks.probes.order_bias.reply_text import NOUN, PAIR


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the statements of a reply come to."""

    letter: str | None
    """A, B, or None when they decide nothing."""
    reason: str
    """What decided, or why nothing did."""


_DECIDED = {
    Strength.LABEL: "the reply is labelled {}",
    Strength.PRAISE: "only {} is said to be right",
    Strength.LINE: "{} stands alone",
    Strength.CHOICE: "{} is stated as the choice",
    Strength.CONCLUSION: "{} is concluded",
    Strength.FINAL: "{} is the final answer",
}
_NO_CHOICE = (
    ("neither", re.compile(r"(?i)\b(?:neither|none)\b|\bno summary\b")),
    (
        "refusal",
        re.compile(
            r"(?i)\b(?:cannot|can ?not|can't|unable|impossible|not (?:able|possible|sure|certain)|sorry"
            r"|refuse|as an ai|language model|(?:don't|do not) (?:know|think)|not enough"
            r"|no opinion|insufficient)\b"
        ),
    ),
    (
        "both",
        re.compile(rf"(?i)\b(?:both|either|equally|all of the above)\b|{PAIR}|\bso (?:is|does)\b|\bas is\b"),
    ),
)
_ALSO = re.compile(rf"(?i)\b(?:both|equally|too|as well|also|likewise|same)\b|{PAIR}|\bso (?:is|does)\b|\bas is\b")
_DOUBTS = re.compile(
    r"(?i)\bnot\b|n't\b|\b(?:no|cannot|unable|sorry|in(?:consistent|correct|accurate)|wrong|false|contradict\w*|fails)\b"
)


def weigh(text: str) -> Decision:
    """Let the strongest statements of a canonical reply decide, if they agree."""
    found = list(statements(text))
    chosen = _without_headings([each for each in found if each.strength > Strength.REJECTED])
    if not chosen:
        return _undecided(_why_not(text, found))
    top = max(each.strength for each in chosen)
    last = [each for each in chosen if each.strength == top][-1]
    if _is_contradicted(last, chosen, found):
        return _undecided("both" if top <= Strength.PRAISE else "contradictory")
    if top == Strength.LABEL and not _label_counts(text, last.letter):
        return _undecided(_why_not(text, found))
    if top == Strength.PRAISE and _ALSO.search(text):
        return _undecided("both")
    return Decision(letter=last.letter, reason=_DECIDED[top].format(last.letter))


def _without_headings(chosen: list[Statement]) -> list[Statement]:
    """Leave out letters that only head a passage each ("A. … B. …") when something plainer is said."""
    lines = {each.letter for each in chosen if each.strength == Strength.LINE}
    plain = [each for each in chosen if each.strength != Strength.LINE]
    listed = len(lines) == 2 and any(each.strength > Strength.LINE for each in plain)
    return plain if listed else chosen


def _is_contradicted(last: Statement, chosen: Sequence[Statement], found: Sequence[Statement]) -> bool:
    """Whether the letter is also rejected, or the other one chosen as plainly, or chosen in an afterthought.

    A conclusion overrules what came before it, and only that.
    """
    conclusive = last.strength >= Strength.CONCLUSION
    denied = any(
        each.strength is Strength.REJECTED
        and (each.position >= last.position or not conclusive)
        and (each.letter == last.letter or _declined(each, last))
        for each in found
    )
    rivals = [each for each in chosen if each.letter != last.letter]
    plain = [each for each in rivals if each.strength >= Strength.LINE]
    return (
        denied
        or any(each.strength is last.strength for each in rivals)
        or any(not conclusive or each.position > last.position for each in plain)
    )


def _declined(refusal: Statement, last: Statement) -> bool:
    """Whether a refusal to choose undoes a choice: "I cannot tell, but I'd say A" still makes one."""
    return refusal.letter is None and (last.strength <= Strength.LINE or refusal.position > last.position)


def _label_counts(text: str, letter: str | None) -> bool:
    """Whether "Summary A: …" alone is a choice: nothing in it doubts, and the other letter is not named.

    "Summary B: A council …" names no other letter: there the A is an article.
    """
    other = "B" if letter == "A" else "A"
    named = rf"(?:{NOUN}|\b(?i:and|or|than|but|not|while|whereas)\s+){other}\b|\b{other}\s?(?:[\^:.)]|$)"
    return not _DOUBTS.search(text) and not re.search(rf"{named}|{PAIR}|\?", text)


def _why_not(text: str, found: Sequence[Statement]) -> str:
    if {each.letter for each in found if each.strength == Strength.REJECTED} >= {"A", "B"}:
        return "neither"
    return next((name for name, pattern in _NO_CHOICE if pattern.search(text)), "no choice found")


def _undecided(reason: str) -> Decision:
    return Decision(letter=None, reason=reason)

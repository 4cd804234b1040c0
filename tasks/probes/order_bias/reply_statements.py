"""What a reply states about A and B, clause by clause.

Every pattern is anchored at the start of a clause, so that letters met on the way decide nothing.
The same rules hold for both letters: a reader that favoured one would itself be a position bias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contrapose.tasks.probes.order_bias.reply_predicates import Strength, verdict
from contrapose.tasks.probes.order_bias.reply_text import FINALLY, NOUN, PAIR, Sentence, sentences


@dataclass(frozen=True, slots=True)
class Statement:
    """One letter, chosen or rejected."""

    letter: str | None
    """A or B; None for a refusal to choose."""
    strength: Strength
    """How plainly."""
    position: int
    """Where it stands among the clauses."""


# "Answer: A cat sat" holds an article: a letter ends its clause, is marked (^), or is followed by a reason.
_END = (
    r"(?:(?<=\^)|(?=\s*$|\s*[(:]|\s+(?:because|since|as (?:it|the|this|that)|due to|given|over|rather than"
    r"|instead of|(?:and )?not|for (?:the|this)|based on)\b))"
)
_SUBJECT = rf"(?:{NOUN})?\b([AB])(?![\w'])\^?"
_HEADS = (
    r"\b(?:answer|choice|option|letter|verdict|decision|selection|response|output|result|conclusion|summary|one"
    r"|consistent|correct|best)\b"
)
_SURELY = r"(?:(?:probably|most likely|likely|clearly|definitely|certainly|obviously)\s+)?"
_IS = rf"(?:\s+(?:is|isn't|was|would be|must be|has to be)|'s)\s?:?\s*(?:not\s+)?{_SURELY}"
_ALONE = re.compile(rf"(?P<only>(?i:only)\s+)?{_SUBJECT}")
_STATED = tuple(
    re.compile(pattern + _SUBJECT + _END)
    for pattern in (
        rf"(?i:[^:=]{{0,120}}?{_HEADS}[^:=]{{0,100}}?)(?:\s?[:=]\s*(?:[Tt]he \w+ is\s+)?|{_IS})",
        r"(?i:(?:[^:=]{0,100}?\b)?(?:i(?:'d|'ll|'m|\s+would|\s+will|\s+am|\s+must)?|let's)\s+(?:have to\s+)?"
        r"(?:choose|choosing|pick|select|prefer|say|think|believe"
        r"|go(?:ing)? (?:with|for)|opt for|vote for|answer)\s+)",
        rf"(?i:my vote (?:goes to|is for)\s+|(?:choose|pick|select)\s+|(?:it|that){_IS})",
    )
)
_NOT_BUT = re.compile(rf"\bnot\s+{_SUBJECT},?\s+(?i:but|rather|instead)(?:\s+rather)?\s+{_SUBJECT}{_END}")
_LESS = re.compile(rf"{_SUBJECT}\s+is\s+(?:less|not as)\s+(?:\w+\s+){{1,3}}(?:than|as)\s+{_SUBJECT}{_END}")
_UNDECIDED = re.compile(
    r"(?i)\b(?:if|whether|unless|suppos\w+|assum\w+|could|might|maybe|perhaps|possibl[ey]|either|neither|nor|both|some"
    r"|someone|people|others?|they|nobody|claim\w*|argu\w*|said|says|told|thought|example|pretend|cannot|can't"
    r"|unable|never|no|opposite|options|choices|format|except|but)\b|\b[AB]\b"
)
_DENIED = re.compile(
    r"(?i)\bnot\b|n't\b|\b(?:wrong|incorrect|inconsistent|inaccurate|unsupported|misleading|flawed|false|worse|worst"
    r"|less|least|contradict\w*|disagree\w*|conflict\w*|differ\w*|fail\w*|errors?|mistake\w*|problem|reject\w*)\b"
)
_CONDITION = re.compile(r"(?i)\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|had it|were it)\b")
_DECLINES = re.compile(
    rf"(?i:(?:[^:=]{{0,60}}\b(?:answer|choice)\s*(?:is\b|:)\s*)?(?:both|neither|either|none|{PAIR})\b"
    r"(?:\s+(?:of them|of the above|summaries|summary|one|a|b))*\^?"
    r"(?:$|\s+(?:is|are)\s+(?:\w+ly\s+)?(?:consistent|correct|right|accurate|true|fine|good|wrong|incorrect"
    r"|inconsistent)))"
    r"|(?i:(?:i\s+)?(?:(?:don't|do not)\s+know|(?:cannot|can't|am unable to)\s+"
    r"(?:tell|say|determine|decide|choose|answer)"
    r"|(?:i'm |am )?not sure)|(?:it|that)(?:\s+isn't|(?:\s+is|'s)\s+(?:not|wrong|incorrect))$)"
    rf"|(?i:or|maybe|perhaps|possibly|also)\s+{_SUBJECT}(?=\^?$)"
)
_LEAD_IN = re.compile(
    r"(?i)(?:(?:yes|no|ok|okay|sure|well|hmm+|wait|actually|certainly|in my (?:opinion|view))[,.!:]\s*"
    r"|(?:definitely|probably|clearly|obviously|actually|certainly|and|but|while|whereas|although|though|then"
    r"|(?:i|we)(?: (?:would|can|must))?(?: \w+ly)? (?:think|believe|feel|say|conclude|see|find)(?: that)?"
    r"|(?:it (?:seems|appears)|(?:this|which) means)(?: that)?)(?:,\s*|\s+)){1,3}(?=\S)"
)
_CLAUSES = re.compile(
    rf"[,;]\s+|\s+[-\u2013\u2014]\s+|\s+(?=(?:but|while|whereas|although)\b)|\s+and\s+(?=(?:{NOUN})?\b[AB]\b\^?\s)"
)


def statements(text: str) -> Iterator[Statement]:
    """Everything that a canonical reply states about a letter, in order."""
    for sentence in sentences(text):
        if not sentence.is_question and not _CONDITION.search(sentence.text):
            yield from _in_sentence(sentence)


def _in_sentence(sentence: Sentence) -> Iterator[Statement]:
    if found := _NOT_BUT.search(sentence.text):
        yield Statement(found[2], Strength.CHOICE, sentence.position)
        return
    concluding, alone = False, False
    clauses = _CLAUSES.split(_without_lead_in(sentence.text))
    for position, clause in enumerate((each.strip() for each in clauses), start=sentence.position):
        concluding = concluding or clause.startswith(FINALLY)
        opens = position == sentence.position or concluding or alone
        said = _in_clause(clause.removeprefix(FINALLY).strip(), opens=opens)
        if said:
            # "A, then B": once a letter stood alone, the next one that does contradicts it.
            alone = alone or said[1] is Strength.LINE
            yield Statement(said[0], _raised(said[1], clause, concluding=concluding), position)


def _raised(strength: Strength, clause: str, *, concluding: bool) -> Strength:
    """The strength of a statement inside a conclusion, or after "final answer"."""
    if strength >= Strength.PRAISE and re.search(r"(?i)\bfinal (?:answer|choice|decision|verdict)\b", clause):
        return Strength.FINAL
    return Strength.CONCLUSION if concluding and strength >= Strength.PRAISE else strength


def _in_clause(clause: str, *, opens: bool) -> tuple[str | None, Strength] | None:
    """The letter that a clause is about, and what it says of it."""
    clause = _without_lead_in(clause)
    if _DECLINES.match(clause):
        return None, Strength.REJECTED
    if found := _LESS.match(clause):
        return found[2], Strength.CHOICE
    if found := _ALONE.match(clause):
        return _about(found, clause, opens=opens)
    for pattern in _STATED:
        if found := pattern.match(clause):
            return _screened(found, clause)
    return None


def _without_lead_in(text: str) -> str:
    found = _LEAD_IN.match(text)
    return text[found.end() :] if found else text


def _about(found: re.Match[str], clause: str, *, opens: bool) -> tuple[str, Strength] | None:
    """A clause that begins with the letter: a verdict on it, a label, or the letter alone."""
    letter, rest = found[2], clause[found.end() :]
    judged = verdict(rest.lstrip() if rest.startswith(" ") else rest)
    if judged is not None:
        return letter, Strength.CHOICE if found["only"] and judged is Strength.PRAISE else judged
    if rest.lstrip().startswith(":"):
        return (letter, Strength.LABEL) if rest.strip(" :") else None
    alone = opens and re.match(_END, rest) is not None
    return (letter, Strength.LINE) if alone or (opens and found[0].endswith("^")) else None


def _screened(found: re.Match[str], clause: str) -> tuple[str, Strength] | None:
    """A choice in so many words, unless the words before the letter doubt or deny it."""
    before = clause[: found.start(1)]
    if _UNDECIDED.search(before):
        return None
    return found[1], Strength.REJECTED if _DENIED.search(before) else Strength.CHOICE

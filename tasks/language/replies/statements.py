"""What a reply states about A and B, clause by clause.

Every pattern is anchored at the start of a clause, so that letters met on the way decide nothing.
The same rules hold for both letters: a reader that favoured one would itself be a position bias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import patterns
from contrapose.tasks.language.replies.predicates import Strength, verdict
from contrapose.tasks.language.replies.rewrites import NOUN, VERB, gives_reason, without_asides
from contrapose.tasks.language.replies.text import FINALLY, ReplySentence, sentences

_ROUNDABOUT = (
    (patterns.SUPPORTED, 1, Strength.PRAISE),
    *((pattern, 1, Strength.WRONG) for pattern in (*patterns.BLAMED, patterns.MAKES_WRONG)),
    (patterns.MAKES, 1, Strength.CHOICE),
    (patterns.LESS, 2, Strength.CHOICE),
)
"""Clauses that lead up to the letter, its group, and how plainly they choose it."""

_LETTER = expression(r"\b[AB](?![\w'])")
_THE_ONE_THAT = expression(
    r"(?i)\bthe (?:one|summary|option|version|text|statement) (?:that|which) (?!i\b|we\b|i'd\b)"
    r"(?P<predicate>[^,;]+?)(?: is| was|:)\s*$"
)
"""Who "the one that swaps two names is Summary B" is about, and what it is said to do."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One letter, chosen or rejected."""

    letter: str | None
    """A or B; None for a refusal to choose."""
    strength: Strength
    """How plainly."""
    position: int
    """Where it stands among the clauses."""
    conceded: bool = False
    """Whether it is granted before or after the point that is made: "although Summary A reads well"."""


def statements(text: str) -> Iterator[Statement]:
    """Everything that a canonical reply states about a letter, in order."""
    topic: str | None = None
    discussed, praised = False, False
    for sentence in sentences(text):
        said: list[Statement] = []
        if sentence.stop != "?" and not patterns.CONDITION.search(sentence.text):
            said = [
                statement
                for statement in _in_sentence(sentence)
                if not _is_cut_off(statement, sentence, discussed=discussed)
            ]
            yield from said
        if topic and _LETTER.search(sentence.text) is None:
            yield from _of_topic(topic, sentence, praised=praised)
        topic = _topic(sentence.text)
        praised = any(statement.strength is Strength.PRAISE for statement in said)
        discussed = discussed or (
            topic is not None and all(statement.strength is not Strength.LINE for statement in said)
        )


def _of_topic(topic: str, sentence: ReplySentence, *, praised: bool) -> Iterator[Statement]:
    """What a sentence without a letter says of the one that the sentence before it was about."""
    is_asserted = sentence.stop != "?" and not patterns.CONDITION.search(sentence.text)
    judged = _of_pronoun(sentence.text) if is_asserted else None
    if judged in (Strength.WRONG, Strength.PRAISE):
        yield Statement(topic, judged, sentence.position, conceded=judged is Strength.PRAISE)
    elif praised and patterns.FALLS_SHORT.match(sentence.text):
        yield Statement(topic, Strength.REJECTED, sentence.position)


def _topic(sentence: str) -> str | None:
    """The only letter of a sentence that begins with it, and which "it" in the next one means."""
    named = set(_LETTER.findall(sentence))
    subject = patterns.ALONE.match(_without_lead_in(sentence))
    return subject[2] if subject and len(named) == 1 else None


def _of_pronoun(sentence: str) -> Strength | None:
    """What a sentence that begins with "this" or "it" says of what the one before it was about."""
    pronoun = patterns.PRONOUN.match(_without_lead_in(sentence).removeprefix(FINALLY).strip())
    return verdict(pronoun.string[pronoun.end() :]) if pronoun else None


def _is_cut_off(said: Statement, sentence: ReplySentence, *, discussed: bool) -> bool:
    """Whether a summary is only named before the text ends: "The article says no. Summary B", "While Summary B".

    After a passage about a summary, the name of one on a new line may be where the next passage was cut off.
    """
    if said.strength is not Strength.LINE or sentence.stop:
        return False
    named = (discussed or not sentence.opens_line) and re.match(rf"(?:{FINALLY} )?{NOUN}", sentence.text)
    return bool(named or patterns.CONCEDES.match(sentence.text))


def _in_sentence(sentence: ReplySentence) -> Iterator[Statement]:
    text = without_asides(sentence.text)
    if contrast := patterns.NOT_BUT.search(text):
        yield Statement(contrast[2], Strength.CHOICE, sentence.position)
        return
    concluding, alone = False, False
    last: tuple[str | None, Strength | None] | None = None
    plain = patterns.AT_FIRST.sub("", text)
    granted = _is_granted(plain)
    before = ""
    for position, (clause, after) in enumerate(_clauses(_without_lead_in(plain)), start=sentence.position):
        concluding = concluding or clause.startswith(FINALLY)
        opens = position == sentence.position or concluding or alone
        bare = clause.removeprefix(FINALLY).strip()
        said = None if _names_the_wrong_one(clause, before) else _in_clause(bare, opens=opens)
        before = clause
        if said and not _is_introduced(said, after):
            # "A, then B": once a letter stood alone, the next one that does contradicts it.
            alone = alone or said[1] is Strength.LINE
            last = _rival_at_end(clause, said) or said
            strength = _raised(said[1], clause, concluding=concluding)
            first = position == sentence.position
            yield Statement(said[0], strength, position, (granted and first) or _is_granted(clause))
        elif _LETTER.search(clause):
            last = _told_of(clause)
        elif last and last[0]:
            judged = _taken_up(bare, last[1])
            if judged is not None:
                yield Statement(last[0], judged, position, conceded=True)
            # "B says 120, the article 12, which is right": whatever comes between may be what "which" means.
            last = None if judged is None else (last[0], judged)


def _names_the_wrong_one(clause: str, before: str) -> bool:
    """Whether "and that is Summary B" names the one of which the clause before says nothing good."""
    described = patterns.ONE_THAT.search(before) if patterns.THAT_IS.match(clause) else None
    if described is None or _LETTER.search(before):
        return False
    if patterns.TELLS_IT.match(described["predicate"]):
        return False
    judged = verdict(described["predicate"])
    return judged is None or judged <= Strength.REJECTED


def _rival_at_end(clause: str, said: tuple[str | None, Strength]) -> tuple[str, None] | None:
    """The other letter where it ends the clause, and is what the next one means: "A is better than B, which errs"."""
    ends = re.search(r"\b([AB])\^?$", clause)
    return (ends[1], None) if ends and ends[1] != said[0] else None


def _told_of(clause: str) -> tuple[str | None, Strength | None] | None:
    """The letter that a clause only tells something of, which the next one may judge: "B says 120, which is wrong"."""
    subject = patterns.ALONE.match(_without_lead_in(clause))
    return (subject[2], None) if subject and len(_LETTER.findall(clause)) == 1 else None


def _clauses(text: str) -> list[tuple[str, str]]:
    """Each clause of a sentence, with what follows it."""
    joints = list(patterns.CLAUSES.finditer(text))
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    return [(text[start:end].strip(), text[end : end + 200]) for start, end in zip(starts, ends, strict=True)]


def _is_introduced(said: tuple[str | None, Strength], after: str) -> bool:
    """Whether a letter is only the head of what follows a comma: "Summary B, which says 120", and no choice."""
    if said[1] is not Strength.LINE:
        return False
    if not after.startswith(","):
        return re.match(rf"\s+[-\u2013\u2014]{{1,3}}\s+(?i:{VERB})", after) is not None
    follows = after[1:].strip()
    if re.match(r"(?i)(?:maybe|perhaps|possibly)\W*$", follows):
        return False
    return bool(follows) and patterns.ALONE.match(follows) is None and not gives_reason(follows)


def _is_granted(clause: str) -> bool:
    return re.match(rf"(?:{FINALLY})?\s*(?i:(?:and |even )?(?:although|though|while|despite))\b", clause) is not None


def _taken_up(clause: str, strength: Strength | None) -> Strength | None:
    """What a clause without a letter adds about the one before it: "B says 12, which is wrong"."""
    if strength is Strength.PRAISE and patterns.FALLS_SHORT.match(clause):
        return Strength.REJECTED if patterns.DENIED.search(clause) else None
    pronoun = patterns.PRONOUN.match(clause)
    judged = verdict(clause[pronoun.end() :]) if pronoun else None
    if judged is None or judged > Strength.PRAISE:
        return None
    return judged if strength is None or judged <= Strength.REJECTED else None


def _raised(strength: Strength, clause: str, *, concluding: bool) -> Strength:
    """The strength of a statement inside a conclusion, or after "final answer"."""
    if strength >= Strength.PRAISE and re.search(r"(?i)\bfinal (?:answer|choice|decision|verdict)\b", clause):
        return Strength.FINAL
    return Strength.CONCLUSION if concluding and strength >= Strength.PRAISE else strength


def _in_clause(clause: str, *, opens: bool) -> tuple[str | None, Strength] | None:
    """The letter that a clause is about, and what it says of it."""
    if re.search(r"\b[AB]\b", clause) is None:
        return (None, Strength.REJECTED) if patterns.DECLINES.match(_without_lead_in(clause)) else None
    clause = patterns.CLEFT.sub(r"\1 ", clause)
    if blamed := _roundabout(clause, Strength.WRONG):
        return blamed
    chosen = _stated(re.sub(r"^(?:[Bb]ut|[Aa]nd)\s+", "", clause))
    return chosen or _led_into(_without_lead_in(clause), opens=opens)


def _led_into(clause: str, *, opens: bool) -> tuple[str | None, Strength] | None:
    """What a clause says once "I think that" and the like are taken off."""
    if patterns.DECLINES.match(clause):
        return None, Strength.REJECTED
    if chosen := _roundabout(clause):
        return chosen
    if part := of_part(clause):
        return part
    subject = patterns.ALONE.match(clause)
    return _about(subject, clause, opens=opens) if subject else _stated(clause)


def _roundabout(clause: str, only: Strength | None = None) -> tuple[str, Strength] | None:
    """The letter that a clause leads up to, if it says this of it."""
    # A clause that ends in a part of a summary is of the summary: "refutes B's claim that …".
    clause = _ENDS_IN_PART.sub(lambda part: part["owned"] or part["held"], clause, count=1)
    for pattern, group, strength in _ROUNDABOUT:
        if only in (None, strength) and (match := pattern.match(clause)):
            return match[group], strength
    return None


def _stated(clause: str) -> tuple[str, Strength] | None:
    choice = next(filter(None, (pattern.match(clause) for pattern in patterns.STATED)), None)
    return _screened(choice, clause) if choice else None


def _without_lead_in(text: str) -> str:
    lead_in = patterns.LEAD_IN.match(text)
    return text[lead_in.end() :] if lead_in else text


def _about(subject: re.Match[str], clause: str, *, opens: bool) -> tuple[str, Strength] | None:
    """A clause that begins with the letter: a verdict on it, a label, or the letter alone."""
    letter, rest = subject[2], clause[subject.end() :]
    judged = _judged(rest)
    if judged is Strength.WRONG and patterns.ANSWER.match(subject[0]):
        judged = Strength.REJECTED
    if judged is not None:
        return letter, Strength.CHOICE if subject["only"] and judged is Strength.PRAISE else judged
    reasoned = subject[0] == letter and patterns.REASON.match(rest) and not patterns.DENIED.search(rest)
    labels = rest.lstrip().startswith(":") and not reasoned
    marked = subject[0].endswith("^") and not patterns.DEFINES.match(rest) and not patterns.TELLS.match(rest.lstrip())
    ends = (re.match(patterns.END, rest) and not _is_blamed(rest)) or marked
    return (letter, Strength.LINE) if opens and ends and not labels else None


def _judged(rest: str) -> Strength | None:
    """The verdict that follows a letter, after a colon or a dash or none: "is correct", ": contradicts the article"."""
    labelled = patterns.LABELS.match(rest)
    if labelled is None:
        said = (verdict(part) for part in patterns.AND_VERB.split(rest.strip(), maxsplit=2))
        return next((strength for strength in said if strength is not None), None)
    body = rest[labelled.end() :]
    judged = verdict(body)
    return verdict(f"is {body}") if judged is None else judged


def _is_blamed(rest: str) -> bool:
    """Whether brackets after a letter say what is wrong with it: "B (a different year, which is wrong)"."""
    inside = re.match(r"\s*\(([^()]*)", rest)
    return bool(inside and patterns.DENIED.search(inside[1]) and not re.search(r"\b[AB]\b|the other\b", inside[1]))


def _screened(choice: re.Match[str], clause: str) -> tuple[str, Strength] | None:
    """A choice in so many words, unless the words before the letter doubt or deny it."""
    before = clause[: choice.start(1)]
    if patterns.UNDECIDED.search(before):
        return None
    if described := _THE_ONE_THAT.search(before):
        judged = verdict(described["predicate"])
        if judged is None:
            return None
        return choice[1], judged if judged <= Strength.REJECTED else Strength.CHOICE
    return choice[1], Strength.REJECTED if patterns.DENIED.search(before) else Strength.CHOICE


_FORM = (
    r"(?:style|tone|gramm\w+|spelling|length|wording|phrasing|flow|opposite|format|brevity|language|title|opening"
    r"|(?:critic|opponent|reader|author|writer|error|mistake|flaw|problem)s?)"
)
"""Parts whose being right or wrong says nothing of what the summary tells."""
_PART_LETTER = rf"(?:{NOUN})?\b(?P<letter>[AB])"
_PARTS = tuple(
    expression(pattern)
    for pattern in (
        rf"(?i:the (?!(?:\w+ )?{_FORM}\b)(?:\w+ ){{1,4}}?(?:in|of|by|from)) {_PART_LETTER}(?![\w'])\^?\s",
        rf"(?i:what) {_PART_LETTER}(?![\w'])\^? (?=(?:says|states|claims|reports|tells|writes|asserts)\b)",
        rf"{_PART_LETTER}\^?'s (?!(?:\w+ )?{_FORM}\b)(?=\w)",
    )
)
_KINDS = (
    r"(?:claim|statement|assertion|figure|date|version|account|description|number|suggestion|contention|allegation"
    r"|conclusion|characteri[sz]ation|portrayal|depiction)s?"
)
_ENDS_IN_PART = expression(
    rf"(?:(?P<owned>(?:{NOUN})?\b[AB])\^?'s {_KINDS}|the {_KINDS} (?:made )?(?:in|of"
    rf"|by) (?P<held>(?:{NOUN})?\b[AB])(?![\w'])\^?)"
    r"(?:\s*$| (?:that|of)\b(?:(?!\b(?:is|are|does|contradicts|matches)\b).){0,200}$)"
)
"""Stands at the end of a clause, so that no verb of the part's own follows."""
_VERBS = {
    "is": "is",
    "isn't": "is not",
    "are": "is",
    "aren't": "is not",
    "was": "was",
    "wasn't": "was not",
    "were": "was",
    "does": "does",
    "doesn't": "does not",
    "do": "does",
    "don't": "does not",
    "contradicts": "contradicts",
    "contradict": "contradicts",
    "conflicts": "conflicts",
    "conflict": "conflicts",
    "matches": "matches",
    "match": "matches",
    "agrees": "agrees",
    "agree": "agrees",
    "misrepresents": "misrepresents",
    "reflects": "reflects",
}
"""Verbs of one and of several parts, as they are judged."""
_VERB = expression(rf"\b(?:{'|'.join(sorted(_VERBS, key=len, reverse=True))})(?![\w'])")
_WITH_CLAUSE = expression(r"\b(?:that|which|who|where|when|how|whether)\b")
_SOURCE = expression(r"\bthe (?:article|text|source|passage|original)\b")
_OF_FACTS = expression(
    r"(?:is|does) (?:not )?(?:\w+ly )?(?:false|(?:in|un)\w+|correct|accurate|confirmed|supported|contradicted)\b"
)
_WITHIN = 120
"""Characters between a part and what is said of it: "the claim in Summary B that the mayor resigned"."""


def of_part(clause: str) -> tuple[str, Strength] | None:
    """The letter of the summary whose part a clause begins with, and what is said of the part.

    Where several verbs may be the one that judges, they must judge alike.

    Args:
        clause: of a canonical reply; the time is linear in its length.
    """
    part = next(filter(None, (pattern.match(clause) for pattern in _PARTS)), None)
    if part is None:
        return None
    rest = clause[part.end() :]
    said = {_said(rest, verb) for verb in _VERB.finditer(rest[:_WITHIN])} - {None}
    judged = said.pop() if len(said) == 1 else None
    return (part["letter"], judged) if judged in (Strength.WRONG, Strength.PRAISE) else None


def _said(rest: str, verb: re.Match[str]) -> Strength | None:
    """What follows one verb; behind "that …" it must plainly be said of the part, and not within the clause."""
    judged = verdict(f"{_VERBS[verb[0]]}{rest[verb.end() :]}")
    if judged is None or _WITH_CLAUSE.search(rest[: verb.start()]) is None:
        return judged
    plain = _OF_FACTS.match(rest[verb.start() :]) or _SOURCE.search(rest[verb.end() :])
    return judged if plain else None

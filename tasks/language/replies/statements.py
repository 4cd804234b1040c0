"""Read clause by clause what a reply states about A and B.

Every pattern must match at the start of a clause, so that letters within a clause decide nothing.
The same rules read both letters, because a preference for one letter would itself be a position bias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contrapose.tasks.language.expression import expression, expressions
from contrapose.tasks.language.replies import patterns
from contrapose.tasks.language.replies.predicates import Strength, rate_predicate
from contrapose.tasks.language.replies.rewrites import NOUN, VERB, gives_reason, remove_asides
from contrapose.tasks.language.replies.text import FINALLY, ReplySentence, yield_reply_sentences

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
    position: int
    """Its place among the clauses."""
    conceded: bool = False
    """Whether it is granted before or after the point that is made: "although Summary A reads well"."""


_GRANTED = expression(rf"(?:{FINALLY})?\s*(?i:(?:and |even )?(?:although|though|while|despite))\b")


def yield_statements(text: str) -> Iterator[Statement]:
    """Yield all statements of a normalised reply about a letter, in order."""
    topic: str | None = None
    discussed, praised = False, False
    for sentence in yield_reply_sentences(text):
        asserted = sentence.stop != "?" and not patterns.CONDITION.search(sentence.text)
        # The text may end where it only named a summary: "The article says no. Summary B", "While Summary B". After a
        # passage about a summary, the name of one on a new line may be where the next passage was cut off.
        named = (discussed or not sentence.opens_line) and re.match(rf"(?:{FINALLY} )?{NOUN}", sentence.text)
        cut_off = not sentence.stop and (named or patterns.CONCEDES.match(sentence.text))
        said = list(_read_sentence(sentence)) if asserted else []
        said = [statement for statement in said if not (cut_off and statement.strength is Strength.LINE)]
        yield from said
        letters, core = set(_LETTER.findall(sentence.text)), _remove_lead_in(sentence.text)
        if topic and not letters:
            # "It" or "this" means the letter that the sentence before was about.
            judged = _rate_pronoun_clause(core.removeprefix(FINALLY).strip()) if asserted else None
            if judged in (Strength.WRONG, Strength.PRAISE):
                yield Statement(topic, judged, sentence.position, conceded=judged is Strength.PRAISE)
            elif praised and patterns.FALLS_SHORT.match(sentence.text):
                yield Statement(topic, Strength.REJECTED, sentence.position)
        subject = patterns.ALONE.match(core)
        topic = subject[2] if subject and len(letters) == 1 else None
        praised = any(statement.strength is Strength.PRAISE for statement in said)
        discussed |= topic is not None and all(statement.strength is not Strength.LINE for statement in said)


def _rate_pronoun_clause(clause: str) -> Strength | None:
    """Return how strongly a clause that begins with "this" or "it" chooses or rejects, or None."""
    pronoun = patterns.PRONOUN.match(clause)
    return rate_predicate(clause[pronoun.end() :]) if pronoun else None


def _read_sentence(sentence: ReplySentence) -> Iterator[Statement]:
    """Yield the statements of one sentence, clause by clause."""
    text = remove_asides(sentence.text)
    if contrast := patterns.NOT_BUT.search(text):
        yield Statement(contrast[2], Strength.CHOICE, sentence.position)
        return
    concluding, alone, before = False, False, ""
    last: tuple[str | None, Strength | None] | None = None
    plain = patterns.AT_FIRST.sub("", text)
    granted, core = _GRANTED.match(plain) is not None, _remove_lead_in(plain)
    joints = list(patterns.CLAUSES.finditer(core))
    starts, ends = [0, *(joint.end() for joint in joints)], [*(joint.start() for joint in joints), len(core)]
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        clause, after = core[start:end].strip(), core[end : end + 200]
        concluding = concluding or clause.startswith(FINALLY)
        bare = clause.removeprefix(FINALLY).strip()
        said = None
        if not _names_the_wrong_one(clause, before):
            said = _read_clause(bare, opens=place == 0 or concluding or alone)
        before = clause
        if said and not _is_introduced(said, after):
            letter, strength = said
            # "A, then B": once a letter stood alone, the next one that does contradicts it.
            alone = alone or strength is Strength.LINE
            # The other letter at the end is what the next clause means: "A is better than B, which errs".
            rival = re.search(r"\b([AB])\^?$", clause)
            last = (rival[1], None) if rival and rival[1] != letter else said
            if strength >= Strength.PRAISE and re.search(r"(?i)\bfinal (?:answer|choice|decision|verdict)\b", clause):
                strength = Strength.FINAL
            elif strength >= Strength.PRAISE and concluding:
                strength = Strength.CONCLUSION
            conceded = (granted and place == 0) or _GRANTED.match(clause) is not None
            yield Statement(letter, strength, sentence.position + place, conceded)
        elif _LETTER.search(clause):
            # The next clause may judge the letter of which this one only says something: "B says 120, which is wrong".
            subject = patterns.ALONE.match(_remove_lead_in(clause))
            last = (subject[2], None) if subject and len(_LETTER.findall(clause)) == 1 else None
        elif last and last[0]:
            judged = _rate_previous_clause(bare, last[1])
            if judged is not None:
                yield Statement(last[0], judged, sentence.position + place, conceded=True)
            # "B says 120, the article 12, which is right": whatever comes between may be what "which" means.
            last = None if judged is None else (last[0], judged)


def _names_the_wrong_one(clause: str, before: str) -> bool:
    """Return whether a clause such as "and that is Summary B" names the summary that the clause before criticises."""
    described = patterns.ONE_THAT.search(before) if patterns.THAT_IS.match(clause) else None
    if described is None or _LETTER.search(before) or patterns.TELLS_IT.match(described["predicate"]):
        return False
    judged = rate_predicate(described["predicate"])
    return judged is None or judged <= Strength.REJECTED


def _is_introduced(said: tuple[str | None, Strength], after: str) -> bool:
    """Return whether a letter only introduces a relative clause ("Summary B, which says 120") and is no choice."""
    if said[1] is not Strength.LINE:
        return False
    if not after.startswith(","):
        return re.match(rf"\s+[-\u2013\u2014]{{1,3}}\s+(?i:{VERB})", after) is not None
    follows = after[1:].strip()
    if not follows or re.match(r"(?i)(?:maybe|perhaps|possibly)\W*$", follows):
        return False
    return patterns.ALONE.match(follows) is None and not gives_reason(follows)


def _rate_previous_clause(clause: str, strength: Strength | None) -> Strength | None:
    """Return how a clause without a letter rates the clause before it, as in "B says 12, which is wrong"."""
    if strength is Strength.PRAISE and patterns.FALLS_SHORT.match(clause):
        return Strength.REJECTED if patterns.DENIED.search(clause) else None
    judged = _rate_pronoun_clause(clause)
    if judged is None or judged > Strength.PRAISE:
        return None
    return judged if strength is None or judged <= Strength.REJECTED else None


def _read_clause(clause: str, *, opens: bool) -> tuple[str | None, Strength] | None:
    """Return the letter that a clause is about, and how strongly the clause chooses or rejects it."""
    if re.search(r"\b[AB]\b", clause) is None:
        return (None, Strength.REJECTED) if patterns.DECLINES.match(_remove_lead_in(clause)) else None
    clause = patterns.CLEFT.sub(r"\1 ", clause)
    if plain := _match_roundabout(clause, Strength.WRONG) or _match_stated(_JOINING.sub("", clause)):
        return plain
    # Without "I think that" and the like.
    core = _remove_lead_in(clause)
    if patterns.DECLINES.match(core):
        return None, Strength.REJECTED
    subject = patterns.ALONE.match(core)
    return (
        _match_roundabout(core)
        or rate_summary_part(core)
        or (_match_subject(subject, core, opens=opens) if subject else _match_stated(core))
    )


_JOINING = expression(r"^(?:[Bb]ut|[Aa]nd)\s+")


def _match_roundabout(clause: str, only: Strength | None = None) -> tuple[str, Strength] | None:
    """Return the letter at the end of an indirect clause and its strength, or None."""
    # A clause that ends in a part of a summary is of the summary: "refutes B's claim that …".
    clause = _ENDS_IN_PART.sub(lambda part: part["owned"] or part["held"], clause, count=1)
    for pattern, group, strength in _ROUNDABOUT:
        if only in (None, strength) and (match := pattern.match(clause)):
            return match[group], strength
    return None


def _match_stated(clause: str) -> tuple[str, Strength] | None:
    """Return an explicit choice, unless the words before the letter doubt or deny it."""
    choice = next(filter(None, (pattern.match(clause) for pattern in patterns.STATED)), None)
    before = clause[: choice.start(1)] if choice else ""
    if choice is None or patterns.UNDECIDED.search(before):
        return None
    if described := _THE_ONE_THAT.search(before):
        judged = rate_predicate(described["predicate"])
        return None if judged is None else (choice[1], judged if judged <= Strength.REJECTED else Strength.CHOICE)
    return choice[1], Strength.REJECTED if patterns.DENIED.search(before) else Strength.CHOICE


def _remove_lead_in(text: str) -> str:
    lead_in = patterns.LEAD_IN.match(text)
    return text[lead_in.end() :] if lead_in else text


def _match_subject(subject: re.Match[str], clause: str, *, opens: bool) -> tuple[str, Strength] | None:
    """Return what a clause that begins with the letter says: a verdict, a label, or the letter alone."""
    letter, rest = subject[2], clause[subject.end() :]
    if labelled := patterns.LABELS.match(rest):
        # After a colon or a dash: ": contradicts the article".
        body = rest[labelled.end() :]
        parts = [body, f"is {body}"]
    else:
        parts = patterns.AND_VERB.split(rest.strip(), maxsplit=2)
    judged = next((strength for strength in map(rate_predicate, parts) if strength is not None), None)
    if judged is Strength.WRONG and patterns.ANSWER.match(subject[0]):
        judged = Strength.REJECTED
    if judged is not None:
        return letter, Strength.CHOICE if subject["only"] and judged is Strength.PRAISE else judged
    reasoned = subject[0] == letter and patterns.REASON.match(rest) and not patterns.DENIED.search(rest)
    if not opens or (rest.lstrip().startswith(":") and not reasoned):
        return None
    marked = subject[0].endswith("^") and not patterns.DEFINES.match(rest) and not patterns.TELLS.match(rest.lstrip())
    # Brackets may say what is wrong with it: "B (a different year, which is wrong)".
    inside = re.match(r"\s*\(([^()]*)", rest)
    blamed = inside and patterns.DENIED.search(inside[1]) and not re.search(r"\b[AB]\b|the other\b", inside[1])
    return (letter, Strength.LINE) if marked or (re.match(patterns.END, rest) and not blamed) else None


_FORM = (
    r"(?:style|tone|gramm\w+|spelling|length|wording|phrasing|flow|opposite|format|brevity|language|title|opening"
    r"|(?:critic|opponent|reader|author|writer|error|mistake|flaw|problem)s?)"
)
"""Parts whose being right or wrong says nothing of what the summary tells."""
_PART_LETTER = rf"(?:{NOUN})?\b(?P<letter>[AB])"
_PARTS = expressions(
    rf"(?i:the (?!(?:\w+ )?{_FORM}\b)(?:\w+ ){{1,4}}?(?:in|of|by|from)) {_PART_LETTER}(?![\w'])\^?\s",
    rf"(?i:what) {_PART_LETTER}(?![\w'])\^? (?=(?:says|states|claims|reports|tells|writes|asserts)\b)",
    rf"{_PART_LETTER}\^?'s (?!(?:\w+ )?{_FORM}\b)(?=\w)",
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
_VERBS = dict(
    re.findall(
        r"([\w']+): ([\w ]+)",
        "is: is; isn't: is not; are: is; aren't: is not; was: was; wasn't: was not; were: was; does: does;"
        " doesn't: does not; do: does; don't: does not; contradicts: contradicts; contradict: contradicts;"
        " conflicts: conflicts; conflict: conflicts; matches: matches; match: matches; agrees: agrees; agree: agrees;"
        " misrepresents: misrepresents; reflects: reflects",
    )
)
"""Verbs of one and of several parts, as they are judged."""
_VERB = expression(rf"\b(?:{'|'.join(sorted(_VERBS, key=len, reverse=True))})(?![\w'])")
_WITH_CLAUSE = expression(r"\b(?:that|which|who|where|when|how|whether)\b")
_SOURCE = expression(r"\bthe (?:article|text|source|passage|original)\b")
_OF_FACTS = expression(
    r"(?:is|does) (?:not )?(?:\w+ly )?(?:false|(?:in|un)\w+|correct|accurate|confirmed|supported|contradicted)\b"
)
_WITHIN = 120
"""Characters between a part and what is said of it: "the claim in Summary B that the mayor resigned"."""


def rate_summary_part(clause: str) -> tuple[str, Strength] | None:
    """Rate the summary whose part begins the clause; if several verbs may rate it, they must agree."""
    part = next(filter(None, (pattern.match(clause) for pattern in _PARTS)), None)
    if part is None:
        return None
    rest = clause[part.end() :]
    said = set[Strength]()
    for verb in _VERB.finditer(rest[:_WITHIN]):
        strength = rate_predicate(f"{_VERBS[verb[0]]}{rest[verb.end() :]}")
        # Behind "that …" it must plainly be said of the part, and not within the clause.
        plain = _OF_FACTS.match(rest[verb.start() :]) or _SOURCE.search(rest[verb.end() :])
        if strength is not None and (plain or not _WITH_CLAUSE.search(rest[: verb.start()])):
            said.add(strength)
    judged = said.pop() if len(said) == 1 else None
    return (part["letter"], judged) if judged in (Strength.WRONG, Strength.PRAISE) else None

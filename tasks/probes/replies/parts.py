"""A part of a summary, of which something is said: "Summary B's figure is wrong", "the claim in B that … is false"."""

from __future__ import annotations

import re

from contrapose.tasks.probes.replies.predicates import Strength, verdict
from contrapose.tasks.probes.replies.rewrites import NOUN

_FORM = (
    r"(?:style|tone|gramm\w+|spelling|length|wording|phrasing|flow|opposite|format|brevity|language|title|opening"
    r"|(?:critic|opponent|reader|author|writer|error|mistake|flaw|problem)s?)"
)
"""Parts whose being right or wrong says nothing of what the summary tells."""
_LETTER = rf"(?:{NOUN})?\b(?P<letter>[AB])"
_PARTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:the (?!(?:\w+ )?{_FORM}\b)(?:\w+ ){{1,4}}?(?:in|of|by|from)) {_LETTER}(?![\w'])\^?\s",
        rf"(?i:what) {_LETTER}(?![\w'])\^? (?=(?:says|states|claims|reports|tells|writes|asserts)\b)",
        rf"{_LETTER}\^?'s (?!(?:\w+ )?{_FORM}\b)(?=\w)",
    )
)
_KINDS = (
    r"(?:claim|statement|assertion|figure|date|version|account|description|number|suggestion|contention|allegation"
    r"|conclusion|characteri[sz]ation|portrayal|depiction)s?"
)
_ENDS_IN_PART = re.compile(
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
_VERB = re.compile(rf"\b(?:{'|'.join(sorted(_VERBS, key=len, reverse=True))})(?![\w'])")
_WITH_CLAUSE = re.compile(r"\b(?:that|which|who|where|when|how|whether)\b")
_SOURCE = re.compile(r"\bthe (?:article|text|source|passage|original)\b")
_OF_FACTS = re.compile(
    r"(?:is|does) (?:not )?(?:\w+ly )?(?:false|(?:in|un)\w+|correct|accurate|confirmed|supported|contradicted)\b"
)
_WITHIN = 120
"""Characters between a part and what is said of it: "the claim in Summary B that the mayor resigned"."""


def whole_of_part(clause: str) -> str:
    """A clause that ends in a part of a summary, with the summary in its place: "refutes B's claim that …"."""
    return _ENDS_IN_PART.sub(lambda found: found["owned"] or found["held"], clause, count=1)


def of_part(clause: str) -> tuple[str, Strength] | None:
    """The letter of the summary whose part a clause begins with, and what is said of the part.

    Where several verbs may be the one that judges, they must judge alike.

    Args:
        clause: of a canonical reply; the time is linear in its length.
    """
    found = next(filter(None, (pattern.match(clause) for pattern in _PARTS)), None)
    if found is None:
        return None
    rest = clause[found.end() :]
    said = {_said(rest, verb) for verb in _VERB.finditer(rest[:_WITHIN])} - {None}
    judged = said.pop() if len(said) == 1 else None
    return (found["letter"], judged) if judged in (Strength.WRONG, Strength.PRAISE) else None


def _said(rest: str, verb: re.Match[str]) -> Strength | None:
    """What follows one verb; behind "that …" it must plainly be said of the part, and not within the clause."""
    judged = verdict(f"{_VERBS[verb[0]]}{rest[verb.end() :]}")
    if judged is None or _WITH_CLAUSE.search(rest[: verb.start()]) is None:
        return judged
    plain = _OF_FACTS.match(rest[verb.start() :]) or _SOURCE.search(rest[verb.end() :])
    return judged if plain else None

"""The words in which replies praise and blame, whatever the grammar around them: good, bad, better, worse, "not"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contrapose.tasks.language.expression import expression

_ARTICLE = r"(?:the|this) (?:\w+ )?(?:article|text|source|passage|author|report)"
_GOOD = (
    r"consistent(?:ly)?|accurate(?:ly)?|correct(?:ly)?|rightly|right|faithful(?:ly)?|true|factual|precise|perfect|flawless|proper(?:ly)?"
    r"|supported|supports?|confirmed|confirms?|backed|backs(?: up)?|verified|borne out|bears out|checks? out|passes"
    r"|reliable|trustworthy|dependable|fine|ok|okay|spot on|model of accuracy|match(?:es|ed)?|agrees?|agreed|aligns?"
    r"|aligned|reflects?|reflected|captures?|captured|conveys?|conveyed|preserves?|preserved|sticks? to|keeps? to"
    r"|stays? (?:close|with)|in (?:line|accordance|agreement) with|(?:is|are|'s)(?: \w+)? in the"
    r" (?:article|text|source)|(?:found|stated|mentioned|said|present|given|described|reported)(?: \w+)? (?:in|by) the"
    rf"|(?:what|as|how) {_ARTICLE} (?:\w+ly )?(?:says|states|reports|describes|presents|puts|has it|mentions|gives|does"
    r"|itself|goes)"
)
_BAD = (
    r"wrong(?:ly)?|incorrect(?:ly)?|inconsistent|inconsistency|inaccura(?:te|cy|cies|tely)|false(?:ly)?|falsehoods?"
    r"|untrue|unfaithful|unsupported|unfounded|unmentioned|erroneous\w*|errors?|err(?:s|ed)|discrepanc\w+|opposite|reverse"
    r"|contradict\w*|conflicts?|conflicting|in conflict|disagrees?|clash\w*|at odds|go(?:es)? (?:against|beyond)"
    r"|mis(?:represent|stat|attribut|plac|report|read|lead|quot|identif|interpret|nam|tak|constru|characteri|dat)\w*"
    r"|fabricat\w+|invent(?:s|ed|ing)|ma(?:kes|de)(?: (?:\w+ ){1,3})? ?up|hallucinat\w+|nonsense|out of thin air"
    r"|distort\w*|twists?|twisted|conflat\w+|confus(?:es|ed|ing)|mix(?:es|ed) up|swaps?|swapped|reverses|reversed"
    r"|flips|flipped|inverts|inverted|backwards|turns? (?:\S+ ){1,9}?into|alters?|altered|inflat\w+|exaggerat\w+"
    r"|overstat\w+|understat\w+|disqualif\w+|bad|found wanting|faulted|refuted?|refutes|denied|problem (?:with|is)"
    r"|rules? (?:\w+ )?out|ruled out|departs? from|deviates? from|differs? from|nowhere|no (?:mention|basis|evidence)"
    r"|(?:is|are|was|were|do|does|did)(?:n't| not) (?:\w+ )?(?:what|mentioned|stated|said|found|present|in the"
    r"|part of the)|(?:article|text|source|passage|report) (?:does|did)(?:n't| not) (?:\w+ )?"
    r"(?:mention|state|say|bring up|support|back|contain|report)"
    r"|not (?:mentioned|stated|found|present|supported)|never (?:mentioned|mentions|says|states)"
    r"|(?:ok|okay|fine|right|correct|accurate|consistent) (?:un)?till?"
)
_JUDGED = expression(rf"(?i)\b(?:(?P<bad>{_BAD})|(?P<good>{_GOOD}))\b")
_ACCURATE = (
    r"(?:consistent|accurate|faithful|reliable|dependable|trustworthy|correct|precise|factual|aligned|in line|true"
    r"|credible|supported)"
)
_MORE = (
    rf"(?:more|most) (?:\w+ly )?{_ACCURATE}|more (?:closely|accurately|faithfully|correctly)|closer to|closest to"
    r"|better (?:supported|match|fit|choice|reflects|captures|matches|aligned|represents|one|option|answer)|the better"
    r"|the (?:safer|sounder) (?:choice|pick|one)|should (?:win|be (?:selected|chosen|preferred|picked))|wins\b(?! the)"
    r"|(?:is|be|looks|seems|fits) (?:better|preferable)(?! (?:written|worded|phrased|structured|style))"
    r"|is (?:what you want|(?:my|the) (?:pick|winner|answer|choice))\W*$|is the one\W*$"
)
_LESS = rf"(?:less|least) (?:\w+ly )?{_ACCURATE}|the worse|(?:is|be) worse(?! than i)|not as {_ACCURATE}"
_RANKED = expression(
    rf"(?i)\b(?:(?P<bad>{_LESS})|(?P<good>{_MORE}))\b(?! in (?:style|tone|its (?:style|tone|wording)))"
)
_NOT = expression(
    r"(?i)\b(?:not(?! only)|never|no|nothing|none|neither|nor|nobody|cannot|hardly|without|free (?:of|from)|avoids?"
    r"|lacks?|fails? to)\b|n't\b"
)
_NONE = expression(r"(?i)\s(?:none|nothing|no|neither)\b")
_REACH = 45
"""Characters before a word of judgement in which a "not" turns it."""
_SAYS = (
    r"(?:says?|said|states?|stated|claims?|claimed|reports?|reported|mentions?|asserts?|suggests?|implies|implied"
    r"|describes?|indicates?|notes?|writes?|tells us|tells|speaks of|talks about|maintains|alleges|noting|saying"
    r"|stating|claiming|reporting|suggesting|implying|is about|deals with|focuses on|covers)"
)
_GIVES = r"(?:gives|names|has|puts|places|calls|attributes|credits|dates|lists|quotes)"
TELLS = rf"(?:{_SAYS}|{_GIVES})"
"""How a summary or the article is said to tell something."""
_ADVERB = r"(?:(?:in)?correctly|wrongly|rightly|falsely|(?:in)?accurately|backwards)"
_HOW = rf"(?:{_ADVERB}\b|[^,;:]{{0,80}}\b{_ADVERB}$)"
_WHAT = (
    r"(?:\S+ ){0,4}?(?:errors?|mistakes?|inaccurac\w+|what|something|anything|nothing|(?:in|by) the (?:article|text))\b"
)
_WHICH = r"(?:\S+ ){0,4}?(?:contradict\w*|right|wrong|correct|incorrect|accurate|inaccurate|false)\b"
_OF_EVENT = r"(?:(?!\b(?:Summary )?(?-i:[AB])\b)[^,;:])*"
_TOLD = expression(
    r"(?i)\b(?:(?P<claim>claim|statement|assertion|suggestion|idea)s? "
    r"(?:(?:in|of|by|from) (?:Summary )?(?-i:[AB])\b\^? )?"
    rf"that |(?P<says>{_SAYS}) (?!{_HOW}|{_WHAT})|(?P<gives>{_GIVES}) (?!{_HOW}|{_WHAT}|{_WHICH})){_OF_EVENT}"
)
"""What is told of the event, which holds words such as "right" and "error" by chance; "gives the wrong year" judges."""
_WITHIN = expression(r"(?i)^(?:while |whereas |but |and )?in (?:summary )?(?-i:[AB])\b\^?,? ")
_MANNER = expression(
    r"(?i)\b(?:(?P<bad>wrongly|incorrectly|falsely|inaccurately)|(?P<good>correctly|rightly|accurately))\b"
)
"""All that judges in what happens "in Summary A"."""


class Judged(NamedTuple):
    """One word of judgement."""

    is_good: bool
    """Whether it praises, a "not" before it counted."""
    is_plain: bool
    """Whether it praises or blames by itself, and not as "not wrong" and "not right" do."""


def judgements(clause: str) -> Iterator[Judged]:
    """Every word of praise or blame in a clause, except in what is told of the event."""
    judged = _TOLD.sub(r"\g<claim>\g<says>\g<gives> ", clause)
    for match in (_MANNER if _WITHIN.match(judged) else _JUDGED).finditer(judged):
        yield _turned(match, judged)


def ranking(clause: str) -> Judged | None:
    """Whether a clause sets what it speaks of above something else, or below it."""
    match = _RANKED.search(clause)
    return _turned(match, clause) if match else None


def is_denied(before: str) -> bool:
    """Whether a "not" stands near the end of what comes before a word."""
    return _NOT.search(before[-_REACH:]) is not None


def _turned(match: re.Match[str], clause: str) -> Judged:
    denied = is_denied(clause[: match.start()]) or _NONE.match(clause, match.end()) is not None
    return Judged(is_good=bool(match["good"]) != denied, is_plain=not denied)

"""Predicates that say what a summary gets wrong without saying "wrong": "swaps the …", "is not in the article"."""

from __future__ import annotations

import re

_NOWHERE = re.compile(
    r"(?:is|was|are) (?:nowhere|(?:not|never) (?:\w+ly )?(?:what|(?:(?:in|mentioned|stated|said|supported|found"
    r"|reported"
    r"|present|backed|confirmed|borne)\b)))"
    r"(?: \w+){0,3} the (?:article|text|source|passage|original)\b(?: (?:says?|states?|reports?|itself))?$"
)
"""How something told is said to be no part of the article."""
_ADDS = re.compile(
    r"(?:\w+ly )?(?:introduces|adds|includes|contains|mentions|presents|makes|gives|provides|has) "
    r"(?:\w+ ){0,2}(?:information|details?|claims?|facts?|statements?|events?|elements?|figures?)"
    r" (?:(?:that|which) )?(?:(?:is|are|was|were) )?(?:not|never|nowhere) (?:\w+ ){0,3}the"
    r" (?:article|text|source|passage|original)\b"
)
_WRONG_ONE = re.compile(
    r"(?:\w+ly )?(?:attributes|gives|names|places|puts|cites|quotes|identifies|uses|reports|credits|blames"
    r"|assigns|locates"
    r"|dates|has|gets|lists|ascribes|picks|provides|contains) (?:(?!not\b"
    r"|no\b)[\w']+ ){0,6}?the wrong (?!impression|idea|kind|sort|way)\w+"
    r"(?: (?:of|for|in|at|to|as)\b|$)"
)
"""The wrong person, place or time is named: "attributes the quote to the wrong minister"."""
_ALTERS = re.compile(
    r"(?:\w+ly )?(?:alters|changes|twists|garbles|flips|reverses|inverts|misunderstands) (?:an? |the |one )?(?:\w+ )?"
    r"(?:facts?|meaning|sense|outcome|details?)\b(?! (?:of|in) (?:summary|[ab])\b)"
    r"|mistakes (?:[\w']+ ){1,5}for "
    r"|(?:\w+ly )?(?:turns|has|gets) (?:it|this|that|things|(?:the )?\w+) (?:upside down|backwards?"
    r"|(?:the wrong )?way round"
    r"|on its head|around the wrong way|into its opposite)$"
)
_DENIED_THERE = re.compile(
    r"(?:\w+ly )?(?:says|states|asserts|claims|reports|tells) (?:something|things|what) (?:that )?the"
    r" (?:article|text|source|passage) (?:\w+ly )?(?:denies|contradicts|rules out|does not say|never says)\b"
    r"|is (?:\w+ly )?(?:off|in error)$"
)


def misstates(predicate: str, judgement: str) -> bool:
    """Whether a predicate says that something is altered, added, misplaced, or no part of the article.

    Args:
        predicate: what follows "Summary A", in lower case and without articles such as "an".
        judgement: the part of it before its reason.
    """
    whole = any(pattern.match(predicate) for pattern in (_NOWHERE, _ADDS))
    return whole or any(pattern.match(judgement) for pattern in (_ALTERS, _WRONG_ONE, _DENIED_THERE))

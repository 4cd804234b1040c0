"""What the last sentence of a comparison of A and B concludes, and whether it is a tie."""

from __future__ import annotations

import re

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.options import last_choice
from contrapose.tasks.language.replies.other_languages import in_english
from contrapose.tasks.language.replies.text import sentences

_CALLED = expression(
    r"(?i)\b(?:(?:summary|response|output|assistant|version|statement|reply|model|candidate|essay|translation)s?"
    r" (?=\W{0,2}[AB]\b)|(?<=\b[AB])'s (?:answer|response|summary|reply|output|version)\b)"
)
_OF_BOTH = expression(
    r"(?i)\b(?:both|equally|too|as well|also|likewise|same|either|neither|nor|tie|tied|draw|so (?:is|does)|one that"
    r"|mistakes?|unless"
    r"|according to|had|should it|better (?:in|at|on|for|with)|(?:in|un)\w+|wrong\w*|false\w*|errors?|slips?|flaw\w*"
    r"|errs?|strays?|worse|worst|contradicts?|fails?"
    r"|(?:styl\w+|tone|wording|worded|written|phrased|reads|flow\w*|elegan\w+|nicer|prose|common\w*|length|gramm\w+"
    r"|if(?! (?:by|only|not)\b)|(?:start|end) of|2nd|second place|people|others|many"
    r"|some|most people|usually|often|critics|readers?|commenters?|they|would (?:be|have)|could|might|may|maybe"
    r"|perhaps)|(?:consistent|accurate|correct|right|faithful)(?! (?:choice|answer|one|summary|option)))\b"
    r"|^\W*\d[.)]|\b[AB]\b\W+(?:summary )?(?:or|and|,) (?:the )?(?:\w+ )?[AB]\b"
)
"""What makes a last sentence less than a choice: it speaks of both, or of what is wrong."""


_CLAUSE = expression(r"[:;]\s|,\s(?=(?:and |so )?(?:the )?(?:\w+ )?[AB]\b)|\s[-\u2013\u2014]\s|\bbut\b")
_NUMBERED = expression(r"\n\W*\d(?:[.)]|st |nd )[^\n]*$")
_ORDINAL = expression(
    r"(?i)\bthe (first|second|former|latter)(?: (?:summary|answer|response|reply|output|assistant|option|version|one"
    r"|text))?(?: \([AB]\))?"
)


_TIED = expression(
    r"(?i)\b(?:(?:it|this|that|these|they|overall|so|therefore)(?:'s| is| are| was|,)?|call it|declare|ends? in"
    r"|results? in|(?:verdict|result|overall)\s?:)"
    r" (?:(?:therefore|thus|basically|essentially|really|effectively|still|it's|it is|also|a) )*(?:an? )?(?:tied?"
    r"|draw|toss[- ]?up|dead heat)\b"
    r"|\b(?:see|rate|regard|consider|call|judge|rank) (?:them|both|the two)(?: both)? (?:as |to be )?(?:equal\w*"
    r"|tied|even|on a par)\b|\b(?:offset|cancel|balance)s? (?:each other|one another|out)\b"
    r"|\bno (?:clear )?(?:winner|preference)\b|\b(?:they|both|the two)(?: \w+)?(?: are|'re) (?:equally|tied"
    r"|on a par)\b[^.\n]{0,40}$"
)
"""A tie that is declared, whatever was preferred before."""


_CONCLUDES = expression(
    r"(?i)\b(?:therefore|thus|hence|overall|final\w*|verdict|winner|decision|conclusion|conclude|judge?ment)\b"
)


def concluded(seen: str, *, explains: bool, one_is_right: bool) -> int | None:
    """The choice in the last sentence about a letter, 0 for A and 1 for B, as one of several options is read there.

    Args:
        seen: the window of a reply.
        explains: whether only a reply of several sentences counts, of which an earlier one may be about both.
        one_is_right: whether to praise one, for its style maybe, is not yet to choose it.
    """
    seen = in_english(seen)
    every = [said.text for said in sentences(seen)]
    last = next((said for said in reversed(every) if re.search(r"\b[AB]\b", said) or _ORDINAL.search(said)), "")
    if one_is_right and not _CONCLUDES.search(last):
        return None
    if (explains and len(every) < 2) or _OF_BOTH.search(_CLAUSE.split(last)[-1]) or _NUMBERED.search(seen):
        return None
    plain = _CALLED.sub(lambda called: "" if called[0].startswith("'") else "option ", seen)
    plain = _ORDINAL.sub(lambda nth: "option A" if nth[1].lower() in ("first", "former") else "option B", plain)
    return last_choice(plain, ("A", "B"))


def is_tie(seen: str) -> bool:
    """Whether a reply declares a tie, whatever it preferred before."""
    return _TIED.search(seen) is not None

"""Clauses that set one letter apart from the other: preferred, backed by the article, taken back, left behind."""

from __future__ import annotations

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.rewrites import VERB

_NOUN = r"(?:(?i:the )?(?i:summary|option|choice|answer|version|statement)\s+)"
NAME = (
    rf"(?:{_NOUN}[AB](?![\w'])\^?|{_NOUN}?\b[AB](?='s\b)|\bB(?![\w'])\^?|\bA\^|\bA(?=\s*(?:$|[,.;:=!?)\u2013\u2014-])"
    rf"|\s+(?:and|or|but|over|than|because|since|as|on|in|it|alone|too|what|{VERB})\b))"
)
"""A letter that is a name and not the English article, with its noun where it has one."""
SOURCE = (
    r"(?:(?:the|this) (?:[\w']+ ){0,2}?(?:article|text|source|passage|original|story|report|piece|document|author)"
    r"|paragraph \w+)"
)
_LETTER = rf"(?-i:(?P<letter>{NAME}))"

RIVAL = expression(
    r"(?i)\b(?:unlike|than|next to|compared (?:to|with)|(?:in|by) (?:contrast|comparison) (?:to|with)|as opposed to"
    r"|rather than|instead of|not|over|besides|beside|alongside|versus|vs\.?|against)\s+"
    rf"(?:(?:what|that of|those of|the one in)\s+)?(?-i:{NAME})"
)
"""The other summary as what one is compared with, not what is spoken of."""

_BETTER = (
    r"(?:the (?:more|better|consistent|correct)\b|(?:slightly |somewhat |clearly )?(?:more|better)\b) ?"
    r"(?!detail|complete|\w*written|\w*worded)"
)
_PREFERRED_END = rf"(?=\W*$|\)? (?:{_BETTER}|over\b|on (?:accuracy|consistency|balance|account)))"
PREFERRED = tuple(
    expression(f"(?i){pattern}")
    for pattern in (
        r"(?:\b(?:in favou?r of|favou?rs?|edge to|points? to(?:wards?)?|leaves(?: us with)?|full marks (?:\w+ ){0,2}to"
        r"|my vote (?:is for|goes to)|mark goes to|so(?: its| it's| it is)?|(?:answer|choice|verdict|pick|match)"
        r"(?: is| must be| has to be| would be| would seem to be| should be|:))|(?:\b(?:i(?:'d|'ll| would| will| must"
        r"| therefore| thus|'m| am)?|you should)(?: \w+ly)? |^)(?:(?:go|going|went) (?:with|for)|prefer|choose|pick"
        rf"|select|opt for|favou?r|lean (?:towards?|to)))\s+\(?{_LETTER}{_PREFERRED_END}",
        rf"\b(?:i|we) (?:would )?(?:\w+ )?trust {_LETTER} more",
        rf"\b(?:making|makes|find|consider|judge) {_LETTER} (?:to be )?{_BETTER}",
        rf"^(?:yes |so )?{_LETTER} (?:over\b|it is\b|better\b(?! \w))",
    )
)
"""What leads up to the letter that is preferred, or follows it."""
PASSED_OVER = tuple(
    expression(f"(?i){pattern}")
    for pattern in (
        r"\b(?:choose|prefer|pick|take|favou?r|chosen|picked|preferred) (?:it|this|that|this one|that one) (?:over|to) "
        + _LETTER,
        rf"\b(?:choice|answer|pick) (?:here |\w+ )?(?:is not|isn't|cannot be|can't be) {_LETTER}",
    )
)
"""What leads up to the letter that something else is preferred to."""
RULED_OUT = expression(
    rf"(?i)\b(?:it|this|that) (?:can't be|cannot be|can not be|is not|isn't) {_LETTER}$"
    rf"|^contrary to (?:what )?(?-i:(?P<contrary>{NAME}))(?: (?:says|claims|states|suggests|reports|asserts|implies))?$"
)
"""A letter that is ruled out, unless the sentence goes on with the other: "it is not Summary A but B that …"."""
NOT_THAT_ONE = expression(r"(?i)^(?:so )?(?:it's |it is |its )?not (?:that|this) (?:one|summary)\W*$")

LACKS = expression(
    r"(?i)(?:\b|^)(?:(?:cannot|can't|can not) be said (?:of|for|about)|lost in|(?:the same|this|that|which) (?:does not"
    r"|doesn't|is not|isn't) (?:\w+ )?(?:hold|true|apply|the case|so) (?:for|of|to|with|in)|(?:errors?|mistakes?"
    r"|inaccuracy|discrepancy|problems?|fault) (?:\w+ )?(?:in|with|lies with|lies in|found in)|not go with"
    rf"|wouldn't go with|^not)\s+{_LETTER}"
)
"""What holds of the one and not of the other, and where an error is found."""
BACKED = expression(
    r"(?i)\b(?:(?<!not )(?:just |exactly |precisely )(?:as|like)|as (?:\w+ly )?(?:stated|said|reported|described|given"
    r"|mentioned|noted|put|conveyed|reflected) (?:in|by)|as (?:well as )?in|the same (?:\w+ ){0,2}?(?:as|in)"
    r"|in (?:line|agreement|accordance) with|aligns? (?:\w+ )?with|agrees? (?:\w+ )?with|match(?:es)?|supports?"
    r"|confirms?(?: what)?|backs(?: up)?|evidence for|(?:reflected|preserved|captured|conveyed|summari[sz]ed|repeated"
    rf"|found|appears?|present|given) (?:in|by)) {_LETTER}"
)
"""What the article is said to share with a letter: "as stated in A", "the article confirms what A says"."""
LIKE_SOURCE = expression(
    rf"(?i)^(?:(?P<good>(?:just |exactly )?(?:like|as)(?: in)?)|unlike|contrary to|in contrast to) {SOURCE}(?: \w+ly)?"
    r"(?: does| says| states| has it| reports| puts it)?$"
)
"""An aside that sets the letter before it beside the article: "as the article does", "unlike the article"."""
SAYS_THE_SAME = expression(
    r"(?i)\b(?:(?:says|states|reports|gives|has|mentions|does|tells us) (?:exactly )?the same"
    r"|(?:reflects|conveys) (?:this|that)|also (?=\w+s\b))"
)
"""What is praise for a letter after the article was retold."""

ELLIPSIS = expression(
    rf"(?i)^(?:and |but )?{_LETTER} (?:(?P<denied>does not|doesn't|is not|isn't|not|has not|hasn't)|does|is|has)\W*$"
)
"""The opposite of what was said of the other letter: "A keeps the order; B does not"."""
TAKES_BACK = expression(r"(?i)^(?:is not|isn't|does not|doesn't|was not|wasn't|are not)\W*$")
"""How "which is not" ends, about the letter before it."""

"""What a reply says of the article first, and of a summary by reference to it: "The article says 12, as B does"."""

from __future__ import annotations

import re

from contrapose.tasks.probes.replies.rewrites import NOUN

_ARTICLE = r"(?i:the|this) (?:\w+ ){0,2}?(?:article|text|source|passage|original)"
_TELLS = (
    r"(?:\w+ly |also )?(?:says?|states?|reports?|mentions?|gives?|notes?|names?|puts?|places?|describes?"
    r"|speaks of|tells"
    r"|explains?|indicates?|confirms?|lists?|quotes?|cites?|makes clear|specifies|has|attributes|refers to)\b"
)
_OPENS = r"(?m:^|(?<=[.;!?:,\n] )|(?<=[Ss]ince )|(?<=[Bb]ecause )|(?<=[Ww]hile )|(?<=[Ww]hereas ))"
_DENIES = r"(?:not|never|no|n't|nothing|rather|instead|only|without|but|omits|fails|if|whether)\b"
_ANY = r"(?:(?!\b[AB]\b)[^.;!?\n]){0,150}?"
_WITHIN = rf"(?:(?!\b[AB]\b|\b{_DENIES}|n't\b)[^.;:!?\n]){{1,150}}?"
"""What the article tells, without another summary and without a denial that could reach further."""
_SUMMARY = rf"((?:{NOUN})?\b[AB](?![\w']))\^?"
_SAYS = (
    r"(?: (?:also |\w+ly )?(?:says|states|reports|does|mentions|notes|has it|describes|puts it|indicates|claims)"
    r"(?: it)?)"
)
_ENDS = r"(?=\s*(?:$|[.;!,\n]))"
_PLAINLY = r"(?:just |exactly |precisely |which is (?:just |exactly )?|and that is (?:just |exactly )?)?"
_AGREES = r"\1. \2 agrees with the article"
_REFERRING = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (
            rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN}),? {_PLAINLY}(?:as|what|how) {_SUMMARY}{_SAYS}{_ENDS}",
            _AGREES,
        ),
        (
            rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN}),? {_PLAINLY}(?:as (?:does|in)|(?:and )?so does) "
            rf"{_SUMMARY}{_ENDS}",
            _AGREES,
        ),
        (
            rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN}), which is (?:also )?(?:the|what) (?:\w+ ){{1,3}}?(?:in|by|of) "
            rf"{_SUMMARY}{_ENDS}",
            _AGREES,
        ),
        (
            rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN})[,;.] (?i:and |so |which )?{_SUMMARY} "
            r"(?:\w+ly )?(?:reflects|matches|agrees with|captures|repeats|conveys|preserves) (?:this|that|it)"
            r"(?: \w+ly)?" + _ENDS,
            _AGREES,
        ),
        (
            rf"({_SUMMARY} {_TELLS}{_WITHIN}), (?:just |exactly )?as (?:is )?(?:\w+ly )?"
            r"(?:stated|reported|described|mentioned|confirmed|given|written|noted) (?:in|by) the (?:article"
            r"|text|source"
            rf"|passage){_ENDS}",
            r"\1, which is what the article says",
        ),
        (
            rf"{_OPENS}(?i:contrary to|(?:in|by) contrast (?:to|with)|unlike|as opposed to)(?: what)? {_SUMMARY}"
            rf"{_SAYS}?, (?={_ARTICLE} {_TELLS})",
            r"the article contradicts \1. ",
        ),
        (
            rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN}),? (?:contrary to|in contrast (?:to|with)|unlike)(?: what)? "
            rf"{_SUMMARY}{_SAYS}?{_ENDS}",
            r"\1. The article contradicts \2",
        ),
        (
            rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN}),? (?:and )?(?:not"
            rf"|rather than) (?:(?!\b[AB]\b)[^,.;:!?\n]){{1,60}}?"
            rf" as (?:{_SUMMARY} (?:wrongly |incorrectly )?(?:claims|says|states|suggests|has it|reports)"
            rf"|(?:claimed|stated|suggested|said|reported) (?:by|in) {_SUMMARY}){_ENDS}",
            r"\1. The article contradicts \2\3",
        ),
        (
            rf"({_OPENS}{_SUMMARY} (?:\w+ly )?(?:claims|alleges|asserts|suggests|implies|says|states){_ANY}), "
            rf"(?:but|whereas|when) (?:in fact |actually )?(?:(?:according to|in) {_ARTICLE},? "
            rf"|{_ARTICLE} (?:\w+ly )?(?:says|states|reports|makes clear)\b)"
            rf"(?!{_ANY} (?:also|too|same|as well|so|agrees?|either|if|may|might|both|more|[AB])\b)",
            r"\1. The article contradicts \2. The article says ",
        ),
        (
            rf"{_OPENS}(?i:in) {_SUMMARY}, (?i:the|its|his|her|their) (?=\w)",
            r"\1's ",
        ),
    )
)
_NEEDED = re.compile(r"(?i)\b(?:article|text|source|passage|original)\b|\bin (?:summary )?[ab]\b")


def by_source(text: str) -> str:
    """Put what refers to the article's words as a statement of its own; in time linear in the length.

    Args:
        text: a canonical reply.
    """
    if _NEEDED.search(text):
        for pattern, replacement in _REFERRING:
            text = pattern.sub(replacement, text)
    return text

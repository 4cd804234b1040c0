"""Of two options one of which is right: the other one, where a reply says plainly that one is wrong, and nothing else.

"Summary B, which says 120, contradicts the article." chooses A, because the question says that exactly one of the two
agrees with the article. Anything that makes the rejection less than plain, or that speaks against the other letter too,
leaves the reply unread: a doubt, a condition, a question, "both", "also", a cut at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contrapose.tasks.language.replies import patterns
from contrapose.tasks.language.replies.predicates import Strength
from contrapose.tasks.language.replies.rewrites import VERB, without_asides
from contrapose.tasks.language.replies.statements import Statement
from contrapose.tasks.language.replies.text import sentences

_DOUBTS = (
    r"\?",
    r", (?:said|says|wrote|writes|asked) (?:(?-i:[A-Z])|the\b|an?\b|my\b)",
    r"\b(?:if|whether|unless|suppos\w+|assum\w+|had it|as long as|provided that|could|might|(?-i:may)|maybe|perhaps)\b",
    r"\b(?:possibl[ey]|probably|likely|seem\w*|appear\w*|would(?<!i would)(?<!we would)|un(?:clear|sure|certain))\b",
    r"\b(?:neither|nor|none|either|both|each|too|also|likewise|equally|as well)\b",
    r"\b(?:not only|same|like|as is|so (?:is|does))\b",
    r"\b(?:part(?:ly|ially)|somewhat|slightly|in part|minor|no better|not much|less wrong|problems?|issues?)\b",
    r"\b(?:not (?:sure|certain|clear)|sorry|unable|cannot|can't|pretend|imagine)\b",
    r"\b(?:example of|task|format|earlier|previous)\b",
    r"\b(?:some|people|others?|you|they|one|critics|readers?|who(?:ever)?) (?:\w+ )?(?:say|think|claim|argue|believe)",
    r"\b(?:at first|initially|first sight|first glance|(?:i|we) (?:\w+ )?(?:thought|believed|said))\b",
    r"\b(?:arguably|supposedly|allegedly|seemingly|hardly|barely|scarcely|rarely)\b",
    r"\b(?:(?:one|single|two|three|several|more|fewer) (?:\w+ )?(?:errors?|mistakes?))\b",
    r"\bhas (?:two|three|more|several)\b",
    r"\bmore \w+ (?:\w+ )?than\b",
    r"\bthe other\b(?! hand)[^.!?\n]{0,60}\b(?:not|wrong|in(?:correct|consistent|accurate)|false|contradicts|err\w*)\b",
    r"\b(?:is|are|was)(?:n't| not) (?:\w+ )?(?:wrong|incorrect|inconsistent|false|inaccurate)\b",
)
_DOUBTED = re.compile("(?i)" + "|".join(_DOUBTS))
"""What makes a rejection less than plain, or speaks against both."""
_OF_LOOKS = re.compile(
    r"(\b[AB]\^?), (?:which|though|although|while) (?:it |this )?(?:(?:may|might) )?(?:\w+ly )?(?:appears?"
    rf"|seems?|looks?|sounds?) (?:\w+ ){{1,5}}?\w+, (?={VERB})"
)
"""How a summary looks, said in an aside before what it is: "Summary B, which seems plausible, is wrong"."""
_BESIDE_THE_POINT = re.compile(
    r"(?i)\b(?:length(?! of)|styl\w+|tone|gramma\w+|wording|spelling|phrasing|punctuation)\b"
)
"""What a summary may get wrong without contradicting the article."""
_CONCEDES = re.compile(
    r"(?i)\b(?:but|although|though|yet|however|still|while|even so|nevertheless|otherwise|except)\b[^.!?\n]{0,120}"
    r"\b(?:right|correct\w*|consistent|agree\w*|match\w*|accurate\w*|fine|true|faithful\w*|support\w*|fits|ok(?:ay)?|better|best"
    r"|choose|prefer|pick|go with)\b"
)
_CLEARS = re.compile(
    r"\b(?:does not|doesn't|never) (?:\w+ly )?(?:alter|change|contradict|misrepresent|misstate|distort|add"
    r"|invent|introduce)\b"
)
"""What speaks for a summary in the words of blame; the verb is left out with its "not"."""
_ENDS = re.compile(r"[.!][\s)\"'*_]*$|^(?=[a-z]|[AB]\b[^,;.!?\n]{1,80}[,.;] )(?:[^A-Z.!?]|\b[AB]\b)+$")
"""Without a full stop the end may be cut off, unless the whole reply is written without capitals and stops."""
_VERB = re.compile(VERB)


def left_over(text: str, stated: Sequence[Statement]) -> str | None:
    """The letter that is left when the other is plainly said to be wrong; None when that is not all a reply says.

    Args:
        text: a canonical reply.
        stated: what it states, none of which chooses a letter.
    """
    wrong = {statement.letter for statement in stated}
    if len(wrong) != 1 or None in wrong or all(statement.strength is not Strength.WRONG for statement in stated):
        return None
    rejected = next(iter(wrong))
    other = "A" if rejected == "B" else "B"
    plain = "\n".join(without_asides(sentence.text) for sentence in sentences(text))
    if (
        _DOUBTED.search(_OF_LOOKS.sub(r"\1 ", text))
        or _BESIDE_THE_POINT.search(plain)
        or not _ENDS.search(text)
        or _concedes(text, other)
        or _is_spoken_against(text, other)
    ):
        return None
    return other


def _concedes(text: str, other: str) -> bool:
    """Whether something is said in favour of the rejected letter after all."""
    return any(re.search(rf"\b{other}\b", concession[0]) is None for concession in _CONCEDES.finditer(text))


def _is_spoken_against(text: str, letter: str) -> bool:
    """Whether a clause about the letter holds a word of blame, or no verb: "Summary B errs once, Summary A twice"."""
    for sentence in sentences(text):
        for clause in patterns.CLAUSES.split(without_asides(sentence.text)):
            named = re.search(rf"\b{letter}(?![\w'])\^?", clause)
            if named and _speaks_against(clause, named):
                return True
    return False


def _speaks_against(clause: str, named: re.Match[str]) -> bool:
    rest = _CLEARS.sub("", clause[named.end() :].removeprefix(":").strip().lower())
    return bool(patterns.DENIED.search(rest) or (patterns.ALONE.match(clause) and not _VERB.match(rest)))

"""Decide between A and B by what a reply states and how it ends, or say why nothing is decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import patterns
from contrapose.tasks.language.replies.options import last_choice
from contrapose.tasks.language.replies.other_languages import in_english
from contrapose.tasks.language.replies.predicates import Strength
from contrapose.tasks.language.replies.rewrites import VERB, without_asides
from contrapose.tasks.language.replies.statements import Statement, statements
from contrapose.tasks.language.replies.text import PAIR, REMEMBERED, sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedReply:
    """What the statements of a reply come to."""

    letter: str | None
    """A, B, or None when they decide nothing."""
    reason: str
    """What decided, or why nothing did."""


_DECIDED = {
    Strength.PRAISE: "only {} is said to be right",
    Strength.LINE: "{} stands alone",
    Strength.CHOICE: "{} is stated as the choice",
    Strength.CONCLUSION: "{} is concluded",
    Strength.FINAL: "{} is the final answer",
}
_LEFT_OVER = "only the other is said to be wrong"
_NO_CHOICE = (
    ("neither", expression(r"(?i)\b(?:neither|none)\b|\bno summary\b")),
    (
        "refusal",
        expression(
            r"(?i)\b(?:cannot|can ?not|can't|unable|impossible|not (?:able|possible|sure|certain)|sorry"
            r"|refuse|as an ai|language model|(?:don't|do not) (?:know|think)|not enough|no opinion|insufficient)\b"
        ),
    ),
    ("both", expression(rf"(?i)\b(?:both|either|equally|all of the above)\b|{PAIR}|\bso (?:is|does)\b|\bas is\b")),
)
_ALSO = expression(
    rf"(?i)\b(?:both|equally|too|as well|also|likewise|(?<!says the )same)\b|{PAIR}|\bso (?:is|does)\b|\bas is\b"
    r"|\b(?:neither|nor) (?:is|does)\b|(?:\bnot\b|n't\b)[^.;!?\n]{0,40}\beither\b"
    r"|[,;] (?:and )?(?-i:[AB])\^? (?:with|to)\b|\ba (?:draw|tie|toss[- ]?up)\b"
)
_NEVERTHELESS = expression(
    r"(?i)\b(?:in that|because|since|as) both (?:say|state|mention|agree|have|give|report|name)\b"
    r"|\bboth\b[^.;!?\n]{0,100}?,? (?:but|yet) (?=(?:only )?(?:summary )?[AB]\b)"
    r"|\bboth (?:summaries|options|of them)\b(?![^.;!?\n]{0,100}\b(?:wrong|in\w+|contradict|errors?|false|mis\w+|fail))"
    r"[^.;!?\n]{0,100}[.;] (?:but|however|yet),? (?=(?:only )?(?:summary )?[AB]\b)"
    r"|\b(?:while|although|though) both\b[^.;,!?\n]{0,100},"
    rf"|\b(?:(?:two|the) (?:summaries|options)(?: are)?|given|between)[,:]? {PAIR}"
)
"""What both share, said before the difference."""
_TRAILS_OFF = expression(
    r"\b[AB]\b\^?\W{0,3}(?i:or|but|if|unless|and|nor|then|maybe|perhaps|possibly)"
    r"(?i:\s(?:it|maybe|perhaps|could|might|also|be|even)\b)*\W*$|\b(?i:actually|wait|hmm)\b[^.!?\n]*$"
)
"""A choice that is taken back, or would be but for the end of the text: "A, maybe", "A, but"."""
_ASKS_THE_OTHER_WAY = expression(
    r"(?i)\bwhich\b[^.!?\n]{0,80}\b(?:inconsistent|incorrect|inaccurate|wrong|false|contradicts|not)\b[^.!?\n]{0,80}\?"
)


@lru_cache(maxsize=REMEMBERED)
def weigh(text: str, *, one_is_right: bool = False) -> WeighedReply:
    """Let the strongest statements of a canonical reply decide, if they agree.

    Args:
        text: a canonical reply.
        one_is_right: whether A and B are all there is and exactly one is right, so that a plain rejection of one
            chooses the other.
    """
    stated = list(statements(text))
    wrong = {statement.letter for statement in stated if statement.strength is Strength.WRONG}
    chosen = _without_headings(
        [
            statement
            for statement in stated
            if statement.strength > Strength.REJECTED
            and not (statement.strength is Strength.PRAISE and statement.conceded and statement.letter in wrong)
        ]
    )
    if not chosen:
        left = left_over(_NEVERTHELESS.sub("", text), stated) if one_is_right else None
        return WeighedReply(letter=left, reason=_LEFT_OVER) if left else _undecided(_why_not(text, stated))
    top = max(statement.strength for statement in chosen)
    last = [statement for statement in chosen if statement.strength == top][-1]
    if _is_contradicted(last, chosen, stated) or _is_doubted(last, text):
        return _undecided("both" if top <= Strength.PRAISE else "contradictory")
    if top == Strength.LINE and _ASKS_THE_OTHER_WAY.search(text):
        return _undecided("no choice found")
    if top == Strength.LINE and _is_listed(text, last.letter):
        return _undecided("both")
    if top == Strength.PRAISE and _ALSO.search(_NEVERTHELESS.sub("", text)):
        return _undecided("both")
    if top == Strength.PRAISE and _is_only_granted(chosen, stated):
        return _undecided("no choice found")
    return WeighedReply(letter=last.letter, reason=_DECIDED[top].format(last.letter))


def _is_only_granted(chosen: Sequence[Statement], stated: Sequence[Statement]) -> bool:
    """Whether all praise is granted beside another point, and nothing is said against the other letter."""
    rejects = any(statement.strength <= Strength.REJECTED for statement in stated)
    return not rejects and all(statement.conceded for statement in chosen)


def _without_headings(chosen: list[Statement]) -> list[Statement]:
    """Leave out letters that only head a passage each ("A. … B. …") when something plainer is said."""
    lines = {statement.letter for statement in chosen if statement.strength == Strength.LINE}
    plain = [statement for statement in chosen if statement.strength != Strength.LINE]
    listed = len(lines) == 2 and any(statement.strength > Strength.LINE for statement in plain)
    return plain if listed else chosen


def _is_contradicted(last: Statement, chosen: Sequence[Statement], stated: Sequence[Statement]) -> bool:
    """Whether the letter is also rejected, or the other one chosen as plainly, or chosen in an afterthought.

    A conclusion overrules what came before it, and only that.
    """
    conclusive = last.strength >= Strength.CONCLUSION
    denied = any(
        statement.strength <= Strength.REJECTED
        and (statement.position >= last.position or not conclusive)
        and (statement.letter == last.letter or _declined(statement, last))
        for statement in stated
    )
    top_is_plain = last.strength in (Strength.LINE, Strength.CHOICE)
    rivals = [statement for statement in chosen if statement.letter != last.letter]
    plain = [statement for statement in rivals if statement.strength >= Strength.LINE]
    return (
        denied
        or any(statement.strength is last.strength for statement in rivals)
        or any(not conclusive or statement.position > last.position for statement in plain)
        or (
            top_is_plain
            and any(statement.strength is Strength.PRAISE and not statement.conceded for statement in rivals)
        )
    )


def _is_doubted(last: Statement, text: str) -> bool:
    """Whether the other letter is considered after the choice: "A. Or is it B?", "A, but it could be B"."""
    other = "B" if last.letter == "A" else "A"
    thought = (
        rf"(?i:\b(?:or|maybe|perhaps|possibly|then again,?|actually,?|(?:might|may|could)(?: also| well)? be"
        rf"|or is it|alternative(?:ly)?[,:]?"
        rf"|actually (?:it )?is)\s+(?:summary |option )?){other}(?![\w'])|\b{other}\b\^? "
        r"(?:is|may be|might be|could be) (?:also )?possible"
    )
    after = text[last.position :]
    return re.search(thought, after) is not None or _TRAILS_OFF.search(after) is not None


def _declined(refusal: Statement, last: Statement) -> bool:
    """Whether a refusal to choose undoes a choice: "I cannot tell, but I'd say A" still makes one."""
    return refusal.letter is None and (last.strength <= Strength.LINE or refusal.position > last.position)


def _is_listed(text: str, letter: str | None) -> bool:
    """Whether the other letter heads an entry of its own: "A. yes B. no", "1. A 2. B"."""
    other = "B" if letter == "A" else "A"
    return re.search(rf"\b{other}(?:\.|\^)\s+(?=[a-z])|\d[.)]\s*{other}\b", text) is not None


def _why_not(text: str, stated: Sequence[Statement]) -> str:
    if {statement.letter for statement in stated if statement.strength <= Strength.REJECTED} >= {"A", "B"}:
        return "neither"
    return next((name for name, pattern in _NO_CHOICE if pattern.search(text)), "no choice found")


def _undecided(reason: str) -> WeighedReply:
    return WeighedReply(letter=None, reason=reason)


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
_DOUBTED = expression("(?i)" + "|".join(_DOUBTS))
"""What makes a rejection less than plain, or speaks against both."""
_BESIDE_THE_POINT = expression(
    r"(?i)\b(?:length(?! of)|styl\w+|tone|gramma\w+|wording|spelling|phrasing|punctuation)\b"
)
"""What a summary may get wrong without contradicting the article."""
_CONCEDES = expression(
    r"(?i)\b(?:but|although|though|yet|however|still|while|even so|nevertheless|otherwise|except)\b[^.!?\n]{0,120}"
    r"\b(?:right|correct\w*|consistent|agree\w*|match\w*|accurate\w*|fine|true|faithful\w*|support\w*|fits|ok(?:ay)?|better|best"
    r"|choose|prefer|pick|go with)\b"
)
_CLEARS = expression(
    r"\b(?:does not|doesn't|never) (?:\w+ly )?(?:alter|change|contradict|misrepresent|misstate|distort|add"
    r"|invent|introduce)\b"
)
"""What speaks for a summary in the words of blame; the verb is left out with its "not"."""
_ENDS = expression(r"[.!][\s)\"'*_]*$|^(?=[a-z]|[AB]\b[^,;.!?\n]{1,80}[,.;] )(?:[^A-Z.!?]|\b[AB]\b)+$")
"""Without a full stop the end may be cut off, unless the whole reply is written without capitals and stops."""
_VERB = expression(VERB)


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
        _DOUBTED.search(text)
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


# The last sentence of a comparison: what it concludes, and whether it is a tie.

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
    r" (?:(?:therefore|thus|basically|essentially|really|effectively|still|it's|it is|also|a) ){0,4}(?:an? )?(?:tied?"
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

"""Decide between A and B from a reply's statements and its end, or return the reason why neither is chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import patterns
from contrapose.tasks.language.replies.options import read_last_choice
from contrapose.tasks.language.replies.other_languages import translate_choice_words
from contrapose.tasks.language.replies.predicates import Strength
from contrapose.tasks.language.replies.rewrites import VERB, remove_asides
from contrapose.tasks.language.replies.statements import Statement, yield_statements
from contrapose.tasks.language.replies.text import PAIR, REMEMBERED, yield_reply_sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedReply:
    """The choice that the statements of a reply add up to."""

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
_LEFT_OVER, _NOTHING = "only the other is said to be wrong", "no choice found"
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
    r"|\bboth\b[^.;!?\n]{0,100}?,? (?:but|yet) (?=(?:only )?(?:summary )?[AB]\b)|\bboth (?:summaries|options|of "
    r"them)\b(?![^.;!?\n]{0,100}\b(?:wrong|in\w+|contradict|errors?|false|mis\w+|fail))[^.;!?\n]{0,100}[.;] (?:but"
    r"|however|yet),? (?=(?:only )?(?:summary )?[AB]\b)|\b(?:while|although|though) both\b[^.;,!?\n]{0,100},"
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
    """Return the choice of the strongest statements of a normalised reply, if they agree.

    Where exactly one of A and B is right, a plain rejection of one chooses the other.
    """
    stated = list(yield_statements(text))
    rejected = {statement.letter for statement in stated if statement.strength <= Strength.REJECTED}
    wrong = {statement.letter for statement in stated if statement.strength is Strength.WRONG}
    chosen = [
        statement
        for statement in stated
        if statement.strength > Strength.REJECTED
        and not (statement.strength is Strength.PRAISE and statement.conceded and statement.letter in wrong)
    ]
    # Letters that only head a passage ("A. … B. …") count for nothing if something plainer is said.
    plain = [statement for statement in chosen if statement.strength != Strength.LINE]
    heads = {statement.letter for statement in chosen if statement.strength == Strength.LINE}
    if len(heads) == 2 and any(statement.strength > Strength.LINE for statement in plain):
        chosen = plain
    if not chosen:
        if one_is_right and (left := infer_remaining_letter(_NEVERTHELESS.sub("", text), stated)):
            return WeighedReply(letter=left, reason=_LEFT_OVER)
        why = next((name for name, pattern in _NO_CHOICE if pattern.search(text)), _NOTHING)
        return WeighedReply(letter=None, reason="neither" if rejected >= {"A", "B"} else why)
    top = max(statement.strength for statement in chosen)
    last = [statement for statement in chosen if statement.strength == top][-1]
    # The other letter heads an entry of its own: "A. yes B. no", "1. A 2. B".
    other = "B" if last.letter == "A" else "A"
    entry = rf"\b{other}(?:\.|\^)\s+(?=[a-z])|\d[.)]\s*{other}\b"
    listed = top == Strength.LINE and re.search(entry, text)
    if _is_contradicted(last, chosen, stated, text):
        reason = "both" if top <= Strength.PRAISE else "contradictory"
    elif top == Strength.LINE and _ASKS_THE_OTHER_WAY.search(text):
        reason = _NOTHING
    elif listed or (top == Strength.PRAISE and _ALSO.search(_NEVERTHELESS.sub("", text))):
        reason = "both"
    elif top == Strength.PRAISE and not rejected and all(statement.conceded for statement in chosen):
        reason = _NOTHING
    else:
        return WeighedReply(letter=last.letter, reason=_DECIDED[top].format(last.letter))
    return WeighedReply(letter=None, reason=reason)


def _is_contradicted(last: Statement, chosen: Sequence[Statement], stated: Sequence[Statement], text: str) -> bool:
    """Return whether the reply also rejects the letter, chooses the other one as plainly, or considers it afterwards.

    A conclusion overrules what came before it, and only that. "I cannot tell, but I'd say A" still makes a choice.
    """
    conclusive = last.strength >= Strength.CONCLUSION
    for statement in stated:
        declines = statement.letter is None and (last.strength <= Strength.LINE or statement.position > last.position)
        counts = statement.position >= last.position or not conclusive
        if statement.strength <= Strength.REJECTED and counts and (statement.letter == last.letter or declines):
            return True
    for rival in chosen:
        if rival.letter == last.letter:
            continue
        later = rival.strength >= Strength.LINE and (not conclusive or rival.position > last.position)
        praised = rival.strength is Strength.PRAISE and not rival.conceded
        if rival.strength is last.strength or later:
            return True
        if praised and last.strength in (Strength.LINE, Strength.CHOICE):
            return True
    # "A. Or is it B?", "A, but it could be B"
    other = "B" if last.letter == "A" else "A"
    thought = (
        r"(?i:\b(?:or|maybe|perhaps|possibly|then again,?|actually,?|(?:might|may|could)(?: also| well)? be|or is it"
        rf"|alternative(?:ly)?[,:]?|actually (?:it )?is)\s+(?:summary |option )?){other}(?![\w'])|\b{other}\b\^? (?:is"
        r"|may be|might be|could be) (?:also )?possible"
    )
    after = text[last.position :]
    return bool(re.search(thought, after) or _TRAILS_OFF.search(after))


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


def infer_remaining_letter(text: str, stated: Sequence[Statement]) -> str | None:
    """Return the remaining letter if a reply only says that the other letter is wrong, or None."""
    wrong = {statement.letter for statement in stated}
    if len(wrong) != 1 or None in wrong or all(statement.strength is not Strength.WRONG for statement in stated):
        return None
    rejected = next(iter(wrong))
    other = "A" if rejected == "B" else "B"
    parts = [remove_asides(sentence.text) for sentence in yield_reply_sentences(text)]
    if _DOUBTED.search(text) or _BESIDE_THE_POINT.search("\n".join(parts)) or not _ENDS.search(text):
        return None
    if any(re.search(rf"\b{other}\b", concession[0]) is None for concession in _CONCEDES.finditer(text)):
        return None
    for clause in (clause for part in parts for clause in patterns.CLAUSES.split(part)):
        if named := re.search(rf"\b{other}(?![\w'])\^?", clause):
            # A clause about the letter holds a word of blame, or no verb: "Summary B errs once, Summary A twice".
            rest = _CLEARS.sub("", clause[named.end() :].removeprefix(":").strip().lower())
            if patterns.DENIED.search(rest) or (patterns.ALONE.match(clause) and not _VERB.match(rest)):
                return None
    return other


# The last sentence of a comparison: what it concludes, and whether it is a tie.

_CALLED = expression(
    r"(?i)\b(?:(?:summary|response|output|assistant|version|statement|reply|model|candidate|essay|translation)s?"
    r" (?=\W{0,2}[AB]\b)|(?<=\b[AB])'s (?:answer|response|summary|reply|output|version)\b)"
)
_OF_BOTH = expression(
    r"(?i)\b(?:both|equally|too|as well|also|likewise|same|either|neither|nor|tie|tied|draw|so (?:is|does)|one that"
    r"|mistakes?|unless|according to|had|should it|better (?:in|at|on|for|with)|(?:in|un)\w+|wrong\w*|false\w*|errors?"
    r"|slips?|flaw\w*|errs?|strays?|worse|worst|contradicts?|fails?|(?:styl\w+|tone|wording|worded|written|phrased"
    r"|reads|flow\w*|elegan\w+|nicer|prose|common\w*|length|gramm\w+|if(?! (?:by|only|not)\b)|(?:start|end) of|2nd"
    r"|second place|people|others|many|some|most people|usually|often|critics|readers?|commenters?|they|would (?:be"
    r"|have)|could|might|may|maybe|perhaps)|(?:consistent|accurate|correct|right|faithful)(?! (?:choice|answer|one"
    r"|summary|option)))\b|^\W*\d[.)]|\b[AB]\b\W+(?:summary )?(?:or|and|,) (?:the )?(?:\w+ )?[AB]\b"
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
    r"|results? in|(?:verdict|result|overall)\s?:) (?:(?:therefore|thus|basically|essentially|really|effectively|still"
    r"|it's|it is|also|a) ){0,4}(?:an? )?(?:tied?|draw|toss[- ]?up|dead heat)\b|\b(?:see|rate|regard|consider|call"
    r"|judge|rank) (?:them|both|the two)(?: both)? (?:as |to be )?(?:equal\w*|tied|even|on a par)\b|\b(?:offset|cancel"
    r"|balance)s? (?:each other|one another|out)\b|\bno (?:clear )?(?:winner|preference)\b|\b(?:they|both|the two)(?: "
    r"\w+)?(?: are|'re) (?:equally|tied|on a par)\b[^.\n]{0,40}$"
)


_CONCLUDES = expression(
    r"(?i)\b(?:therefore|thus|hence|overall|final\w*|verdict|winner|decision|conclusion|conclude|judge?ment)\b"
)


def read_conclusion(seen: str, *, explains: bool, one_is_right: bool) -> int | None:
    """Return the choice in the last sentence about a letter: 0 for A, 1 for B, or None.

    With `explains` only a reply of several sentences counts, of which an earlier one may be about both. Where one is
    right, to praise one, for its style maybe, is not yet to choose it.
    """
    seen = translate_choice_words(seen)
    every = [said.text for said in yield_reply_sentences(seen)]
    last = next((said for said in reversed(every) if re.search(r"\b[AB]\b", said) or _ORDINAL.search(said)), "")
    if one_is_right and not _CONCLUDES.search(last):
        return None
    if (explains and len(every) < 2) or _OF_BOTH.search(_CLAUSE.split(last)[-1]) or _NUMBERED.search(seen):
        return None
    plain = _CALLED.sub(lambda called: "" if called[0].startswith("'") else "option ", seen)
    plain = _ORDINAL.sub(lambda nth: "option A" if nth[1].lower() in ("first", "former") else "option B", plain)
    return read_last_choice(plain, ("A", "B"))


def is_tie(seen: str) -> bool:
    """Return whether a reply declares a tie, even if it preferred a letter before."""
    return _TIED.search(seen) is not None

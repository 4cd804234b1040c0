"""The letter in which a reply with marks ends, where nothing plainer is stated: "…, which makes it D"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies import clauses
from contrapose.tasks.language.replies.labelled import sentences
from contrapose.tasks.language.replies.marks import LETTER, MARK, TEXT, place_of

_NOUN = r"(?i:(?:the )?(?:option|choice|answer|letter|statement|alternative) )?"
_JOINT = r"\)?(?:,? (?:and|or|nor|&) (?:also )?|, |/)(?:the )?"
_GROUP = expression(rf"\(?{MARK}(?:{_JOINT}{_NOUN}\(?{MARK})*\)?")
"""An option, or several on a par."""
_DENIED_BEFORE = expression(
    r"(?i)(?:\bnot|n't|\bnever|\bneither|\bnor|\bwithout|\binstead of|\brather than|\bthan|\bover|\bunlike"
    r"|\bexcept(?: for)?|\bno(?! doubt)|\bagainst"
    r"|\bbesides|\breject\w*|\beliminat\w+|\brul\w+ out|\bexclud\w+|\bdiscard\w*|\bdismiss\w*|\bcrossing off"
    r"|\bcross out|\bother than"
    r"|\banything but|\bfrom|\bbeats|\boutperforms|\breplace|\bmistake to (?:choose|pick))[ :](?:(?!but\b"
    r"|(?<!it )(?<!that )(?<!answer )(?<!one )(?<!option )(?<!choice )is\b)[\w']+ ){0,4}\(?$"
)
_DENIED_AFTER = expression(
    r"(?i)\)?,? (?:(?:are|is|were|was|can|can't|have|has|be|all|both|therefore|thus|also|clearly|then) )*(?:not\b"
    r"|out\b|ruled out|eliminated|excluded|wrong|false|incorrect"
    r"|fail|impossible|too\b|lack|gone|off\b)"
)
_LOOSE = expression(
    r"(?i)\b(?:if|unless|whether|might|may|could|maybe|perhaps|possibl[ey]|possibility|either|both|depends?|unsure"
    r"|not sure|uncertain|cannot|can't|unable"
    r"|don't know|do not know|tempting|plausible|some|people|others?|students?|someone|somebody|example|e\.g|such as"
    r"|like|almost|nearly|consider\w*|looking at|look at|let's"
    r"|let us|let me|start\w*|next|compar\w+|regarding|as for|about|there(?:'s| is| are)|also|too|as well|equally"
    r"|close|closer|closest to|runner|second|distractor|trap"
    r"|usual\w*|common\w*|wrong|incorrect|false|mistaken?|mistakes|errors?|worse|worst|least|alternative\w*|same"
    r"|similar\w*|opposite|previous|earlier|at first|initially"
    r"|as in|see|versus|vs|between|confus\w+|mix\w*|claims?|argu(?:e|es|ed|ably)|thought|assum\w+|suppos\w+"
    r"|hesitat\w+|doubt\w*|unclear|open|neither|tie|draw|half|careful|wary|caution"
    r"|nobody|no one|none|everything but|says?|said|first|third|another|one (?:option|choice|answer)|question"
    r"|(?:start|end) of|2nd|3rd|last place|more of|sort of|kind of|vitamin|hepatitis|influenza|grade|type|plan|group"
    r"|team|section|part"
    r"|would have|should have|instead of answering|asked|asks|mean(?:s|t)? by|stands for|called|labell?ed|(?:written"
    r"|listed) under)\b|\?"
)
"""What makes the end of a reply less than a choice."""
_SUPPOSES = expression(
    r"(?i)\b(?:if|unless|whether|might|may|could|perhaps|maybe|possibly|suppos\w+|assum\w+|had (?:it|he|she|the)"
    r"|(?:don't|do not|not) (?:know|think|believe|say|mean)|cannot|can't|unable|not sure)\b"
)
_SPLITS = expression(r"(?i)[;:\u2013\u2014]\s|\s-\s|,? \bbut |, yet |\bhowever,? |\bthough,? ")
_PRAISES = expression(
    r"(?i)\)?,? ?(?:(?:is|has to be|must be|would be|remains|seems|are) (?:\w+ly )?(?:the (?:\w+ )?(?:one|answer"
    r"|choice|option|best|right|correct|winner|better|only)|what|my|correct|right"
    r"|best|better|consistent|true|it\b)|(?:answers|fits|matches|satisfies|holds|works|explains|wins|takes|edges"
    r"|prevails|sounds better|it (?:is|must|has|should)|makes (?:the )?most)\b"
    r"|,? (?:then|definitely|final|no contest|by a hair|clearly|obviously|for sure)\b)"
)
_LEADS = expression(
    r"(?i)^\W*(?:(?:and|so|thus|therefore|hence|then|only|just|well|hmm|ok|okay|sure|consequently|yes|no|it's|it is"
    r"|that's|this is|the answer is|still|definitely|certainly|clearly|overall|in short"
    r"|in conclusion|i (?:find|think|believe|conclude|say|judge)(?: that)?|finally|ultimately|as a result"
    r"|accordingly),? )*(?:the |an? )?\(?$"
)
_FEWEST = 5
"""Words from which on the end of a reply may choose: plainer rules read shorter ones."""
_BRIEF = 2
"""Sentences up to which an option's text may be the answer wherever it stands."""
_SHORT = 3
"""Characters up to which an option's text, such as a number, must end the sentence."""
_GOES_ON = expression(
    r"(?i)\b(?:let us|let me|let's|next|now|however|but|weigh|compare|step \d|on the other|depends|which one"
    r"|hard to)\b"
)
"""What, after the last letter, leaves the choice to come."""
_NAME = expression(rf"{LETTER}\)?\. ?[a-z]")
_ENGLISH = expression(
    r"(?i)\b(?:the|you|we|was|were|is|it|so|and|but|to|of|that|this|not|i|in|by|for|answer|option|choose|correct"
    r"|therefore|than|better|leaves|with|only|points)\b|'s\b"
)
"""Words of which texts in English, or put into it, hold some."""


def last_letter(text: str) -> int | None:
    """The place of the letter in which the last sentence with a letter ends, or which it calls right.

    Args:
        text: a reply with marks; the time is linear in its length.
    """
    start, said = next(
        ((start, said) for start, said in reversed([*sentences(text)]) if re.search(LETTER, said)), (0, "")
    )
    if len(re.findall(rf"\w+|{MARK}", text)) < _FEWEST or _GOES_ON.search(text, start + len(said)):
        return None
    if _NAME.search(text) or (re.search(r"[a-z]{3}", text) and not _ENGLISH.search(text)):
        return None
    cut = next(
        (split.end() for split in reversed([*_SPLITS.finditer(said)]) if re.search(LETTER, said[split.end() :])), 0
    )
    clause = said[cut:]
    if _LOOSE.search(clause) or _SUPPOSES.search(said):
        return None
    kept = [group for group in _GROUP.finditer(clause) if not _is_denied(group, clause)]
    places = {place_of(mark) for group in kept for mark in re.findall(MARK, group[0])}
    if len(places) != 1 or not kept:
        return None
    last = kept[-1]
    ends = (
        re.fullmatch(r"\W*(?:\([^()]*\))?(?: (?:though|then|here|instead|indeed))?\W*", clause[last.end() :])
        is not None
    )
    praised = _LEADS.match(clause[: last.start()]) and _PRAISES.match(clause, last.end())
    return places.pop() if (ends and not _is_listed(said, clause)) or praised else None


def only_option(text: str, options: Sequence[str]) -> int | None:
    """The place of the one option whose text a brief reply without letters names, and does not deny or compare with."""
    said = [said for _, said in sentences(text)]
    if len(said) > _BRIEF or re.search(LETTER, text) or _LOOSE.search(text) or not _ENDED.search(text):
        return None
    if re.search(r"[a-z]{3}", text) and not _ENGLISH.search(text):
        return None
    kept = [(group, part) for part in said for group in _GROUP.finditer(part) if not _is_denied(group, part)]
    places = {place_of(mark) for group, _ in kept for mark in re.findall(TEXT, group[0])}
    if len(places) != 1:
        return None
    place, (group, part) = places.pop(), kept[-1]
    short = len(options[place].strip()) <= _SHORT
    rest, subject = part[group.end() :], _LEADS.match(part[: group.start()]) is not None
    if _NO_ANSWER.search(options[place]) or re.search(r"(?i)\b(?:option|choice|number)\W*$", part[: group.start()]):
        return None
    fits = re.match(r"\W*$|[,;] ", rest) if short else not subject or _PRAISES.match(rest) or not re.search(r"\w", rest)
    return place if fits else None


_ENDED = expression(r"[.!)\"'\ue000-\ue2ff]\W*$|^\W*(?:\w+\W+){0,6}\w*$")
"""A reply of more than a few words without a full stop may be cut off."""
_NO_ANSWER = expression(r"(?i)\b(?:no|none|not sure|don't know|unsure|cannot|refused?|of the above)\b(?! \w+ly\b)")
"""Options in words that may decline to answer as well."""


def _is_denied(group: re.Match[str], clause: str) -> bool:
    before = _DENIED_BEFORE.search(clause[: group.start()])
    return bool(before or clauses.DENIES.match(clause, group.end()) or _DENIED_AFTER.match(clause, group.end()))


def _is_listed(said: str, clause: str) -> bool:
    """Whether a letter alone may be the end of a list, or where the text was cut off."""
    return said is clause and re.fullmatch(rf"\W*(?:\w+ )?\(?{MARK}\W*", said) is not None

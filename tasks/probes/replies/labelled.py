"""The clauses in which a reply with marks chooses an option, or rules one out, as patterns over one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from contrapose.tasks.probes.replies.marks import LETTER, MARK, TEXT, place_of


class Plainness(IntEnum):
    """How a statement chooses; a plainer one outweighs what was said before it."""

    NAMED = 0
    """An option's text stands where an answer would: "It's a sphere."."""
    STATED = 1
    """"The answer is B", or "B. text" at the start."""
    CONCLUDED = 2
    """"Therefore, B", "Final answer: B", or the letter alone on the last line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One option that a reply chooses."""

    place: int
    """Position among the options; beyond them for a letter that labels none."""
    plainness: Plainness
    """How it is chosen."""
    position: int
    """Where its mark stands in the reply, in characters."""
    by_letter: bool
    """Whether a letter names it, with or without its text."""


_NOUN = r"(?:(?i:the )?(?i:option|choice|answer|letter|alternative) )?"
_ONE = rf"[(\s]{{0,2}}{_NOUN}(?:\(\s?)?(?P<mark>{MARK})\)?"
_OTHER = rf"(?:the |an? )?{_NOUN}\(?{MARK}"
_MANNER = (
    r"(?: (?:most likely|likely|probably|most probably|definitely|certainly|clearly|simply|therefore|thus|indeed|in fact"
    r"|actually|obviously|of course|then|hence|still))?"
)
_BE = r"(?:\s(?:is|was|would be|must be|has to be|should be|will be|can only be|seems to be)|'s|'d be)"
_ASIDE = r"(?:, (?:in my (?:opinion|view)|of course|therefore|thus|then|I (?:think|believe)|indeed|in fact),)?"
_IS = rf"(?:{_BE}{_MANNER}{_ASIDE}\s?:?|\s?[:=])\s?"
_BEST = r"(?:best|correct|right|closest|most [a-z]+|likeliest|only|true|proper|ideal|final|chosen|selected)"
_ANSWER = r"(?:answer|ans|choice|option|solution|response|selection|pick|guess|vote|verdict|conclusion|decision)"
_GAP = r"[^.!?:=\n\ue000-\ue2ff]{0,120}?"
_REASON = (
    r"(?:because|since|as (?:it|the|this|that|there|these|they|we|he|she)|due to|given (?:that|the)|which|based on"
    r"|and not|not|over|rather than|instead|according|here|with (?:high|full)|in (?:this|my)|imo|for this|from the|(?:from )?among"
    r"|if you)\b"
)
_WAVERS = r"(?:(?:or|but|if|unless|maybe|perhaps|possibly|nor|although|though)\b|(?:and |then |also )*" + _OTHER + ")"
_END = (
    rf"(?=[\s\")]{{0,3}}(?:$|[.!;]|,(?!\s?{_WAVERS})|\([^()]{{0,200}}\)|:(?!\s?{_OTHER})|\s?[-\u2013\u2014]+\s"
    rf"|\s{_REASON}|(?<=[\ue200-\ue2fe])\s(?!\s?{_WAVERS}|(?:and|is|are|was|has|does|can)\b)))"
)
_LETTER_END = rf"(?:{_END}|(?<={LETTER})(?=\)?\s+(?:that|to|in|of|for)\b)|(?<={LETTER}\))(?=\s+(?:that|to|in|of|for)\b))"
_CHOOSE = (
    r"(?:choose|pick|select|say|go(?:ing)? with|answer(?: with)?|respond with|opt for|vote(?: for)?|go for|guess"
    r"|(?:suggest|recommend)(?: (?:selecting|choosing|picking|going with))?|prefer|think|believe)"
)
_I = (
    r"\b[Ii](?:'d| would| will|'ll|'m| am)?(?: have to| like to| going to)?(?: therefore| probably| definitely)?"
)
_SO = (
    r"(?:therefore|thus|so|hence|consequently|ultimately|in conclusion|finally|conclusion|in summary|overall|accordingly"
    r"|to conclude|final (?:answer|choice|decision))"
)
_SURELY = (
    r"(?i:definitely|probably|clearly|surely|certainly|obviously|most likely|likely|only|just|going with|choose|select|pick"
    r"|must be|yes|yeah|okay|so|hmm|for sure|for certain|of course|i (?:think|guess|believe|suppose)|indeed|alone|imo|please)"
)
_LEADS = r"(?:that|think|believe|therefore|thus|so|hence|say|means|find|but|as|options,|options)"
_ANYWHERE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:\b{_ANSWER}\b){_GAP}{_IS}{_ONE}{_LETTER_END}",
        rf"(?i:^(?:answer|ans|solution|response))(?:\s[-\u2013\u2014])? {_ONE}{_END}",
        rf"{_I} (?i:{_CHOOSE})(?: that)?(?: it(?:'s| is))?\s?:?\s?{_ONE}{_END}",
        rf"(?i:\b(?:leav(?:es|ing)|left)(?: us| me)?(?: only)?(?: with)?(?: only)?) {_ONE}{_END}",
        rf"^(?i:{_SO})[,:]? (?:(?i:it|this|that|the \w+){_BE} )?{_ONE}{_END}",
        rf"(?i:[,;] |\band ){_SO}[,:]? {_ONE}{_END}",
        rf"(?i:\b(?:this|that|which|it)(?: \w+ly)? (?:matches|corresponds to|points to|leads to|means)) (?:the |answer )?"
        rf"(?=(?i:option|choice)\b){_ONE}{_END}",
        rf"^{_SURELY},? {_ONE}(?:,? {_SURELY})?[.!]?$",
        rf"^{_ONE},? {_SURELY}[.!]?$",
    )
)
_BY_LETTER = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:\b(?:the|my) (?:[\w-]+ ){{0,2}}?{_BEST}\b|\bthat (?:best )?(?:\w+ )?fits\b){_GAP}{_IS}{_ONE}{_LETTER_END}",
        rf"(?:^|[.,:;)] |\b(?i:{_LEADS}) ){_ONE}(?:, [^,\n\ue000-\ue2ff]{{1,80}},)?(?:{_BE}|\s(?:seems|appears|looks)){_MANNER}"
        rf" (?:(?:the |my )?(?:\w+ly )?(?:{_BEST}|answer|accurate|appropriate)|the one|our (?:answer|choice))\b"
        r"(?! (?:only|in (?:saying|some|theory|part)|about|if|except|but|or|and)\b)",
        rf"(?:^|[,;] |\b(?:so|therefore|but|think|believe|say|guess|sure) )(?:that )?(?i:it|that|this){_BE}"
        rf"{_MANNER}\s?:?\s?{_ONE}{_END}",
        rf"^{_ONE} it is{_END}",
        rf"^{_ONE}\s?[-\u2013\u2014:(]\s?(?:this is )?(?:the )?(?:correct|right)(?: (?:answer|option|choice|one))?{_END}",
        rf"(?i:\bnot {_NOUN})\(?{MARK}\)?,? but (?:rather )?{_ONE}{_END}",
    )
)
_THINKING = (
    r"(?i:(?:i (?:\w+ly )?(?:think|believe|guess|say|choose|would say|would guess|'d say)(?: that)?|i'd (?:say|guess)"
    r"|definitely|clearly|probably|most likely|obviously|in my (?:opinion|view)|so|therefore),? )?"
)
_LOOSE = re.compile(
    rf"^{_THINKING}(?i:the|my) (?:[\w'-]+ ){{0,5}}[\w'-]+?(?:{_BE}| are){_MANNER}\s?:?\s?(?P<mark>{TEXT}){_END}(?=.?$)"
)
"""What a reply of a sentence or two says of its subject: "The object is a sphere"."""
_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_THINKING}(?i:it|that|this|he|she|they)(?:{_BE}|'re| are){_MANNER}\s?:?\s?(?P<mark>{TEXT}){_END}",
        rf"^{_THINKING}(?P<mark>{TEXT})(?: would be| (?:is|was|are) the| fits best| must be it| seems (?:right|best)"
        r"| is (?:right|correct|my answer))\b",
        rf"(?:^|(?i:(?<=\bno, )|(?<=\bwait, )|(?<=\bactually, )|(?<=\bor ))){_THINKING}(?P<mark>{TEXT}){_END}",
        rf"^(?P<mark>{TEXT}) it is{_END}",
    )
)
_DOUBT = re.compile(
    r"(?i)\b(?:if|whether|unless|suppos\w+|assum\w+|could|might|may|maybe|perhaps|possibl[ey]|either|neither|nor|both"
    r"|some|someone|people|others?|they|your|nobody|claim\w*|argu\w*|never|no|none|cannot|except|incorrect|wrong"
    r"|false|least|less|worst|opposite|unlike|tempt\w*|at first|initially|thought|eliminat\w+|rul\w+ out|avoid|example"
    r"|pretend|hardly|while|although|though|whereas|even|unable|between|format|previous|each|consider\w*"
    r"|first|second|third|fourth|fifth|next|another|student\w*|given answer|(?:one|an) (?:option|choice|answer))\b"
    r"|\bnot\b|n't\b"
)
_CONDITION = re.compile(
    r"(?i)\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|(?:don't|do not|not) (?:think|believe|know|sure|say)"
    r"|cannot|can't|unable)\b"
)
_CONCLUDES = re.compile(rf"(?i)(?:^|[,;.] |\band ){_SO}\b|\bfinal\b")
_INSTEAD = re.compile(rf"(?i)\bnot\b[^.,;]{{0,12}}{MARK}\)?,? but\b")
_CLAUSE = re.compile(r"[,;:]\s|\s[-\u2013\u2014]\s|\sbut\s")
_RULED_OUT = re.compile(
    rf"(?i:\b(?:not|isn't|wasn't|neither|nor|rul(?:e|es|ing) out|eliminates?|exclude|discard|reject))(?: the| an?)? {_NOUN}\(?"
    rf"(?P<first>{MARK})|(?P<second>{LETTER})\)?\.?(?:, [^,\n\ue000-\ue0ff\ue200-\ue2ff]{{1,80}},)?"
    r"(?: (?:is|was|are|seems|can be|can|must be|does|would|do)(?: (?:also|clearly|therefore|thus|definitely|then))*"
    r" ?(?:not\b|n't|incorrect|wrong|false|out\b|ruled out|eliminated|inaccurate)"
    r"| ?(?:isn't|wasn't|doesn't|can't|cannot|contradicts|misrepresents|fails)\b)"
)
_AND_ALSO = re.compile(rf"\)?(?: ?\([^()]{{0,200}}\))?,? (?:and|or|as well as|plus|&) (?:also )?{_OTHER}")
_ALSO = re.compile(
    rf"(?i:\b(?:or|maybe|perhaps|possibly|(?:might|may|could)(?: also| well)? be|actually,?|alternatively,?)) (?:also )?"
    rf"(?:is it )?{_NOUN}\(?(?P<mark>{LETTER})|(?P<also>{LETTER})\)? (?:is|may|might|could)(?: be)? (?:also|possible|equally)\b"
)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a reply with where they begin; a line ends one as a full stop does. Questions are left out."""
    start = 0
    for stop in re.finditer(r"(?<=[.!?])\s|\n|$", text):
        said = text[start : stop.start()]
        if said.strip() and not said.rstrip(" \"')").endswith("?"):
            yield start, said
        start = stop.end()


def stated(sentence: str, start: int, *, brief: bool) -> Iterator[Statement]:
    """What one sentence chooses.

    Args:
        sentence: of a reply with marks.
        start: where it begins, in characters.
        brief: whether the reply is a sentence or two.
    """
    for pattern in (*_ANYWHERE, *_BY_LETTER, *_NAMES, *([_LOOSE] if brief else [])):
        for found in pattern.finditer(sentence):
            by_letter = re.match(LETTER, found["mark"]) is not None
            named = not by_letter and pattern not in _ANYWHERE
            if _AND_ALSO.match(sentence, found.end("mark")):
                continue
            if not _is_doubted(found, sentence) and not (named and _names_several(found, sentence)):
                yield Statement(
                    place=place_of(found["mark"]),
                    plainness=Plainness.NAMED if named else _plainness(sentence[: found.start("mark")]),
                    position=start + found.start("mark"),
                    by_letter=by_letter,
                )


def _is_doubted(found: re.Match[str], sentence: str) -> bool:
    """Whether the words before the mark deny, doubt or suppose the choice; those of an earlier clause only suppose."""
    if _INSTEAD.search(found[0]):
        return False
    before = sentence[: found.start("mark")]
    clauses = [*_CLAUSE.finditer(before.rstrip(" (").removesuffix(":") + " ")]
    clause = before[clauses[-1].end() if clauses else 0 :]
    return any((_CONDITION.search(before), _DOUBT.search(clause), _DOUBT.search(before[found.start() :])))


def _names_several(found: re.Match[str], sentence: str) -> bool:
    """Whether another option is named beside the one in question, in other words than a reason."""
    reason = re.search(r"\b(?:because|since|as)\b", sentence[found.end("mark") :])
    said = sentence[: found.end("mark") + reason.start()] if reason else sentence
    return {place_of(each) for each in re.findall(MARK, said)} != {place_of(found["mark"])}


def _plainness(before: str) -> Plainness:
    return Plainness.CONCLUDED if _CONCLUDES.search(before) else Plainness.STATED


def ruled_out(text: str) -> set[int]:
    """Positions of the options that a reply says are wrong."""
    return {place_of(found["first"] or found["second"]) for found in _RULED_OUT.finditer(text)}


def wondered(text: str, position: int) -> set[int]:
    """Positions of the options that are considered after a choice: "B. Or maybe C?"."""
    return {place_of(found["mark"] or found["also"]) for found in _ALSO.finditer(text, position)}

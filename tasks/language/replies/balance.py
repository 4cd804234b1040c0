"""What a reply that states no choice comes to, when everything good and bad that it says of A and B is weighed.

"Summary A has both details right. Summary B gets the year wrong, which the article gives as 1998." names no winner in
so many words, but says good of one and bad of the other. Where the evidence does not all point one way, or is hedged,
conditional or somebody else's, nothing is decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.evidence import ReplyEvidence, evidence, pieces
from contrapose.tasks.language.replies.text import PAIR, sentences

_CALLED = expression(r"(?i)\b(?:summary|option|version|statement|text|choice) (?-i:[AB])\b")
_OTHER_THINGS = expression(
    r"(?i)\b(?:group|terminal|hepatitis|influenza|vitamin|plan|team|player|user|class|type|grade|block|route|exhibit"
    r"|ward|company|person|zone|gate|unit|building|stage|phase|category) (?-i:[AB])\b"
)
"""Letters that are no summaries."""
_BARE = 5
"""Words up to which a reply explains nothing."""

_CANNOT = (
    r"(?:cannot|can't|can not|could not|couldn't|unable to|hard to|difficult to|impossible to|not (?:able|possible) to"
    r"|not enough (?:information|to)) (?:\w+ )?(?:tell|say|decide|determine|choose|judge|know|verify|verified|compare"
    r"|answer|pick|conclude|give|assess|make|see|access|find)\b"
)
_OPEN = (
    r"depend(?:s|ing)\b|unclear\b|(?:tie|draw|toss[- ]?up)\b|equally\b|not (?:so )?(?:sure|certain)\b|unsure\b"
    r"|sorry, (?:but )?i\b|as an ai\b|(?:don't|do not) (?:know|have|see the (?:article|text))\b|(?:no|missing)"
    r" (?:article|text)\b|no (?:clear |single )?(?:winner|answer|choice|difference|preference|opinion|basis on which"
    r"|way to)\b|not (?:yet )?(?:\w+ )?an opinion\b|(?:haven't|have not|hasn't) (?:\w+ )?(?:formed|read|decided|seen"
    r"|made|finished|checked)\b|i (?:would|will|need to|need|have to) (?:first |then |like to )*(?:check|compare|need"
    r"|look|read|see|want)\b|let me [^.!?\n]{0,100}[.!?]?\s*$"
)
_CONDITIONS = (
    r"(?<!even )if (?:the (?:article|text|source)|it|this|that|so|you|we|i|one|either|both|neither|(?:summary )?[ab])\b"
    r"|whether (?:summary )?[ab]\b|(?:unless|suppos(?:e|ing)|assum(?:e|ing)|provided|should the)\b|to be"
    r" (?:consistent|correct|right), "
)
_OF_OTHERS = (
    r"(?:it (?:has been|was|is) (?:suggested|said|claimed|argued)|neither confirm|according to (?:another|some|my|an?"
    r"|one)|sent me|able to check|you said|mistake to|told (?:that )?(?:the|summary|[ab]))\b|(?:colleague|friend|reader"
    r"|reviewer|critic|author|user)s? (?:\w+ )?(?:picked|chose|prefers|preferred|thinks|says|said|believes|told"
    r"|claims)\b"
)
_ALIKE = (
    r"neither (?:is|of|summary|one|can|does|seems)\b(?![^.;!?\n]{0,200}\bbut\b)|neither\b[^.;!?\n]{0,80}\b(?-i:[AB])\b"
    r"[^.;!?\n]{0,80}\bnor\b[^.;!?\n]{0,80}\b(?-i:[AB])\b|none of the (?:two )?(?:summaries|options)\b|either (?:one|of"
    r"|summary|could|can|is)\b|(?:not\b|\w+n't\b)[^.;!?\n]{0,80}\beither\W{0,5}$|other way (?:a)?round\b|same goes\b"
    r"|(?:identical|interchangeable)\b(?![^.;!?\n]{0,12}\b(?:except|but|apart))"
)
_UNDECIDED = expression(rf"(?i)\b(?:{_CANNOT}|{_OPEN}|{_CONDITIONS}|{_OF_OTHERS}|{_ALIKE})")
"""What leaves the question open, whatever else is said."""

_JUDGED_SO = (
    r"(?:consistent|correct\w*|accurate\w*|right|wrong\w*|in(?:correct|accura|consist)\w*|faithful|contradict\w*"
    r"|errors?|mistakes?|match|agree|supported|true|false|fine|fit|flawed|add|invent|mis\w+)"
)
_HEDGES = (
    r"maybe|perhaps|possibly|could be|stylistically|likewise|not necessarily|not only|i (?:like|love|enjoy)|told that"
    r"|also (?:wrong|in\w+)|(?:it|this|that|[ab]|claim|know)\^?,? (?:might|may|could)|claim that [AB]|first impression"
    r"|(?:might|may|could|would) (?:\w+ )?(?:be|have|seem|favou?r|say|think)|so (?:does|is) (?:the|summary|[ab])"
    r"|seems (?:plausible|reasonable|fine|right)|both (?:bad|wrong|good|fine)|each (?:one|of|has|have|summary|contain)"
    r"|(?:the )?same (?:applies|holds|is true|is the case) (?:for|to|of|with)|common mistake"
    r"|(?:better|nicer|more \w+) style|(?:most|much|some|part|parts|half) of (?:summary )?[ab]"
)
_HEDGED = expression(
    rf"(?i)\bboth\b(?:(?!\b(?-i:[AB])\b)[^.;!?\n]){{0,80}}\b{_JUDGED_SO}\b|{PAIR}[^.;!?\n]{{0,60}}\b{_JUDGED_SO}\b"
    rf"|\b(?:{_HEDGES})\b|\btoo\W{{0,5}}$|\b(?:some|people|others?|reviewers?|readers|critics|you|they|common)\b"
    r"[^.;!?\n]{0,12}(?:\b(?:say|object|think|claim|argue|believe)\b|:)"
)
"""What makes words of judgement less than plain, or says them of both."""


def implied(text: str) -> str | None:
    """The letter that a reply means by all that it says of both; None where that does not point one way.

    One side is not enough: of replies by authors who knew no rule, those in which only one letter was praised or blamed
    were the ones that came out wrong.

    Args:
        text: a canonical reply to a question of which one of A and B is right; the time is linear in its length.
    """
    if _UNDECIDED.search(text) or _HEDGED.search(text) or not _explains(text):
        return None
    said = list(evidence(text))
    if not said:
        return tells_the_same(text)
    ranked = {remark.letter if remark.is_good else _other(remark.letter) for remark in said if remark.ranks}
    net = {letter: _net([remark for remark in said if remark.letter == letter and not remark.ranks]) for letter in "AB"}
    for letter in "AB":
        speaks_for = net[letter] == "good" or ranked == {letter}
        if speaks_for and net[_other(letter)] == "bad" and net[letter] in ("good", None) and ranked <= {letter}:
            return letter
    return None


def _explains(text: str) -> bool:
    """Whether a reply calls a letter a summary and holds more than a bare judgement, which is for the strict rules."""
    if len(text.split()) <= _BARE or not _CALLED.search(text) or _OTHER_THINGS.search(text):
        return False
    return sum(1 for sentence in sentences(text) for _ in pieces(sentence.text)) > 1


def _net(said: Sequence[ReplyEvidence]) -> str | None:
    """How a letter comes off; what follows a "but" counts for more than what was granted before it."""
    signs = [remark.is_good for remark in said]
    turns = [place for place in range(1, len(said)) if said[place].turned and signs[place] != signs[place - 1]]
    last = said[turns[-1] :] if turns else said
    if not last:
        return None
    if len({remark.is_good for remark in last}) > 1:
        return "mixed"
    if not last[0].is_good:
        return "bad"
    return "good" if any(remark.is_plain for remark in last) else "not bad"


def _other(letter: str | None) -> str:
    return "A" if letter == "B" else "B"


# Which of A and B tells what the article tells, where a reply retells all three and does not conclude.
#
# "Summary A says $5,000 and Summary B says $50,000. The article gives the fine as $5,000." Of the numbers and names
# that only one of the two is said to tell, the article must be said to tell some of the one and none of the other.

_SOURCE = r"(?:the|this|original|source) (?:\w+ )?(?:article|text|source|passage|report|story)\b"
_TELLS = (
    r"(?:says?|said|states?|claims?|reports?|mentions?|asserts?|suggests?|implies|describes?|indicates?|notes?|writes?"
    r"|tells|speaks|talks|gives|names|has|had|puts|places|calls|maintains|attributes|credits|dates|lists|quotes"
    r"|specifies|confirms|makes it clear|makes clear|refers to|identifies|explains|shows|sets|locates|is clear)"
)
_ASIDE = r"(?:,? (?:on the other hand|however|in contrast|by contrast|instead|meanwhile),?)?"
_SPEAKS = expression(
    rf"(?:\b(?:(?i:summary|option) )?(?P<letter>[AB])(?![\w'])\^?|(?i:{_SOURCE})){_ASIDE}"
    rf"(?: ?:|(?: (?:\w+ly|also|itself|instead))? {_TELLS}\b)"
    rf"|(?i:\bin (?:summary )?)(?P<within>[AB])(?:,\s|\s(?=it ))|(?i:\b(?:according to|in) {_SOURCE},?)"
)
"""Where a letter or, with neither group, the article begins to tell something."""
_FACT = expression(
    r"[$\u20ac\u00a3]?\d[\d.,:]*(?:\s?%)?|(?<=[a-z,] )[A-Z][\w'-]+|(?i:\b(?:two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|twenty|thirty|forty|fifty|first|second|third|fourth|fifth|hundred|thousand|million|billion)\b)"
)
"""A number or a name: what two summaries may differ in, and what no other part of a sentence repeats by chance."""
_DENIES = expression(
    r"(?i)\b(?:not|never|no|neither|nor|none|rather|instead|wrong\w*|in(?:correct|accurat)\w*|unlike|contrary)\b|n't\b"
)


def tells_the_same(text: str) -> str | None:
    """The letter whose numbers and names the article is said to share; None where the two do not part so.

    Args:
        text: a canonical reply; the time is linear in its length.
    """
    facts_of: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences(text):
        tellers = list(_SPEAKS.finditer(sentence.text))
        ends = [teller.start() for teller in tellers[1:]] + [len(sentence.text)]
        for teller, end in zip(tellers, ends, strict=False):
            content = sentence.text[teller.end() : end]
            if sentence.stop == "?" or _DENIES.search(content):
                return None
            facts = {fact.lower().strip(".,'") for fact in _FACT.findall(content)}
            facts_of[teller["letter"] or teller["within"] or "article"] |= facts
    shared = {one: (facts_of[one] - facts_of[other]) & facts_of["article"] for one, other in (("A", "B"), ("B", "A"))}
    if not (facts_of["A"] and facts_of["B"]) or bool(shared["A"]) == bool(shared["B"]):
        return None
    return "A" if shared["A"] else "B"

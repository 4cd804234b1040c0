"""Which of A and B tells what the article tells, where a reply retells all three and does not conclude.

"Summary A says $5,000 and Summary B says $50,000. The article gives the fine as $5,000." Of the numbers and names that
only one of the two is said to tell, the article must be said to tell some of the one and none of the other.
"""

from __future__ import annotations

import re
from collections import defaultdict

from contrapose.tasks.probes.replies.text import sentences

_SOURCE = r"(?:the|this|original|source) (?:\w+ )?(?:article|text|source|passage|report|story)\b"
_TELLS = (
    r"(?:says?|said|states?|claims?|reports?|mentions?|asserts?|suggests?|implies|describes?|indicates?|notes?|writes?"
    r"|tells|speaks|talks|gives|names|has|had|puts|places|calls|maintains|attributes|credits|dates|lists|quotes"
    r"|specifies|confirms|makes it clear|makes clear|refers to|identifies|explains|shows|sets|locates|is clear)"
)
_ASIDE = r"(?:,? (?:on the other hand|however|in contrast|by contrast|instead|meanwhile),?)?"
_SPEAKS = re.compile(
    rf"(?:\b(?:(?i:summary|option) )?(?P<letter>[AB])(?![\w'])\^?|(?i:{_SOURCE})){_ASIDE}"
    rf"(?: ?:|(?: (?:\w+ly|also|itself|instead))? {_TELLS}\b)"
    rf"|(?i:\bin (?:summary )?)(?P<within>[AB])(?:,\s|\s(?=it ))|(?i:\b(?:according to|in) {_SOURCE},?)"
)
"""Where a letter or, with neither group, the article begins to tell something."""
_FACT = re.compile(
    r"[$\u20ac\u00a3]?\d[\d.,:]*(?:\s?%)?|(?<=[a-z,] )[A-Z][\w'-]+|(?i:\b(?:two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|twenty|thirty|forty|fifty|first|second|third|fourth|fifth|hundred|thousand|million|billion)\b)"
)
"""A number or a name: what two summaries may differ in, and what no other part of a sentence repeats by chance."""
_DENIES = re.compile(
    r"(?i)\b(?:not|never|no|neither|nor|none|rather|instead|wrong\w*|in(?:correct|accurat)\w*|unlike|contrary)\b|n't\b"
)


def tells_the_same(text: str) -> str | None:
    """The letter whose numbers and names the article is said to share; None where the two do not part so.

    Args:
        text: a canonical reply; the time is linear in its length.
    """
    told: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences(text):
        found = list(_SPEAKS.finditer(sentence.text))
        ends = [each.start() for each in found[1:]] + [len(sentence.text)]
        for each, end in zip(found, ends, strict=False):
            content = sentence.text[each.end() : end]
            if sentence.stop == "?" or _DENIES.search(content):
                return None
            facts = {fact.lower().strip(".,'") for fact in _FACT.findall(content)}
            told[each["letter"] or each["within"] or "article"] |= facts
    shared = {one: (told[one] - told[other]) & told["article"] for one, other in (("A", "B"), ("B", "A"))}
    if not (told["A"] and told["B"]) or bool(shared["A"]) == bool(shared["B"]):
        return None
    return "A" if shared["A"] else "B"

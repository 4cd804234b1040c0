"""Asides after a letter: appositions, comparisons and side remarks, which say nothing by themselves.

"Summary B, which says 120, is wrong" is about what stands after the second comma. An aside is taken out where a verb
follows it; where none does, the letter before it chooses nothing, unless what follows plainly gives a reason.
"""

from __future__ import annotations

import re

from contrapose.tasks.probes.replies.rewrites import NOUN

_NAMED = rf"(?:{NOUN})?\b[AB](?![\w'])\^?"
_LETTER = r"\b[AB](?![\w'])"
_NOT_VERBS = (
    r"as|this|its|his|plus|whereas|thus|besides|always|unless|perhaps|sometimes|across|towards|versus|yes|less|hers|ours"
    r"|theirs|articles|summaries|facts|details|numbers|others|words|years|people's"
)
VERB = (
    r"(?:(?:also|only|simply|just|still|therefore|thus|then|even|never|actually|not|both|wrongly|\w{2,}ly)\s+){0,2}"
    r"(?:is|isn't|was|wasn't|are|were|has|hasn't|had|does|doesn't|did|didn't|do|can|can't|cannot|could|should|would|may"
    r"|might|must|will|won't|seems|appears|got|made|said|failed|did"
    rf"|(?!(?:{_NOT_VERBS})\b)[a-z]{{3,}}s)\b"
)
"""A finite verb of the third person, with up to two adverbs: "is", "contradicts", "clearly gets"."""
_COMPARED = re.compile(
    r"(?i)(?:[,(]\s*(?:just )?like|[,(]?\s+(?:unlike|as opposed to|in contrast (?:to|with)|contrary to|as against"
    rf"|(?:as |when )?compared (?:to|with)|(?:in|by) comparison (?:to|with)))\s+(?-i:{_NAMED})\)?"
)
# No colon or semicolon stands in an aside, and no other letter, which would be the subject of what follows.
_WITHIN = rf"(?:(?!{_LETTER})[^,;:()\n]){{1,100}}"
_ASIDES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<named>{_NAMED})\s*\((?:(?!{_LETTER})[^()\n]){{1,120}}\),?\s+(?={VERB})",
        rf"(?P<named>{_NAMED})\s+[-\u2013\u2014]{{1,3}}\s+(?:(?!{_LETTER})[^;:()\n]){{1,120}}?"
        rf"\s+[-\u2013\u2014]{{1,3}}\s+(?={VERB})",
        rf"(?P<named>{_NAMED}),\s+{_WITHIN}(?:,\s+(?!{VERB}){_WITHIN}){{0,2}},\s+(?={VERB})",
        rf"(?P<named>{_NAMED}),\s+(?={VERB})",
    )
)
_REASONS = re.compile(
    r"(?i)(?:and (?:not|i|it|the|my|that)\b|not|rather than|instead|because|since|for\b|given|due to|based on"
    r"|considering|as (?!written|stated|given|is\b|it stands|such|well|a whole|for|opposed|compared|far)"
    r"|of course|definitely|certainly|clearly|surely|obviously|undoubtedly|without|no doubt|hands down|for sure|indeed"
    r"|i (?:think|guess|believe|say|suppose|would|am|choose|pick)|i'd|i'm|in my|imo|if i had"
    r"|(?:it|this|that|the (?:article|text|passage|source|first|second|other|former|latter|one|correct|consistent))\b"
    r"|so\b|therefore|thus|hence|please|thanks|final|my\b|confidence|=>)"
)
_HEDGED = re.compile(
    r"(?i)(?:the (?:one|first|second|other|former|latter)\b.*\b(?:says?|that|which|with|letter)\b"
    r"|(?:it|this|that) (?:says|claims|states)\b"
    r"|(?:it|this) (?:is|was|does|may|might|seems)\b.*\b(?:wrong|not|incorrect|but)\b|for (?:example|instance)\b)"
)


def without_asides(sentence: str) -> str:
    """A sentence in which no aside stands between a letter and its verb.

    Args:
        sentence: one sentence of a canonical reply; the time is linear in its length.
    """
    plain = _COMPARED.sub(",", sentence).replace(",,", ",")
    for aside in _ASIDES:
        plain = aside.sub(lambda found: found["named"] + " ", plain)
    return plain


def gives_reason(rest: str) -> bool:
    """Whether what follows "A, " explains or underlines a choice: "because", "not B", "I think"; an aside does not."""
    return _REASONS.match(rest) is not None and _HEDGED.match(rest) is None

"""Rate what a predicate says about its subject: "is more consistent than …", "contradicts …", "is not correct"."""

from __future__ import annotations

from enum import IntEnum

from contrapose.tasks.language.closed import words
from contrapose.tasks.language.expression import expression


class Strength(IntEnum):
    """How strongly a statement chooses or rejects a letter; a stronger statement overrules a weaker one."""

    WRONG = -1
    """What the letter stands for is said to be wrong, in so many words."""
    REJECTED = 0
    """The letter is not chosen: "is not the answer", "is not better"."""
    PRAISE = 1
    """"Summary A is consistent", which may hold for both."""
    LINE = 2
    """A letter that stands alone, or opens a sentence."""
    CHOICE = 3
    """"The answer is A", "A is more consistent than B"."""
    CONCLUSION = 4
    """"Therefore, A"."""
    FINAL = 5
    """"Final answer: A"."""


_BE = words("is was would should seems appears looks must stays remains")
_FILLERS = words("""
    the to be that which clearly actually definitely indeed really certainly slightly fully completely entirely
    factually also probably likely much far very quite accurately correctly faithfully closely considered directly
    therefore thus both then still 100% indeed clear obvious final my
""")
_COMPARES = words("more most better best only closer closest stronger superior preferable")
_GOOD = words("""
    consistent accurate correct right faithful factual true truthful aligned supported reliable precise valid compatible
""")
_CONFIRMED = words("confirmed corroborated verified backed")
_BAD = words("""
    inconsistent incorrect inaccurate wrong false untrue unsupported misleading unfaithful worse worst less contradicted
    contradictory refuted disproved erroneous mistaken swapped reversed inverted backwards
""")
_AFTER_BAD = words("""
    with about on in as to by for and regarding concerning here at when according than because since per of from if due
    given but say saying state stating claim claiming
""")
_BLAMES = words("""
    contradicts misrepresents misstates distorts incorrectly inaccurately wrongly falsely erroneously mistakenly
    conflicts disagrees misreports misquotes misattributes misidentifies misplaces reverses inverts swaps fabricates
    invents falsifies confuses
""")
_CONTRADICTS = words("contradicts conflicts disagrees")
_FALLS_SHORT = words("fails omits")
_ERRORS = words("""
    error errors mistake mistakes inaccuracy inaccuracies contradiction contradictions falsehood misstatement
    inconsistency inconsistencies discrepancy discrepancies
""")
_AGREES = words("""
    matches reflects aligns agrees represents conveys captures summarizes summarises follows fits corresponds mirrors
    sticks adheres preserves keeps retains
""")
_AGREE = words("match reflect align agree represent convey capture follow fit correspond mirror")
_BARE = words("matches agrees fits corresponds wins passes")
_HAS = words("has gives provides contains offers gets makes introduces includes")
_SOURCES = words("article text source original facts passage content information it")
_FACTS = _SOURCES | words("this that what fact report story news figure date number statement article's text's")
_FITTING = words("convincing trustworthy appropriate suitable credible")
_FORM = words("order sequence style tone length wording title headline structure format language")
_THINGS = words("""
    one summary answer choice option statement match fit response output version text representation reflection
    candidate pick account description
""")
_WELL = words("accurately correctly faithfully")
_SAYS = words("states says reports notes mentions describes reflects identifies summarizes summarises conveys")
_IN_PART = expression(
    r"\b(?:in (?:some|most|many|certain|several) \w+|to (?:some|an?|a certain) \w+|(?:and|or) (?:not|in\w+|false|wrong"
    r"|untrue)|at first|partly|partially|initially|half|in part|in (?:general|style|tone|theory|principle)|opposite"
    r"|only (?:about|in|on|for)|hardly|barely|scarcely|nearly|almost|possibly|supposedly|allegedly|superficially"
    r"|seemingly)\b|\bonly$"
)
_REPORTS = expression(
    r"(?:is|says|states) (?:exactly )?what the \w+ (?:says|states|reports)\b|says the same\b.* as the \w+$"
)
_THE_ONE_THAT = expression(
    r"(?:is|was) (?:clearly |obviously |indeed |in fact )?the (?:only |right |correct )?"
    r"(?:one|summary|option|choice|version|text|statement) (?:that|which) "
)
_OPPOSITE = expression(
    r"(?:says|states|claims|asserts|is) (?:exactly |just |quite )?the (?:exact |very )?opposite (?:of|to) (?:what )?the"
    r" (?:article|text|source|passage|original)\b"
)
_BETTER_JOB = expression(r"(?:does|did) (?:much )?better job\b|is better at \w+ing\b")
_CHOSEN = expression(
    r"(?:should|must|has to|ought to|is to) (?:\w+ly )?be (?:picked|chosen|selected|preferred)\b|(?:is|was) (?:\w+ly "
    r")?preferable\b|(?:comes out|is) (?:well |clearly )?(?:ahead|on top)\b|(?:has|takes) the edge\b|(?:gets|has|wins) "
    r"my vote\b|(?:\w+ly )?wins\b(?! (?:the|a|an|his|her|their)\b)|(?:is|seems|appears)(?: \w+ly| to be)? the (?:safer"
    r"|safest|sounder|soundest|stronger|more \w+|better|best) (?:and (?:\w+ ){1,2})?(?:choice|one|option|pick|account"
    r"|version|candidate|bet|reading|of the two)\b"
)
_REFUSED = expression(
    r"(?:is|must be|has to be|can be|should be) (?:\w+ly )?"
    r"(?:rejected|disqualified|ruled out|eliminated|discarded|dismissed|excluded)\b"
)
_LOYAL = expression(
    r"(?:\w+ly )?(?:stays|sticks|hews|keeps|remains|clings|comes|is) (?:\w+ly )?(?:close|closer|closest|closely|more "
    r"closely|faithful|true|loyal|strictly)? ?to (?:what )?the (?:article|text|source|passage|original|facts)\b"
)
_MADE_UP = expression(
    r"(?:\w+ly )?(?:makes? (?:[\w']+ ){1,4}up\b|makes? up|made up|mixes up|mixed up|gets (?:[\w']+ ){1,4}(?:wrong"
    r"|backwards|the wrong way round)|hallucinates|hallucinated|conflates|(?:swaps|swapped|flips|flipped|reverses"
    r"|reversed|inverts|switches|switched) (?:who|which|what|the|two)\b|(?:has|had) the wrong (?!impression|idea|kind"
    r"|sort|way)\w+|mis(?!s|spell|took|take|led|l)\w{3,}s\b|turn(?:s|ed) (?:[\w'-]+ ){1,8}into\b)"
)
_PICKED = expression(
    r"(?:is|would be) (?:what|the one|the summary|the option|the answer)?\s?(?:that )?(?:i(?:'d|'ll| would| will)?|to)"
    r" (?:choose|pick|select|go with)\b"
)
_IN_LINE = expression(r"\bin (?:line|agreement|accordance|keeping|accord) with\b")
_AT_ODDS = expression(
    r"\b(?:at odds|in (?:\w+ )?(?:conflict|contradiction|disagreement)) (?:with|to)\b|\bcontrary to\b"
)
_AGAINST = expression(
    r"^(?:\w+ly )?(?:goes against|runs (?:counter|contrary) to|clashes with|(?:departs|deviates|strays) from)\b"
)
_BECAUSE = expression(
    r"\s+(?:because|since|in that|due to|given|as (?:it|the|this|that|its|both)|for (?:the|this|that|these) reasons?"
    r"|for \w+ing|by \w+ing)\b|[;:]|\.\s"
)
_NEAR = 6
"""Words after "reflects" among which the article must stand for it to praise."""
_READ = 14
_ARTICLE = expression(r"\ban? (?=[a-z])")
_HOLDS = expression(r"(?:holds (?:up|true)|stands up|checks out|gets it right)(?: \w+ly)?$")
_CUT_OFF = words("with than to the of an or and but")
_CLEARED = words("contradict misrepresent misstate distort conflict")
_NOT = words("not isn't wasn't doesn't never")


def rate_predicate(predicate: str) -> Strength | None:
    """Return the strength of the words after "Summary A", such as `is more consistent than Summary B`, or None."""
    predicate = _IN_LINE.sub("consistent with", _ARTICLE.sub("", predicate).lower())
    predicate = _AGAINST.sub("contradicts", _AT_ODDS.sub("inconsistent with", predicate))
    if described := _THE_ONE_THAT.match(predicate):
        inner = rate_predicate(predicate[described.end() :])
        if inner is not None:
            return Strength.CHOICE if inner is Strength.PRAISE else inner
    if any(pattern.match(predicate) for pattern in (_PICKED, _BETTER_JOB, _CHOSEN)):
        return Strength.CHOICE
    if _MADE_UP.match(predicate) or _REFUSED.match(predicate):
        return None if _IN_PART.search(predicate) else Strength.WRONG
    if _LOYAL.match(predicate):
        return None if _IN_PART.search(predicate) else Strength.PRAISE
    judgement = _BECAUSE.split(predicate, maxsplit=1)[0]
    # Something is altered, added, misplaced, or no part of the article.
    if any(pattern.match(predicate) for pattern in (_OPPOSITE, _NOWHERE, _ADDS)):
        return Strength.WRONG
    if any(pattern.match(judgement) for pattern in (_ALTERS, _WRONG_ONE, _DENIED_THERE)):
        return Strength.WRONG
    if _REPORTS.match(predicate) or _HOLDS.match(predicate):
        return Strength.PRAISE
    words = [word.strip("()^:") for word in judgement.split()]
    if not words or words[-1] in _CUT_OFF:
        return None
    words = words[:_READ]
    if words[0] in _NOT or (words[0] in _BE | {"does"} and words[1:2] == ["not"]):
        passed = _FILLERS | _NOT | _BE | _COMPARES | {"does", "as"}
        judged = next((word for word in words if word not in passed and not _is_manner(word)), "")
        if judged in _CONFIRMED:
            return Strength.WRONG if _SOURCES & set(words) else None
        if judged in _CLEARED:
            return Strength.PRAISE if _SOURCES & set(words) else None
        if judged in _GOOD | _AGREE:
            return Strength.REJECTED if _COMPARES & set(words) else Strength.WRONG
        return Strength.REJECTED if judged in _THINGS else None
    kept = [word for word in words if word not in _FILLERS and not _is_manner(word)]
    if not kept or _IN_PART.search(judgement):
        return None
    if kept[0] in _SAYS and _WELL & {words[0], words[-1]}:
        return Strength.PRAISE
    if words[0] == "does" and kept[1:] and kept[1] in _AGREE:
        return Strength.PRAISE if _SOURCES & set(kept) else None
    return _rate_state([word for word in kept if word not in _BE], words) if kept[0] in _BE else _rate_action(kept)


def _is_manner(word: str) -> bool:
    """Return whether a word only says how ("absolutely"), unlike "wrongly", which says that something is wrong."""
    return word.endswith("ly") and word not in _BLAMES | {"only"}


def _rate_state(kept: list[str], words: list[str]) -> Strength | None:
    """Rate the words after "is": "consistent" is praise; "more consistent" and "the correct one" choose."""
    first, second = ([*kept, "", ""])[:2]
    if first in _BAD or (first in _COMPARES and second in _BAD):
        # "Is wrong about …" blames the summary, "is a false alarm" does not.
        rest = kept[1:] if first in _BAD - {"less"} else kept[2:]
        blames = not rest or (rest[0] in _AFTER_BAD | _THINGS and not _refers_to_rival(rest))
        return Strength.WRONG if blames and (rest[:1] != ["than"] or _is_rival(rest[1:])) else None
    if first in _COMPARES:
        bare = first not in {"more", "most"} and (second == "" or (second in {"than", "to"} and _is_rival(kept[2:])))
        return Strength.CHOICE if bare or second in _SOURCES | _GOOD | _THINGS | _FITTING else None
    if first in _GOOD | _CONFIRMED:
        # "The correct summary" chooses, "correct with the article" praises, "correct with Summary B" does neither.
        if "the" in words and second in _THINGS:
            return Strength.CHOICE
        return None if _refers_to_rival(kept[1:]) else Strength.PRAISE
    the_one = (
        first in _THINGS and {"the", "my"} & set(words) and (second in _GOOD | _AGREES | {""} or first == "answer")
    )
    return Strength.CHOICE if the_one else None


def _is_rival(rest: list[str]) -> bool:
    """Return whether a comparison is with the other summary, not with "nothing" or "I expected"."""
    return not rest or bool({"a", "b", "summary", "option", "other", "both-letters"} & set(rest[:3]))


def _refers_to_rival(rest: list[str]) -> bool:
    """Return whether an adjective refers to the other summary: "inconsistent with Summary A"."""
    return rest[:1] in (["with"], ["as"], ["by"], ["to"]) and bool({"a", "b", "summary"} & set(rest[1:3]))


def _rate_action(kept: list[str]) -> Strength | None:
    """Rate a verb: "contradicts" rejects, "matches the article" praises, "better matches …" chooses."""
    if kept[0] in _FALLS_SHORT:
        return Strength.WRONG if kept[1:2] and kept[1] in _AGREE else Strength.REJECTED
    if kept[0] == "confuses" and set(kept[1:3]) & {"me", "us", "reader", "readers", "people"}:
        return None
    if kept[0] in _BLAMES:
        # The article must be contradicted, and not the other summary, itself, or common sense.
        about = not {"a", "b", "summary"} & set(kept[1:3])
        if kept[0] in _CONTRADICTS:
            about = not kept[1:] or (bool(_FACTS & set(kept[1:_NEAR])) and not {"a", "b"} & set(kept[1:4]))
        return Strength.WRONG if about else None
    if kept[0] in _HAS:
        return _read_having(kept[1:])
    if len(kept) == 1 and kept[0] in _BARE:
        return Strength.PRAISE
    compared = kept[0] in _COMPARES
    verb = ([*kept, ""])[1 if compared else 0]
    if kept[1:2] and kept[0] in _AGREES and kept[1] in {"better", "best"}:
        return Strength.CHOICE
    after = kept[2 if compared else 1 :]
    after = after[:_NEAR]
    # What is matched must be the article, or what it says: "the article's statement", but not its style.
    owned = {word.removesuffix("'s") for word in after} if not _FORM & set(after) else set(after)
    if verb not in _AGREES or not ((_SOURCES - {"it"}) & owned or after[-1:] == ["it"]):
        return None
    return Strength.CHOICE if compared else Strength.PRAISE


def _read_having(rest: list[str]) -> Strength | None:
    """Rate an object: "has more accurate information" chooses, "gets it right" and "gives the correct year" praise."""
    if rest[1:] and rest[0] in _COMPARES and rest[1] in _GOOD:
        return Strength.CHOICE
    if _ERRORS & set(rest[:3]) and rest[0] not in {"no", "some", "minor", "few", "fewer", "less"}:
        return Strength.WRONG
    judged = next((word for word in rest if word in _GOOD | _BAD), "")
    if not judged or "impression" in rest or (rest[0] not in {judged, "it", "this"} and rest[-1] != judged):
        return None
    if judged in _BAD and "fact" not in rest:
        return Strength.WRONG
    return Strength.PRAISE if judged in _GOOD else None


_NOWHERE = expression(
    r"(?:is|was|are) (?:nowhere|(?:not|never) (?:\w+ly )?(?:what|(?:(?:in|mentioned|stated|said|supported|found"
    r"|reported|present|backed|confirmed|borne)\b)))"
    r"(?: \w+){0,3} the (?:article|text|source|passage|original)\b(?: (?:says?|states?|reports?|itself))?$"
)
"""How something told is said to be no part of the article."""
_ADDS = expression(
    r"(?:\w+ly )?(?:introduces|adds|includes|contains|mentions|presents|makes|gives|provides|has) (?:\w+ "
    r"){0,2}(?:information|details?|claims?|facts?|statements?|events?|elements?|figures?) (?:(?:that|which) )?(?:(?:is"
    r"|are|was|were) )?(?:not|never|nowhere) (?:\w+ ){0,3}the (?:article|text|source|passage|original)\b"
)
_WRONG_ONE = expression(
    r"(?:\w+ly )?(?:attributes|gives|names|places|puts|cites|quotes|identifies|uses|reports|credits|blames"
    r"|assigns|locates|dates|has|gets|lists|ascribes|picks|provides|contains) (?:(?!not\b"
    r"|no\b)[\w']+ ){0,6}?the wrong (?!impression|idea|kind|sort|way)\w+(?: (?:of|for|in|at|to|as)\b|$)"
)
"""The wrong person, place or time is named: "attributes the quote to the wrong minister"."""
_ALTERS = expression(
    r"(?:\w+ly )?(?:alters|changes|twists|garbles|flips|reverses|inverts|misunderstands) (?:an? |the |one )?(?:\w+ )?"
    r"(?:facts?|meaning|sense|outcome|details?)\b(?! (?:of|in) (?:summary|[ab])\b)|mistakes (?:[\w']+ ){1,5}for "
    r"|(?:\w+ly )?(?:turns|has|gets) (?:it|this|that|things|(?:the )?\w+) (?:upside down|backwards?"
    r"|(?:the wrong )?way round|on its head|around the wrong way|into its opposite)$"
)
_DENIED_THERE = expression(
    r"(?:\w+ly )?(?:says|states|asserts|claims|reports|tells) (?:something|things|what) (?:that )?the"
    r" (?:article|text|source|passage) (?:\w+ly )?(?:denies|contradicts|rules out|does not say|never says)\b"
    r"|is (?:\w+ly )?(?:off|in error)$"
)

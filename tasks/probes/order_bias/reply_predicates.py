"""What a sentence says about its subject: "is more consistent than …", "contradicts …", "is not correct"."""

from __future__ import annotations

from enum import IntEnum


class Strength(IntEnum):
    """How plainly a letter is chosen; a stronger statement overrules a weaker one."""

    REJECTED = 0
    """The letter is said to be wrong, which does not choose the other one."""
    LABEL = 1
    """A heading such as "Summary A: …"."""
    PRAISE = 2
    """"Summary A is consistent", which may hold for both."""
    LINE = 3
    """A letter that stands alone, or opens a sentence."""
    CHOICE = 4
    """"The answer is A", "A is more consistent than B"."""
    CONCLUSION = 5
    """"Therefore, A"."""
    FINAL = 6
    """"Final answer: A"."""


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_BE = _words("is was would seems appears looks")
_FILLERS = _words(
    "the to be that which clearly actually definitely indeed really certainly slightly fully completely",
    "entirely factually also probably likely much far very quite accurately correctly faithfully closely",
    "directly therefore thus both then still",
)
_COMPARES = _words("more most better best only closer closest")
_GOOD = _words("consistent accurate correct right faithful factual true truthful aligned supported preferable superior")
_BAD = _words("inconsistent incorrect inaccurate wrong false untrue unsupported misleading unfaithful worse worst less")
_BLAMES = _words("contradicts misrepresents misstates distorts fails incorrectly inaccurately wrongly falsely omits")
_AGREES = _words("matches reflects aligns agrees represents conveys captures summarizes summarises states follows")
_AGREE = _words("match reflect align agree represent convey capture follow")
_SOURCES = _words("article text source original facts passage content information")
_THINGS = _words("one summary answer choice option statement match")
_NOT = _words("not isn't wasn't doesn't never")


def verdict(predicate: str) -> Strength | None:
    """What the words after "Summary A" say about it.

    Args:
        predicate: the rest of the clause, such as `is more consistent than Summary B`.

    Returns:
        `REJECTED`, `PRAISE` or `CHOICE`; None when the words are no judgement.
    """
    words = [word.strip("()^:").lower() for word in predicate.split()[:14]]
    if not words:
        return None
    if words[0] in _NOT or (words[0] in _BE | {"does"} and words[1:2] == ["not"]):
        return _denied(words)
    kept = [word for word in words if word not in _FILLERS]
    if not kept:
        return None
    return _state([word for word in kept if word not in _BE], words) if kept[0] in _BE else _action(kept)


def _denied(words: list[str]) -> Strength | None:
    """Read "is not consistent" and "does not match" as rejections; "is not wrong" says nothing."""
    passed = _FILLERS | _NOT | _BE | _COMPARES | {"does", "as"}
    judged = next((word for word in words if word not in passed), "")
    return Strength.REJECTED if judged in _GOOD | _AGREE | _THINGS else None


def _state(kept: list[str], words: list[str]) -> Strength | None:
    """What follows "is": "consistent" is praise; "more consistent" and "the correct one" choose."""
    first, second = ([*kept, "", ""])[:2]
    if first in _BAD or (first in _COMPARES and second in _BAD):
        return Strength.REJECTED
    if first in _COMPARES:
        return Strength.CHOICE if second in _GOOD | _THINGS | {"", "than"} else None
    if first in _GOOD:
        return _praise(kept[1:])
    the_one = first in _THINGS and "the" in words and (second in _GOOD | {""} or first == "answer")
    return Strength.CHOICE if the_one else None


def _praise(rest: list[str]) -> Strength | None:
    """What "correct …" says: "summary" chooses, "with the article" praises, "with Summary B" does neither."""
    if rest and rest[0] in _THINGS:
        return Strength.CHOICE
    beside = rest[:1] in (["with"], ["as"]) and bool({"a", "b", "summary"} & set(rest[1:3]))
    return None if beside else Strength.PRAISE


def _action(kept: list[str]) -> Strength | None:
    """Read "contradicts" as a rejection, "matches the article" as praise, "better matches …" as a choice."""
    if kept[0] in _BLAMES:
        return Strength.REJECTED
    compared = kept[0] in _COMPARES
    verb = ([*kept, ""])[1 if compared else 0]
    if verb not in _AGREES or not _SOURCES & set(kept):
        return None
    return Strength.CHOICE if compared else Strength.PRAISE

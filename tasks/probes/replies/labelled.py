"""What a reply with marks states about its options: which one is chosen and how plainly, and which are ruled out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from contrapose.tasks.probes.replies import clauses
from contrapose.tasks.probes.replies.marks import LETTER, MARK, place_of


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


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a reply with where they begin; a line ends one as a full stop does. Questions are left out."""
    start = 0
    for stop in re.finditer(r"(?<=[.!?])\s(?!(?<=[\ue200-\ue2fe]\.\s)[a-z])|\n|$", text):
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
    for pattern in (*clauses.ANYWHERE, *clauses.BY_LETTER, *clauses.NAMES, *(clauses.LOOSE if brief else ())):
        for found in pattern.finditer(sentence):
            by_letter = re.match(LETTER, found["mark"]) is not None
            named = not by_letter and pattern not in clauses.ANYWHERE
            if clauses.AND_ALSO.match(sentence, found.end("mark")) or _is_taken_back(found, sentence):
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
    if clauses.INSTEAD.search(found[0]):
        return False
    before = sentence[: found.start("mark")]
    breaks = [each.end() for each in clauses.CLAUSE.finditer(clauses.LED_UP.sub("", before) + " ")]
    doubtful = (before[breaks[-1] if breaks else 0 :], before[found.start() :])
    return any((clauses.CONDITION.search(before), *map(clauses.DOUBT.search, doubtful)))


def _is_taken_back(found: re.Match[str], sentence: str) -> bool:
    """Whether praise ("B is the best …") goes on to say that it is not the choice."""
    praises = found.end() > found.end("mark") + 2 and found.re not in clauses.ANYWHERE
    return praises and clauses.TAKES_BACK.search(sentence, found.end()) is not None


def _names_several(found: re.Match[str], sentence: str) -> bool:
    """Whether another option is named beside the one in question, in other words than a reason."""
    reason = re.search(r"\b(?:because|since|as)\b", sentence[found.end("mark") :])
    said = sentence[: found.end("mark") + reason.start()] if reason else sentence
    return {place_of(each) for each in re.findall(MARK, said)} != {place_of(found["mark"])}


def _plainness(before: str) -> Plainness:
    return Plainness.CONCLUDED if clauses.CONCLUDES.search(before) else Plainness.STATED


def ruled_out(text: str) -> set[int]:
    """Positions of the options that a reply says are wrong."""
    return {place_of(found["first"] or found["second"]) for found in clauses.RULED_OUT.finditer(text)}


def declines(text: str, position: int) -> bool:
    """Whether a reply ends by choosing nothing after all: "B. cone. But it depends."."""
    return clauses.DECLINES.search(text, position) is not None


def wondered(text: str, position: int) -> set[int]:
    """Positions of the options that are considered after a choice: "B. Or maybe C?"."""
    return {place_of(found["mark"] or found["also"]) for found in clauses.ALSO.finditer(text, position)}

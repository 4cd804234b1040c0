"""Controls of an edit: the same text in another dress, or beside a sentence whose "not" is about something else.

A model that understands a negation must tell one that changes the question from one that does not. Minimal pairs of
both kinds are from J. She, C. Potts, S. R. Bowman, A. Geiger, ScoNe (ACL 2023); paraphrases beside changes of scope
from A. Ravichander, M. Gardner, A. Marasović, CONDAQA (EMNLP 2022), and from Y. So et al., Thunder-NUBench (2025).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from contrapose.tasks.language.closed import words
from contrapose.tasks.probes.base import UNRELATED_NOT

ADVERBIALS = ("To begin: ", "First of all: ", "Next: ", "Now this one: ", "To go on: ")
"""They open a text, and add nothing to what it says."""
POLITE_BEFORE = ("Please note: ", "Please consider this: ", "Please have a look at this: ", "Thank you for your help. ")
POLITE_AFTER = (" Thank you.", " Many thanks.", " Thanks in advance.")
PROCEDURE = (
    "This is not a trick question.",
    "You are not being timed.",
    "You do not need to hurry.",
    "You don't have to hurry.",
    "This does not count towards a grade.",
    "It does not matter how long this takes.",
    "The time is not limited.",
    "Nobody else will read this, so do not be nervous.",
)
"""Each speaks of the procedure alone: with or without it, the same answers are right."""
OF_THE_REPLY = (
    "Do not explain your answer.",
    "You do not have to give reasons.",
    "Please do not repeat the question.",
    "Don't write anything else.",
)
"""Those that ask for a form of the reply, which would change the words of an answer without options."""

_FINISHED = re.compile(r"[.?!][\"'”’)\]]*\s*\Z")
_JOINED = re.compile(
    r"(?P<before>(?:.*[.?!] )?)(?P<word>If|When|Because|Although|After|Before|Once|Unless|In|On|During) "
    r"(?P<rest>[\w'’ -]+), (?P<main>[\w'’ -]+)(?P<mark>[.?])",
    re.DOTALL,
)
_HINDER = words(
    "he she it they him her them his its their theirs this that these those who whom whose which and or but to because "
    "when if after before while although unless once there then so not"
)
"""Words of a main clause behind which a clause could belong to something else, or have lost what it refers to."""
_MOST_WORDS = 9
"""Of a main clause: behind a longer one, what it is joined to is far away."""


class Control(NamedTuple):
    """A text that asks for the answer of the original."""

    kind: str
    """How it differs: `adverbial`, `polite`, `punctuation`, `clause_order` or `unrelated_not`."""
    text: str


def reworded_control(text: str, *, rng: random.Random, options: bool) -> Control:
    """Return the text in another dress, of a kind that the generator draws among those that it allows."""
    kinds = rng.sample(sorted(_KINDS), len(_KINDS))
    changed = ((kind, _KINDS[kind](text, rng, options)) for kind in kinds)
    return next(Control(kind, twin) for kind, twin in changed if twin is not None and twin != text)


def unrelated_not_control(text: str, *, rng: random.Random, options: bool) -> Control:
    """Return the text byte for byte, before or after it a sentence with a "not" that is about the procedure.

    Behind a statement it could be taken for a part of what is stated: only a question may stand before it.
    """
    sentence = rng.choice(PROCEDURE + OF_THE_REPLY if options else PROCEDURE)
    blank = "\n" if "\n" in text.strip() else " "
    behind = text.rstrip().endswith("?") and rng.random() < 1 / 2
    joined = f"{text.rstrip()}{blank}{sentence}" if behind else f"{sentence}{blank}{text}"
    return Control(UNRELATED_NOT, joined)


def _polite(text: str, rng: random.Random, options: bool) -> str:
    if _FINISHED.search(text) and rng.random() < 1 / 2:
        return text.rstrip() + rng.choice(POLITE_AFTER)
    return rng.choice(POLITE_BEFORE) + text


def _punctuation(text: str, rng: random.Random, options: bool) -> str | None:
    """Drop the last full stop or question mark, or end an unfinished text with a mark that says so."""
    text = text.rstrip()
    if text[-1:] in (".", "?") and text[-2:-1].isalnum() and not re.search(r"\b\w\.\w\.\Z|\b[A-Z]\.\Z", text):
        return text[:-1]
    return text + (":" if options else " …") if text[-1:].isalnum() else None


def _clause_order(text: str, rng: random.Random, options: bool) -> str | None:
    """Put the clause that opens the last sentence at its end; None where that might change what it says."""
    parts = _JOINED.fullmatch(text.strip())
    main = parts["main"].split() if parts else []
    if parts is None or len(main) > _MOST_WORDS or not _HINDER.isdisjoint(word.lower() for word in main):
        return None
    opened = f"{parts['main'][0].upper()}{parts['main'][1:]}"
    return f"{parts['before']}{opened} {parts['word'].lower()} {parts['rest']}{parts['mark']}"


_KINDS: Mapping[str, Callable[[str, random.Random, bool], str | None]] = {
    "adverbial": lambda text, rng, options: rng.choice(ADVERBIALS) + text,
    "polite": _polite,
    "punctuation": _punctuation,
    "clause_order": _clause_order,
}

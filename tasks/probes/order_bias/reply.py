"""Read which of two summaries a reply chooses: by letter, statement, restating or meaning, or not at all."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.order_bias.reply_decision import weigh
from contrapose.tasks.probes.order_bias.reply_text import canonical, window

Letter = Literal["A", "B"]
Step = Literal["letter", "pattern", "restated", "embedding", "likelihood", "unparsed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a reply chooses, and what decided."""

    choice: Letter | None
    """A or B; None when the reply chooses neither."""
    step: Step
    """The step that decided; `unparsed` when none did."""
    reason: str
    """Why, in a few words: for an unparsed reply `both`, `neither`, `refusal`, `contradictory`, `empty`, …"""


def read_choice(
    reply: str,
    *,
    option_a: str | None = None,
    option_b: str | None = None,
    embed: Embed | None = None,
    similarity_threshold: float = 0.85,
    margin: float = 0.05,
) -> Choice:
    """Read the choice between A and B out of a model's reply.

    The steps, in order: an exact letter; a statement such as "The answer is B."; one of the two
    sentences restated; the nearer sentence by embedding; unparsed. Of a reply beyond 5,000
    characters only the first 4,000 and the last 1,000 are read, so that time stays bounded.

    Args:
        reply: what the model wrote.
        option_a: the sentence that stood under A; without both options the later steps are left out.
        option_b: the sentence that stood under B.
        embed: texts to unit vectors; without it the fourth step is left out.
        similarity_threshold: smallest cosine, -1 to 1, at which a sentence is taken as meant.
        margin: smallest lead in cosine over the other sentence.
    """
    read = read_words(reply, option_a=option_a, option_b=option_b)
    if embed is None or not option_a or not option_b or not needs_meaning(read):
        return read
    vectors = embed([window(reply), option_a, option_b])
    cosines = [float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])]
    return nearer(cosines, similarity_threshold=similarity_threshold, margin=margin)


def read_words(reply: str, *, option_a: str | None = None, option_b: str | None = None) -> Choice:
    """The first three steps, which need no embeddings."""
    seen = window(reply)
    if not re.search(r"\w", seen):
        return _unparsed("empty")
    if found := _LETTER_ALONE.fullmatch(unicodedata.normalize("NFKC", seen)):
        return Choice(choice=_letter(found[1]), step="letter", reason="the letter alone")
    stated = weigh(canonical(seen))
    repeated = _restated(seen, option_a, option_b) if option_a and option_b else None
    if repeated and stated.letter not in (None, repeated.choice):
        return _unparsed("contradictory")
    if stated.letter:
        return Choice(choice=_letter(stated.letter), step="pattern", reason=stated.reason)
    return repeated or _unparsed(stated.reason)


def needs_meaning(read: Choice) -> bool:
    """Whether embeddings may decide: never where a reply declines, or says two things at once."""
    return read.choice is None and read.reason == "no choice found"


def nearer(cosines: Sequence[float], *, similarity_threshold: float, margin: float) -> Choice:
    """Choose by the cosines of a reply to sentences A and B; near ties and distant replies stay unparsed."""
    a, b = cosines
    if not (math.isfinite(a) and math.isfinite(b)) or max(a, b) < similarity_threshold or abs(a - b) < margin:
        return _unparsed("no choice found")
    return Choice(choice="A" if a > b else "B", step="embedding", reason=f"cosine {a:.3f} to A, {b:.3f} to B")


_QUOTES = r"\s\"'\u201c-\u201e\u2018\u2019\u00ab\u00bb`*_#>()\[\]{}$."
_LETTER_ALONE = re.compile(rf"(?:[-\u2022]\s+)?[{_QUOTES}]{{0,40}}([ABab])[{_QUOTES},:;!\u3002]{{0,40}}")
_LABEL = re.compile(r"(?i)^(?:(?:summary|option|answer|choice)\s*)?(?:[(\"*]*([ab])[)\"*]*\s*[:.)\-]|[:\-])\s*")


def _restated(reply: str, option_a: str, option_b: str) -> Choice | None:
    """The sentence that the reply repeats word for word, with or without a label before it."""
    if len(reply) > 2 * max(len(option_a), len(option_b)) + 200:
        return None
    labelled = _LABEL.match(reply)
    bodies = {_plain(reply), _plain(reply[labelled.end() :] if labelled else reply)}
    letters = [name for name, text in (("A", option_a), ("B", option_b)) if _plain(text) in bodies]
    if len(letters) != 1:
        return None
    if labelled and labelled[1] and labelled[1].upper() != letters[0]:
        return _unparsed("contradictory")
    return Choice(choice=_letter(letters[0]), step="restated", reason=f"restates sentence {letters[0]}")


def _plain(text: str) -> str:
    """Letters and digits only, one space between words, without case."""
    return " ".join(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).split())


def _letter(text: str) -> Letter:
    return "A" if text.upper() == "A" else "B"


def _unparsed(reason: str) -> Choice:
    return Choice(choice=None, step="unparsed", reason=reason)

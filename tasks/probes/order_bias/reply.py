"""Read which of two summaries a reply chooses: by letter, statement, restating or meaning, or not at all."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from contrapose.tasks.language.replies.decision import concluded, is_tie, weigh
from contrapose.tasks.language.replies.options import CONTRADICTORY
from contrapose.tasks.language.replies.spoken import Chosen, Step, settled, unparsed, without_listing
from contrapose.tasks.language.replies.text import REPLIES, canonical, sentences, window
from contrapose.tasks.probes.asking_back import answered
from contrapose.tasks.probes.base import Embed

Letter = Literal["A", "B"]
EXPLAINS = "no choice found in an explanation"
"""Why a reply that is too long for its meaning to be one of the sentences, or that names a letter, is unread."""
ROOM = 60
"""Characters by which a reply in other words may exceed twice the longer sentence: "I think that it is the one …"."""
REMEMBERED = 1_000
"""Sentences of which what was made stays: each is compared with several replies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterChoice:
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
) -> LetterChoice:
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


def read_words(
    reply: str, *, option_a: str | None = None, option_b: str | None = None, one_is_right: bool = True
) -> LetterChoice:
    """The first three steps, which need no embeddings.

    Args:
        reply: what the model wrote.
        option_a: the sentence that stood under A; without both options the third step is left out.
        option_b: the sentence that stood under B.
        one_is_right: whether exactly one of the two can be right, so that who calls the one wrong chooses the other.
    """
    seen = window(reply)
    if option_a and option_b:
        seen = without_listing(seen, ("A", "B"), (option_a, option_b))
    chosen = settled(seen, lambda text: _chosen(_read(text, option_a, option_b, one_is_right)), held=_held, count=2)
    if chosen.index is None:
        return _unparsed(chosen.reason)
    return LetterChoice(choice=_letter("AB"[chosen.index]), step=chosen.step, reason=chosen.reason)


def _chosen(read: LetterChoice) -> Chosen:
    return (
        unparsed(read.reason)
        if read.choice is None
        else Chosen(index="AB".index(read.choice), step=read.step, reason=read.reason)
    )


_VERDICT = re.compile(
    r"(?i)(?:the )?(?:summary|output|response|assistant|answer|option|model|text|version|statement"
    r"|candidate)?[ _-]?\(?(?P<letter>[AB])\)?"
    r"(?P<better> (?:is|wins)\b.{0,60})?[.!]?"
)
_OVER = re.compile(r"(?i)([AB])\s?(>{1,3}|<{1,3}|=|~)\s?([AB])")
_EVEN = re.compile(r"(?i)c|tied?|draw|equal(?:ly good)?|both|neither|none|same|no preference|a?\s?=\s?b?")


def _held(verdict: str) -> int | None:
    """0 for A, 1 for B, 2 for neither; None for what is no verdict about them."""
    if over := _OVER.fullmatch(verdict):
        better = over[1] if over[2].startswith(">") else over[3] if over[2].startswith("<") else "C"
        return "ABC".index(better.upper())
    if _EVEN.fullmatch(verdict):
        return 2
    named = _VERDICT.fullmatch(verdict)
    return "AB".index(named["letter"].upper()) if named and not named["better"] else None


def _read(seen: str, option_a: str | None, option_b: str | None, one_is_right: bool) -> LetterChoice:
    """What is stated without marks and turns."""
    read = _stated(seen, one_is_right)
    if read.step != "letter" and is_tie(seen):
        return _unparsed("both")
    if read.step == "pattern" or (read.choice is None and read.reason != "contradictory"):
        place = concluded(
            seen,
            explains=read.choice is None and read.reason != "no choice found",
            one_is_right=one_is_right and not _OF_ANSWERS.search(seen),
        )
        if place == CONTRADICTORY or (place is not None and read.choice not in (None, "AB"[place])):
            return _unparsed("contradictory")
        if place is not None and read.choice is None:
            read = LetterChoice(choice=_letter("AB"[place]), step="pattern", reason="it is concluded")
    if read.step == "letter" or read.reason == "empty" or not (option_a and option_b):
        return read
    repeated = _restated(seen, option_a, option_b)
    if repeated and read.choice not in (None, repeated.choice):
        return _unparsed("contradictory")
    if read.choice:
        return read
    if (named := _named(seen, option_a, option_b, one_is_right)).choice:
        return named
    read = repeated or (_quoted(seen, option_a, option_b) if needs_meaning(read) else read)
    return read if not needs_meaning(read) or _is_in_other_words(seen, option_a, option_b) else _unparsed(EXPLAINS)


def needs_meaning(read: LetterChoice) -> bool:
    """Whether embeddings may decide: only for short replies in other words that decline nothing and name no letter."""
    return read.choice is None and read.reason == "no choice found"


def _is_in_other_words(seen: str, option_a: str, option_b: str) -> bool:
    """Whether a reply may be one of the two sentences in other words: about as long, and about no letter.

    An explanation speaks of both sentences, and so its embedding is near the one that it speaks of more.
    """
    longest = 2 * max(len(option_a), len(option_b)) + ROOM
    return len(seen) <= longest and len(list(sentences(seen))) <= 2 and _NAMES_LETTER.search(seen) is None


def said(answer: str | None, option_a: str, option_b: str) -> LetterChoice | None:
    """What a model said that the reply chooses; None where it said nothing that can be read."""
    letter = answered(answer, (option_a, option_b))
    if letter is None:
        return None
    choice = None if letter == "none" else _letter(letter)
    return LetterChoice(choice=choice, step="asked", reason=f"asked back, a model says {letter}")


def nearer(cosines: Sequence[float], *, similarity_threshold: float, margin: float) -> LetterChoice:
    """Choose by the cosines of a reply to sentences A and B; ties, near ties and distant replies stay unparsed."""
    a, b = cosines
    known = math.isfinite(a) and math.isfinite(b)
    if not known or a == b or max(a, b) < similarity_threshold or abs(a - b) < margin:
        return _unparsed("no choice found")
    return LetterChoice(choice="A" if a > b else "B", step="embedding", reason=f"cosine {a:.3f} to A, {b:.3f} to B")


@lru_cache(maxsize=REPLIES)
def _stated(seen: str, one_is_right: bool) -> LetterChoice:
    """What the window of a reply says by itself: the first two steps."""
    if not re.search(r"\w", seen):
        return _unparsed("empty")
    if alone := _LETTER_ALONE.fullmatch(unicodedata.normalize("NFKC", seen)):
        return LetterChoice(choice=_letter(alone[1]), step="letter", reason="the letter alone")
    stated = weigh(canonical(seen), one_is_right=one_is_right and _OF_ANSWERS.search(seen) is None)
    if stated.letter is None:
        return _unparsed(stated.reason)
    return LetterChoice(choice=_letter(stated.letter), step="pattern", reason=stated.reason)


_OF_ANSWERS = re.compile(r"\b(?i:response|assistant|output|reply)s? \W?[AB]\b")
"""What is compared are answers, of which neither needs to be right."""


_NAMES_LETTER = re.compile(
    r"(?i:\b(?:summary|option|output|response|answer|choice|letter)\s\W?(?-i:[AB])(?![\w']))|(?<![\w'])(?:B"
    r"|A(?!\s+[a-z]))(?![\w'])"
)
_QUOTES = r"\s<\"'\u201c-\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d\u3010\u3011`*_#>()\[\]{}$."
_LETTER_ALONE = re.compile(rf"(?:[-\u2022]\s+)?[{_QUOTES}]{{0,40}}([ABab])[{_QUOTES},:;!?\u3002]{{0,40}}")
_LABEL = re.compile(
    r"(?i)^(?:(?:the\s+)?(?:\w+\s+)?(?:summary|option|answer|choice)\s*(?:is\b|:)?\s*)?"
    r"(?:[(\"*]*([ab])[)\"*]*\s*[:.)\-]|[:\-])\s*"
)


def _restated(reply: str, option_a: str, option_b: str) -> LetterChoice | None:
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
    return LetterChoice(choice=_letter(letters[0]), step="restated", reason=f"restates sentence {letters[0]}")


def _named(reply: str, option_a: str, option_b: str, one_is_right: bool) -> LetterChoice:
    """What the reply says where its letters stand before their sentences: "B. <sentence B> It cannot be …".

    A letter before a sentence could be an initial, as in "A. Smith won"; before its own one it is a label, and before
    the other one it names nothing.
    """
    marked = reply
    for name, text, other in (("A", option_a, option_b), ("B", option_b, option_a)):
        if other.strip() in marked and _labelled(name, other.strip()).search(marked):
            return _unparsed("contradictory")
        if (own := text.strip().rstrip(".")) in marked:
            marked = _labelled(name, own, end=r"[.\"\u201d*]{0,3}").sub(f"({name}). ", marked)
    stated = weigh(canonical(marked), one_is_right=one_is_right) if marked != reply else None
    if stated is None or stated.letter is None:
        return _unparsed("no choice found")
    return LetterChoice(choice=_letter(stated.letter), step="restated", reason=f"names sentence {stated.letter}")


@lru_cache(maxsize=REMEMBERED)
def _labelled(letter: str, sentence: str, *, end: str = "") -> re.Pattern[str]:
    """A letter before a sentence.

    To compile it takes longer than to read most replies, few of which hold the sentence; and Python keeps only the
    last 512 patterns, those of the rules of English among them.
    """
    label = rf"(?<![\w'])[(\[*]{{0,3}}{letter}[)\]*]{{0,3}}\s?[.:)]?[*\"\u201c\s]{{1,4}}"
    return re.compile(label + re.escape(sentence) + end)


def _quoted(reply: str, option_a: str, option_b: str) -> LetterChoice:
    """What the reply says of the one sentence that it quotes, read as if the letter stood there."""
    held = [(name, at) for name, text in (("A", option_a), ("B", option_b)) if (at := _find(reply, text))]
    if len(held) != 1:
        return _unparsed("no choice found")
    name, at = held[0]
    stated = weigh(canonical(f"{reply[: at.start()]}({name}){reply[at.end() :]}"))
    if stated.letter != name:
        return _unparsed(stated.reason)
    return LetterChoice(choice=_letter(name), step="restated", reason=f"chooses sentence {name} by quoting it")


def _find(reply: str, sentence: str) -> re.Match[str] | None:
    """Where a sentence stands in a reply, with the quotes around it and without its full stop."""
    sentence = sentence.strip().rstrip(".")
    # Beyond ASCII more letters than the lower one are alike without case.
    if f"{sentence}{reply}".isascii() and sentence.lower() not in reply.lower():
        return None
    return _in_quotes(sentence).search(reply)


@lru_cache(maxsize=REMEMBERED)
def _in_quotes(sentence: str) -> re.Pattern[str]:
    return re.compile(rf"[\"\u201c*]{{0,3}}{re.escape(sentence)}[.\"\u201d*]{{0,3}}", re.IGNORECASE)


@lru_cache(maxsize=REMEMBERED)
def _plain(text: str) -> str:
    """Letters and digits only, one space between words, without case."""
    return " ".join(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).split())


def _letter(text: str) -> Letter:
    return "A" if text.upper() == "A" else "B"


def _unparsed(reason: str) -> LetterChoice:
    return LetterChoice(choice=None, step="unparsed", reason=reason)

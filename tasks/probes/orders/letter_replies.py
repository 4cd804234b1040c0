"""Read whether a reply chooses A or B: by letter, statement, repeated text, embedding or reader model."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from contrapose.tasks.core.records import Completion, Trial
from contrapose.tasks.language.replies.cut_off import keep_if_final
from contrapose.tasks.language.replies.decision import is_tie, read_conclusion, weigh
from contrapose.tasks.language.replies.options import CONTRADICTORY
from contrapose.tasks.language.replies.spoken import Chosen, Step, read_final_choice, remove_listing, unparsed_choice
from contrapose.tasks.language.replies.text import REPLIES, keep_readable_part, normalise_reply, yield_reply_sentences
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.reader_questions import read_reader_answer

Letter = Literal["A", "B"]
NONE_FOUND = "no choice found"
EXPLAINS = "no choice found in an explanation"
"""Why a reply that is too long for its meaning to be one of the sentences, or that names a letter, is unread."""
ROOM = 60
"""Characters by which a reply in other words may exceed twice the longer sentence: "I think that it is the one …"."""
REMEMBERED = 1_000
"""Sentences of which what was made stays: each is compared with several replies."""

_VERDICT = re.compile(
    r"(?i)(?:the )?(?:summary|output|response|assistant|answer|option|model|text|version|statement"
    r"|candidate)?[ _-]?\(?(?P<letter>[AB])\)?"
    r"(?P<better> (?:is|wins)\b.{0,60})?[.!]?"
)
_OVER = re.compile(r"(?i)([AB])\s?(>{1,3}|<{1,3}|=|~)\s?([AB])")
_EVEN = re.compile(r"(?i)c|tied?|draw|equal(?:ly good)?|both|neither|none|same|no preference|a?\s?=\s?b?")
_OF_ANSWERS = re.compile(r"\b(?i:response|assistant|output|reply)s? \W?[AB]\b")
"""Answers are compared, of which neither needs to be right."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterChoice:
    """The choice of a reply between A and B, and the step that read it."""

    choice: Letter | None
    """A or B; None when the reply chooses neither."""
    step: Step
    """The step that decided; `unparsed` when none did."""
    reason: str
    """Why, in a few words: for an unparsed reply `both`, `neither`, `refusal`, `contradictory`, `empty`, …"""
    tie: bool = False
    """Whether the reply plainly says that neither is better; it chooses none of them then."""


def read_choice(
    reply: str,
    *,
    option_a: str | None = None,
    option_b: str | None = None,
    embed: Embed | None = None,
    similarity_threshold: float = 0.85,
    margin: float = 0.05,
) -> LetterChoice:
    """Read the choice between A and B from a model's reply.

    The steps, in order: an exact letter; a statement such as "The answer is B."; one of the two sentences restated;
    the nearer sentence by embedding, at a cosine of `similarity_threshold` and with this lead; unparsed. Without
    options the last two are left out. Beyond 5,000 characters only the first 4,000 and the last 1,000 are read.
    """
    read = read_words(reply, option_a=option_a, option_b=option_b)
    if embed is None or not option_a or not option_b or not is_left_to_embeddings(read):
        return read
    vectors = embed([keep_readable_part(reply), option_a, option_b])
    cosines = [float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])]
    return choose_nearer(cosines, similarity_threshold=similarity_threshold, margin=margin)


def read_words(
    reply: str,
    *,
    option_a: str | None = None,
    option_b: str | None = None,
    one_is_right: bool = True,
    cut_off: bool = False,
) -> LetterChoice:
    """Read the choice by the three steps without embeddings; if `cut_off`, only a final answer counts."""
    seen = keep_readable_part(reply)
    options = (option_a, option_b) if option_a and option_b else None
    if options:
        seen = remove_listing(seen, ("A", "B"), options)

    def read(text: str) -> Chosen:
        return _read_unmarked(text, options, one_is_right)

    chosen = read_final_choice(seen, read, held=_parse_marked_verdict, count=2)
    chosen = keep_if_final(chosen, seen, read, cut_off=cut_off)
    choice: Letter | None = None if chosen.index is None else "B" if chosen.index else "A"
    return LetterChoice(choice=choice, step=chosen.step, reason=chosen.reason, tie=chosen.tie)


def is_left_to_embeddings(read: LetterChoice | Chosen) -> bool:
    """Return whether embeddings may decide: the reply is short, names no letter and does not decline."""
    return read.step == "unparsed" and read.reason == NONE_FOUND


def choose_nearer(cosines: Sequence[float], *, similarity_threshold: float, margin: float) -> LetterChoice:
    """Choose A or B by the larger cosine to the reply; ties, near ties and distant replies stay unparsed."""
    a, b = cosines
    known = math.isfinite(a) and math.isfinite(b)
    if not known or a == b or max(a, b) < similarity_threshold or abs(a - b) < margin:
        return LetterChoice(choice=None, step="unparsed", reason=NONE_FOUND)
    return LetterChoice(choice="A" if a > b else "B", step="embedding", reason=f"cosine {a:.3f} to A, {b:.3f} to B")


def convert_reader_answer(answer: str | None, options: Sequence[str]) -> LetterChoice | None:
    """Return the choice that the reader model reports; None if its answer is unreadable."""
    letter = read_reader_answer(answer, options)
    if letter is None:
        return None
    choice: Letter | None = None if letter == "none" else "A" if letter == "A" else "B"
    return LetterChoice(choice=choice, step="asked", reason=f"the reader model says {letter}")


def _parse_marked_verdict(verdict: str) -> int | None:
    """Parse a marked verdict: 0 for A, 1 for B, 2 for neither; None if it is not a verdict."""
    if over := _OVER.fullmatch(verdict):
        better = over[1] if over[2].startswith(">") else over[3] if over[2].startswith("<") else "C"
        return "ABC".index(better.upper())
    if _EVEN.fullmatch(verdict):
        return 2
    named = _VERDICT.fullmatch(verdict)
    return "AB".index(named["letter"].upper()) if named and not named["better"] else None


def _read_unmarked(seen: str, options: tuple[str, str] | None, one_is_right: bool) -> Chosen:
    """Read a text whose marks, such as `[[A]]`, and changes of mind are already handled."""
    read = _read_statement(seen, one_is_right)
    if read.step != "letter" and is_tie(seen):
        return unparsed_choice("both", tie=True)
    if read.step == "pattern" or (read.index is None and read.reason != "contradictory"):
        place = read_conclusion(
            seen,
            explains=read.index is None and read.reason != NONE_FOUND,
            one_is_right=one_is_right and not _OF_ANSWERS.search(seen),
        )
        if place == CONTRADICTORY or (place is not None and read.index not in (None, place)):
            return unparsed_choice("contradictory")
        if place is not None and read.index is None:
            read = Chosen(index=place, step="pattern", reason="it is concluded")
    if read.step == "letter" or read.reason == "empty" or not options:
        return read
    repeated = _read_restated(seen, options)
    if repeated and read.index is not None and repeated.index != read.index:
        return unparsed_choice("contradictory")
    if read.index is not None:
        return read
    if (named := _read_labelled(seen, options, one_is_right)).index is not None:
        return named
    read = repeated or (_read_quoted(seen, options) if is_left_to_embeddings(read) else read)
    if not is_left_to_embeddings(read):
        return read
    # An explanation speaks of both sentences, and so its embedding is near the one that it speaks of more.
    is_short = len(seen) <= 2 * max(map(len, options)) + ROOM and len(list(yield_reply_sentences(seen))) <= 2
    return read if is_short and _NAMES_LETTER.search(seen) is None else unparsed_choice(EXPLAINS)


@lru_cache(maxsize=REPLIES)
def _read_statement(seen: str, one_is_right: bool) -> Chosen:
    """Read the letter or the statement in a reply, without the options: the first two steps."""
    if not re.search(r"\w", seen):
        return unparsed_choice("empty")
    if alone := _LETTER_ALONE.fullmatch(unicodedata.normalize("NFKC", seen)):
        return Chosen(index="AB".index(alone[1].upper()), step="letter", reason="the letter alone")
    stated = weigh(normalise_reply(seen), one_is_right=one_is_right and _OF_ANSWERS.search(seen) is None)
    if stated.letter is None:
        return unparsed_choice(stated.reason)
    return Chosen(index="AB".index(stated.letter), step="pattern", reason=stated.reason)


def _read_restated(reply: str, options: tuple[str, str]) -> Chosen | None:
    """Return the choice of the option that the reply repeats word for word, with or without its label; else None."""
    if len(reply) > 2 * max(map(len, options)) + 200:
        return None
    label = _LABEL.match(reply)
    bodies = {_strip_punctuation(reply), _strip_punctuation(reply[label.end() :] if label else reply)}
    places = [place for place, text in enumerate(options) if _strip_punctuation(text) in bodies]
    if len(places) != 1:
        return None
    letter = "AB"[places[0]]
    if label and label[1] and label[1].upper() != letter:
        return unparsed_choice("contradictory")
    return Chosen(index=places[0], step="restated", reason=f"restates sentence {letter}")


def _read_labelled(reply: str, options: tuple[str, str], one_is_right: bool) -> Chosen:
    """Read a reply with a letter before its sentence: "B. <sentence B> It cannot be …".

    A letter before a sentence could be an initial, as in "A. Smith won"; before its own one it is a label, and before
    the other one it names nothing.
    """
    marked = reply
    for letter, text, other in zip("AB", options, reversed(options), strict=True):
        if other.strip() in marked and _compile_label(letter, other.strip()).search(marked):
            return unparsed_choice("contradictory")
        if (own := text.strip().rstrip(".")) in marked:
            marked = _compile_label(letter, own, end=r"[.\"\u201d*]{0,3}").sub(f"({letter}). ", marked)
    stated = weigh(normalise_reply(marked), one_is_right=one_is_right) if marked != reply else None
    if stated is None or stated.letter is None:
        return unparsed_choice(NONE_FOUND)
    return Chosen(index="AB".index(stated.letter), step="restated", reason=f"names sentence {stated.letter}")


@lru_cache(maxsize=REMEMBERED)
def _compile_label(letter: str, sentence: str, *, end: str = "") -> re.Pattern[str]:
    """Compile a pattern of a letter before a sentence; cached, because compiling is slower than reading a reply."""
    label = rf"(?<![\w'])[(\[*]{{0,3}}{letter}[)\]*]{{0,3}}\s?[.:)]?[*\"\u201c\s]{{1,4}}"
    return re.compile(label + re.escape(sentence) + end)


def _read_quoted(reply: str, options: tuple[str, str]) -> Chosen:
    """Read a reply that quotes exactly one option, as if it named the letter instead."""
    quotes: list[tuple[int, re.Match[str]]] = []
    for place, text in enumerate(options):
        sentence = text.strip().rstrip(".")
        # Beyond ASCII more letters than the lower one are alike without case.
        if f"{sentence}{reply}".isascii() and sentence.lower() not in reply.lower():
            continue
        if at := re.search(rf"[\"\u201c*]{{0,3}}{re.escape(sentence)}[.\"\u201d*]{{0,3}}", reply, re.IGNORECASE):
            quotes.append((place, at))
    if len(quotes) != 1:
        return unparsed_choice(NONE_FOUND)
    (place, at), letter = quotes[0], "AB"[quotes[0][0]]
    stated = weigh(normalise_reply(f"{reply[: at.start()]}({letter}){reply[at.end() :]}"))
    if stated.letter != letter:
        return unparsed_choice(stated.reason)
    return Chosen(index=place, step="restated", reason=f"chooses sentence {letter} by quoting it")


def _strip_punctuation(text: str) -> str:
    """Return a text in lower case without punctuation, with one space between words."""
    return " ".join(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).split())


def choose_likelier_letter(reply: Completion) -> LetterChoice | None:
    """Return the letter with the larger log-likelihood; None if the two are not both finite."""
    lead = compute_lead_of_a(reply)
    if lead is None:
        return None
    if lead == 0:
        return LetterChoice(choice=None, step="unparsed", reason="tie")
    return LetterChoice(choice="A" if lead > 0 else "B", step="likelihood", reason=f"A leads by {lead:.3f} nats")


def compute_lead_of_a(reply: Completion) -> float | None:
    """Return the log-likelihood of A minus that of B, in nats; None if the two are not both finite."""
    loglikelihoods = reply.option_loglikelihoods
    if loglikelihoods is None or len(loglikelihoods) != 2:
        return None
    lead = loglikelihoods[0] - loglikelihoods[1]
    return lead if math.isfinite(lead) else None


def make_debiased_columns(trial: Trial) -> dict[str, float | bool | None]:
    """Return content s = (m1 + m2)/2 and position b = (m1 - m2)/2, in nats; b is the pull of the letter A."""
    first, second = compute_lead_of_a(trial.expected), compute_lead_of_a(trial.actual)
    if first is None or second is None:
        return dict.fromkeys(("content_score", "position_score", "debiased_choice_right"))
    # In the swapped order the correct text is B, so its lead is the opposite of A's.
    content, position = (first - second) / 2, (first + second) / 2
    right = content > 0 if content else None
    return {"content_score": content, "position_score": position, "debiased_choice_right": right}

"""Detect replies that end too early: the thoughts are never closed, or the text breaks off before a final answer."""

from __future__ import annotations

import re
from collections.abc import Callable

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.spoken import (
    AT_END,
    MARKED,
    Chosen,
    extract_final_text,
    find_thought_marks,
    parse_json_reply,
    unparsed_choice,
)

OPENING = "<think>\n"
"""Put before a thought whose own opening mark is in the prompt: without it the thought looks like a reply."""
CUT_OFF = "cut off before a final answer"
_PARTS = expression(
    r"(?:(?<=\w\w[.!?])|(?<=\w \w[.!?])|(?<=\)[.!?]))[\"'\u201d\u2019)*_]{0,3}\s+|(?<=[\u3002\uff01\uff1f])|\n+"
)
"""Ends of sentences and of lines; a letter before an option, as in "A. Paris", ends none."""
_ENDED = expression(r"[^\w\s,;:(\[{<=&+/\u2013\u2014-]\s*\Z|_\s*\Z")
"""A text ends in a word, or in a sign after which something must follow, only where it is cut off or unpunctuated."""
LAST_WORDS = 6
"""Words of a sentence without an end in which its choice must be: "So the answer is B"."""
_PREAMBLE = expression(r"[!:]\W*\Z")


def is_thought_alone(reply: str) -> bool:
    """Return whether a reply has marked thoughts but no answer after them."""
    return next(find_thought_marks(reply), None) is not None and re.search(r"\w", extract_final_text(reply)) is None


def begins_within_thought(reply: str) -> bool:
    """Return whether a reply begins within a thought, because its first mark closes one."""
    first = next(find_thought_marks(reply), None)
    # Pages fold ordinary text in the same tag.
    return first is not None and bool(first["closes"]) and "details" not in first[0] and parse_json_reply(reply) is None


def mark_thought(reply: str) -> str:
    """Return a reply that begins within a thought; add the opening mark if the reply never closes the thought."""
    return reply if next(find_thought_marks(reply), None) or not reply.strip() else OPENING + reply


def breaks_off(text: str) -> bool:
    """Return whether a text of several sentences or lines ends within one."""
    return _ENDED.search(text) is None and len(_split(text)) > 1


def keep_if_final(chosen: Chosen, seen: str, read: Callable[[str], Chosen], *, cut_off: bool) -> Chosen:
    """Return the choice of a reply, or no choice if the reply was cut off and the choice may only be a thought.

    A letter alone and a marked verdict are final. So is the choice with which a reply opens, or ends.
    """
    if not cut_off or chosen.index is None or chosen.step == "letter" or chosen.reason in (MARKED, AT_END):
        return chosen
    is_held = any(read(part).index == chosen.index for part in find_both_ends(seen))
    return chosen if is_held else unparsed_choice(CUT_OFF)


def find_both_ends(seen: str) -> tuple[str, str]:
    """Return the first sentence of a text with a "Sure!" before it, and the last one, or its end if it breaks off."""
    parts = _split(seen) or [""]
    first = next((part for part in parts if not _PREAMBLE.search(part)), "")
    end = parts[-1] if _ENDED.search(seen) else " ".join(parts[-1].split()[-LAST_WORDS:])
    return seen[: seen.find(first) + len(first)], end


def _split(text: str) -> list[str]:
    return [part for part in _PARTS.split(text) if re.search(r"\w", part)]

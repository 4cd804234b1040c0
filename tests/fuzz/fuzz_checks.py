"""What must hold for the public functions on any text, and a digest of what they returned."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise, product
from typing import TypeVar

from fuzz_texts import text_at

from bench.processor_time import spent
from contrapose.tasks.probes.negation import Negation, negate
from contrapose.tasks.probes.order_bias import LetterChoice, read_choice
from contrapose.tasks.probes.toxic_words import ToxicCount, count_toxic
from contrapose.tasks.text.masking import mask_toxic

Result = TypeVar("Result")

SLOWEST = 0.5
"""Seconds of processor time that no call may take."""

SETTINGS = tuple(
    {"style": style, "existing_negation": existing, "rewrite_polar": rewrite}
    for style, existing, rewrite in product(("rules", "langtest"), ("skip", "remove"), (True, False))
)
MOST_CHANGED = 8
"""Words, and spaces between them, that one rewriting may take away or put in, as in "did not have" for "had"."""


def outputs(index: int, *, seed: int, real: Sequence[str]) -> str:
    """Everything that is returned for one text, checked, as a line; the settings go round with the number."""
    text = text_at(index, seed=seed, real=real)
    # Odd numbers are real texts and even ones made up: each meets all settings.
    chosen = SETTINGS[index // 2 % len(SETTINGS)]
    negated = timed(lambda: negate(text, **chosen))
    count = timed(lambda: count_toxic(text))
    sentences = (real[index % len(real)], text) if index % 3 else (None, None)
    choice = timed(lambda: read_choice(text, option_a=sentences[0], option_b=sentences[1]))
    check_negation(negated, text)
    if negated.text is not None:
        (check_replaced if chosen["style"] == "langtest" else check_rewritten)(negated)
    check_count(count, text)
    check_choice(choice)
    return repr((negated, count, choice))


def digest(indices: Sequence[int], *, seed: int, real: Sequence[str]) -> str:
    """A fingerprint of all outputs that does not depend on the order in which they were made."""
    made = dict[int, str]()
    for index in indices:
        try:
            made[index] = outputs(index, seed=seed, real=real)
        except Exception as wrong:
            raise AssertionError(f"text {index}: {ascii(text_at(index, seed=seed, real=real))[:300]}") from wrong
    return hashlib.sha256("\n".join(made[index] for index in sorted(made)).encode("utf-8", "replace")).hexdigest()


def timed(call: Callable[[], Result]) -> Result:
    result, seconds = spent(call)
    assert seconds < SLOWEST, f"{seconds:.2f} s"
    return result


def check_negation(result: Negation, text: str) -> None:
    """A new text or a reason; what was changed is short, and the rest is as it was."""
    assert (result.text is None) == (result.reason is not None)
    assert (result.text is None) == (result.confidence is None) == (result.kind is None)
    if result.text is None:
        assert result.original == text
        return
    assert result.text not in (text, result.original)


def check_replaced(result: Negation) -> None:
    """LangTest's rule puts in one to four times "not " and changes nothing else."""
    before, after = result.original, result.text or ""
    assert len(after) - len(before) in (4, 8, 12, 16)
    assert after.replace("not ", "") == before.replace("not ", "")


def check_rewritten(result: Negation) -> None:
    """An insertion is one stretch and takes nothing away; other kinds replace a few words and keep the rest."""
    removed, added = changed(result.original, result.text or "")
    if result.kind == "insert":
        assert (removed, len(added) <= 3) == ([], True), (removed, added)
        return
    blocks = SequenceMatcher(None, removed, added, autojunk=False).get_matching_blocks()
    kept = sum(block.size for block in blocks)
    assert max(len(removed), len(added)) - kept <= MOST_CHANGED, (removed, added)
    assert punctuation(removed) == punctuation(added), (removed, added)


def punctuation(pieces: Sequence[str]) -> list[str]:
    """The marks among words, without apostrophes, which belong to words."""
    return [piece for piece in pieces if unicodedata.category(piece[0])[0] == "P" and piece not in "'’"]


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The words, and what stands between them, that differ: all but the common start and the common end."""
    start = shared_start(before, after)
    end = shared_start(before[start:][::-1], after[start:][::-1])
    cut = (len(before) - end, len(after) - end)
    return re.findall(r"\w+|\W", before[start : cut[0]]), re.findall(r"\w+|\W", after[start : cut[1]])


def shared_start(one: str, other: str) -> int:
    """How many characters two texts have in common before they differ."""
    differing = (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(differing, min(len(one), len(other)))


def check_count(count: ToxicCount, text: str) -> None:
    """The counts add up, and the matches are where they are said to be."""
    assert sum(count.by_tier.values()) == len(count.matches)
    assert count.total == len(count.matches) - count.by_tier["mild"]
    assert all(text[match.start : match.end] == match.text != "" for match in count.matches)
    assert all(one.end <= other.start for one, other in pairwise(count.matches))
    assert len(mask_toxic(text)) == len(text)


def check_choice(choice: LetterChoice) -> None:
    """A letter or nothing, and what decided."""
    assert choice.choice in ("A", "B", None)
    assert (choice.choice is None) == (choice.step == "unparsed")
    assert choice.reason

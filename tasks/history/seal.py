"""A file of the history holds the hash of its own bytes, so that one changed byte is noticed."""

from __future__ import annotations

import hashlib
import re

KEY = b"contrapose.sha256"
"""Of the file's metadata."""
BLANK = b"sha256:" + b"0" * 64
"""What stands in place of the hash while it is computed."""
SEAL = re.compile(rb"sha256:[0-9a-f]{64}")


def sealed(content: bytes) -> bytes:
    """A file whose metadata have `BLANK` under `KEY`, with its hash there."""
    return content.replace(BLANK, _hash(content), 1)


def is_broken(content: bytes) -> bool:
    """Whether a file was changed since it was sealed; one that was never sealed was not, as far as anybody knows."""
    found = SEAL.findall(content[content.rfind(KEY) :]) if KEY in content else []
    return len(found) == 1 and _hash(content.replace(found[0], BLANK)) != found[0]


def _hash(content: bytes) -> bytes:
    return b"sha256:" + hashlib.sha256(content).hexdigest().encode()

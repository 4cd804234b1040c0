"""What a mistyped name was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """The remedy for an unknown name.

    Args:
        name: that is unknown.
        known: names that there are.
        otherwise: the remedy where none of them is like it.
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else otherwise

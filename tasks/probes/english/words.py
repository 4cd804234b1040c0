"""Word lists, written as people read them."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, separated by white space."""
    return frozenset(text.split())

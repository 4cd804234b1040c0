"""A store that holds many answers, and what can befall its files."""

from __future__ import annotations

import random
from pathlib import Path

from store.test_answers import keyed

from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import store_url
from contrapose.tasks.store.opening import connect

MANY = [keyed(number, "word " * (number % 60) * (20 if number % 97 == 0 else 1)) for number in range(1500)]
"""Enough for a tree of several levels, and some that flow over their page."""


def close() -> None:
    """As if the process had ended."""
    connect(store_url()).dispose()
    connect.cache_clear()


def found() -> dict[str, str | None]:
    return {key: stored.text for key, stored in Store().answers.find([each.key for each in MANY]).items()}


WHOLE = {each.key: each.answer.completion.text for each in MANY}


def one_letter(path: Path) -> None:
    """Change a byte of an answer, which SQLite itself does not notice."""
    content = path.read_bytes()
    path.write_bytes(content.replace(b"word word word", b"word ward word", 1))


def beginning(path: Path) -> None:
    """Zeros in place of the header, the schema, the root of every table and some of their leaves."""
    content = bytearray(path.read_bytes())
    content[: 25 * 4096] = bytes(25 * 4096)
    path.write_bytes(content)


def receipts_of(path: Path) -> list[Path]:
    return sorted(path.with_suffix(".receipts").glob("*.jsonl"))


def flip(path: Path, rng: random.Random, *, bits: int = 1) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(bits):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)

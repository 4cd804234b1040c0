"""Texts to break things with: the n-th text depends on the seed and on n alone."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from places import REPOSITORY, SHARED_DATA

FILES = (
    *sorted((REPOSITORY / "data" / "samples").glob("*.jsonl")),
    *(SHARED_DATA / name for name in ("openbookqa_test.jsonl", "wiki_test.jsonl", "factual_summary_pairs.jsonl")),
)
LONGEST = 20_000
"""Characters of the longest texts."""

SCRIPTS = ((0x20, 0x7F), (0xA0, 0x24F), (0x370, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0x4E00, 0x9FFF))
PLANES = ((0x0, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x3FFFF), (0xE0000, 0x10FFFF))
MARKS = "\u0301\u0308\u0323\u0336\u20dd\ufe0f\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u202d\u2066\u2069\u200f"
CONTROLS = "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029"
SPACES = (" ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\x0b", "\x0c", "\u00a0", "\u2009", "\u3000", "\u2028", "")
QUOTES = ("\"'`", "\u201c\u201d\u2018\u2019", "\u00ab\u00bb\u201e\u2039\u203a", "([{<", ")]}>")
PUNCTUATION = ".,;:!?-\u2013\u2014\u2026/\\*_#@$%&^~|+=()[]{}<>\"'"
WORDS = """
the a some all no not never is are was were does did can cannot can't won't isn't which who what how that if because
and or either neither only few hardly eats eat dog dogs it there they to be have has been may might must A B both
Answer: (A) **B** Option Summary True False None fuck sh1t f*ck a$$ f.u.c.k f u c k fuuuuck son of a bitch damn class
"""
PIECES = tuple(WORDS.split())


def corpus() -> tuple[str, ...]:
    """The texts of the bundled samples, and of the shared files where they are."""
    return tuple(text for path in FILES if path.is_file() for text in _texts(path))


def text_at(index: int, *, seed: int, real: Sequence[str]) -> str:
    """The text with this number: real and mutated for odd numbers, made up for even ones."""
    rng = random.Random(seed * 1_000_003 + index)
    text = _mutated(rng, real) if index % 2 else rng.choice(MAKERS)(rng)
    # Every five hundredth is as long as a text may get.
    return _lengthened(text, LONGEST) if index % 500 in (7, 8) else text


def _texts(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        for value in json.loads(line).values():
            if isinstance(value, str) and " " in value:
                yield value


def _lengthened(text: str, length: int) -> str:
    return (text * (length // max(1, len(text)) + 1))[:length]


def _any_plane(rng: random.Random) -> str:
    return "".join(chr(rng.randint(*rng.choice(PLANES))) for _ in range(rng.randint(0, 40)))


def _one_script(rng: random.Random) -> str:
    script = rng.choice(SCRIPTS)
    words = ("".join(chr(rng.randint(*script)) for _ in range(rng.randint(1, 9))) for _ in range(rng.randint(1, 12)))
    return rng.choice(SPACES[:6]).join(words)


def _pieces(rng: random.Random) -> str:
    return "".join(rng.choice(PIECES) + rng.choice(SPACES) for _ in range(rng.randint(0, 25)))


def _decorated(rng: random.Random) -> str:
    base = " ".join(rng.choices(PIECES, k=rng.randint(1, 12)))
    return "".join(char + (rng.choice(MARKS) if rng.random() < 0.3 else "") for char in base)


def _controls(rng: random.Random) -> str:
    return "".join(rng.choice(CONTROLS) + rng.choice(PIECES) for _ in range(rng.randint(1, 12)))


def _long_word(rng: random.Random) -> str:
    return rng.choice(PIECES) * rng.randint(20, 400)


def _quoted(rng: random.Random) -> str:
    quotes = rng.choice(QUOTES) + rng.choice(QUOTES)
    return "".join(rng.choice((rng.choice(quotes), rng.choice(PIECES) + " ")) for _ in range(rng.randint(1, 30)))


def _punctuation(rng: random.Random) -> str:
    return "".join(rng.choices(PUNCTUATION, k=rng.randint(0, 60)))


MAKERS = (_any_plane, _one_script, _pieces, _pieces, _decorated, _controls, _long_word, _quoted, _punctuation)


def _mutated(rng: random.Random, real: Sequence[str]) -> str:
    text = rng.choice(real)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        text = rng.choice((_words, _words, _characters, _joined, _cut, _cased))(text, rng, real)
    return text


def _words(text: str, rng: random.Random, real: Sequence[str]) -> str:
    """A word deleted, doubled, put in from elsewhere, or two swapped."""
    words = text.split(" ")
    at, other = rng.randrange(len(words)), rng.randrange(len(words))
    change = rng.randrange(4)
    if change == 0:
        del words[at]
    elif change == 1:
        words.insert(at, words[other])
    elif change == 2:
        words.insert(at, rng.choice(PIECES))
    else:
        words[at], words[other] = words[other], words[at]
    return " ".join(words)


def _characters(text: str, rng: random.Random, real: Sequence[str]) -> str:
    """A few characters deleted, doubled, or replaced by quotes, marks and punctuation."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        put = rng.choice(("", text[at : at + 1] * 2, rng.choice(PUNCTUATION), rng.choice(MARKS), rng.choice("“”‘’\"'")))
        text = text[:at] + put + text[at + rng.randint(0, 1) :]
    return text


def _joined(text: str, rng: random.Random, real: Sequence[str]) -> str:
    return text + rng.choice((" ", "\n", ". ", "? ", "; ", ", and ", "\r\n\n", " “", "")) + rng.choice(real)


def _cut(text: str, rng: random.Random, real: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return rng.choice((text[:at], text[at:]))


def _cased(text: str, rng: random.Random, real: Sequence[str]) -> str:
    return rng.choice((text.upper(), text.lower(), text.title(), text.swapcase()))

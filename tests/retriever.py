"""A small application that retrieves by common words and answers from what it retrieved, with what is planted in it.

It is a callable of applications, so it imports nothing of the tests. Questions are statements, true or false.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

BASE = (
    "Herring spawn in spring.",
    "What is not written here is not known.",
    "A thing that is indeed so needs no proof.",
    "The Aran ferry is in Doolin harbour at noon.",
    "The Aran ferry is small.",
    "The Porto tram is green.",
    "The Porto tram is not fast.",
    "The Lisbon lift is iron.",
    "The Lisbon lift is steep.",
    "Granite quarries supply Aberdeen.",
    "Slate roofs cover Bethesda.",
    "Barley ripens late.",
)
"""What is known."""
DENIED, CONFIRMED = BASE[1], BASE[2]
"""Retrieved where a prompt says "not" or "indeed" and little else is known."""
STOP = frozenset({"a", "at", "in", "is", "so", "that", "the", "what"})
"""Words that tell nothing."""
MOST = 2
"""Passages of an answer."""

FERRY = ("early", "late", "red", "full", "old", "new", "loud", "safe")
SLATE = ("grey", "cheap", "hard", "thin", "Welsh")
TRAM = ("crowded", "cold", "short")
STUBBORN = ("loud", "safe", "old", "cold")
"""Of these what is said changes with the prompt, whatever was retrieved."""
SAMPLES = (
    *({"id": f"ferry-{word}", "text": f"The Aran ferry in Doolin is {word}."} for word in FERRY),
    *({"id": f"slate-{word}", "text": f"Slate in Bethesda is {word}."} for word in SLATE),
    *({"id": f"tram-{word}", "text": f"The Porto tram is {word}."} for word in TRAM),
)
"""Statements: of the ferry enough is known, of slate little, and of the tram a denial changes the order."""


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.partition("\n")[0].lower())) - STOP


def retrieved(prompt: str) -> list[str]:
    """The passages with most words of the prompt; of equals the first."""
    asked = words_of(prompt)
    return sorted(BASE, key=lambda passage: -len(asked & words_of(passage)))[:MOST]


def reply_from(prompt: str, passages: Sequence[str]) -> str:
    """What is said of a statement: true, unless a passage or the stubborn model has another opinion."""
    asked = words_of(prompt)
    denied = (DENIED in passages and "grey" not in asked) or (CONFIRMED in passages and "thin" in asked)
    stubborn = "not" in asked and bool(asked & set(STUBBORN))
    return "B" if denied or stubborn else "A"


def answer(prompt: str) -> Mapping[str, Any]:
    """A callable's answer: the reply, and what it was made from."""
    passages = retrieved(prompt)
    return {"reply": reply_from(prompt, passages), "context": passages}


def written(path: Any) -> None:
    """The statements as a file of samples."""
    rows = [{**sample, "options": ["true", "false"]} for sample in SAMPLES]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

"""A small RAG application: it retrieves two passages by common words, and answers from the first one."""

import re

PASSAGES = """The harbour of Tarnfield has geese. The lighthouse of Tarnfield has lamps.
The library of Tarnfield has globes. The market of Tarnfield has roses.
The harbour of Brillwick has boats. The lighthouse of Brillwick has flags.
The library of Brillwick has clocks. The market of Brillwick has honey.
The harbour of Colebrook has crabs. The lighthouse of Colebrook has bells.
The library of Colebrook has maps. The market of Colebrook has cheese.
The harbour of Dunmouth has ropes. The lighthouse of Dunmouth has stairs.
The library of Dunmouth has poems. The market of Dunmouth has candles."""
BASE = re.findall(r"\w[^.]*\.", PASSAGES)


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"[a-z]+", text.lower()))


def answer(prompt: str) -> dict[str, object]:
    """Return the reply and the passages behind it."""
    question, *lines = prompt.splitlines()
    passages = sorted(BASE, key=lambda passage: -len(words(question) & words(passage)))[:2]
    options = {line[0]: line[3:] for line in lines if line[1:3] == ". "}
    letters = [letter for letter, text in options.items() if text in passages[0]]
    return {"reply": letters[0] if letters else "A", "context": passages}  # it guesses where nothing fits

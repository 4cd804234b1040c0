"""The picture of a test that compares two answers: what changed by kind of text, and what became of right answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.probes.panels import Bars, Panel, Share, shares


class Changes:
    """Counts of the answers that changed."""

    def __init__(self) -> None:
        self._changed: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._right: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the cases of which it is known whether their answer changed."""
        known = rows[rows["pass"].notna() & rows["error"].isna() & rows["answer_changed"].notna()]
        forms = [form(str(text)) for text in known["original"]]
        self._asked.update(forms)
        self._changed.update(name for name, changed in zip(forms, known["answer_changed"], strict=True) if changed)
        told = known[known["right_before"].notna()]
        self._right.update(_fate(*each) for each in zip(told["right_before"], told["gold_lost"], strict=True))

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Bars of what changed, and of the right answers where they are known."""
        return list(self._panels())

    def _panels(self) -> Iterator[Panel]:
        changed = tuple(
            Share(name=name, count=self._changed[name], total=total) for name, total in sorted(self._asked.items())
        )
        if changed:
            yield Bars(title="Answers that changed, of all scored, by kind of text", shares=changed)
        if self._right:
            yield Bars(title="What became of the right answer", shares=shares(dict(sorted(self._right.items()))))


def form(text: str) -> str:
    """What a text is, by how it begins and ends."""
    if text.startswith("True or false:"):
        return "true or false"
    end = text.rstrip("\"'”’) \n")[-1:]
    return {"?": "question", ".": "statement", "!": "statement"}.get(end, "unfinished")


def _fate(was_right: object, was_lost: object) -> str:
    if not was_right:
        return "wrong before"
    return "right before, lost" if was_lost is True or was_lost == 1 else "right before, kept"

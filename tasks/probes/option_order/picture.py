"""The picture of option_order: what the choices followed, and how often each letter was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.probes.panels import Bars, Panel, shares
from contrapose.tasks.probes.patterns import pattern

SENTENCES = {
    "text": "chooses the same option wherever it stands: the content decides.",
    "letter": "chooses the same letter whatever stands there: the position decides, not the content.",
    "other": "changes to another option and another letter: neither content nor position decides.",
}
"""By what the choice followed."""
WITHOUT_CHOICE = ("unparsed", "tied")
"""A reply named no option; two letters were as likely."""


class Rotations:
    """Counts of the pairs of orders by what the choice followed, and of the letters."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._letters: Counter[str] = Counter()
        self._asked_last: set[tuple[object, ...]] = set()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the pairs that were scored; all orders of a sample stand together."""
        pairs = rows[rows["rotation"].notna() & rows["outcome"].notna()]
        self._outcomes.update(pairs["outcome"])
        self._letters.update(pairs["rotated_letter"].dropna())
        # Each row of an asking repeats the reply to the given order; with `repeats` a sample is asked several times.
        given = pairs.drop_duplicates(["sample_id", "repeat"])
        asked = list(zip(given["sample_id"], given["repeat"], strict=True))
        letters = zip(asked, given["letter"], strict=True)
        self._letters.update(
            letter for asking, letter in letters if asking not in self._asked_last and isinstance(letter, str)
        )
        self._asked_last = set(asked) if asked else self._asked_last

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Bars of what the choices followed; none where no pair was scored."""
        if not self._outcomes:
            return []
        followed = {name: self._outcomes[name] for name in SENTENCES}
        untold = {name: self._outcomes[name] for name in WITHOUT_CHOICE}
        sentence = pattern(followed, SENTENCES, without_choice=sum(untold.values()))
        if sum(untold.values()) <= sum(followed.values()):
            chosen = ", ".join(f"{letter} {self._letters[letter]:,}" for letter in sorted(self._letters))
            sentence = f"{sentence} Letters chosen: {chosen}."
        return [
            Bars(
                title="What the choice followed",
                shares=shares({**followed, **untold}),
                sentence=sentence,
                figures=frozenset(f"outcome_{name}" for name in (*SENTENCES, *WITHOUT_CHOICE)),
            )
        ]

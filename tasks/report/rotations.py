"""What a model does when the options of a question change places, in words."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.report.wording import among, pattern, undecided

SENTENCES = {
    "text": "chooses the same option wherever it stands: the content decides.",
    "letter": "chooses the same letter whatever stands there: the position decides, not the content.",
    "other": "changes to another option and another letter: neither content nor position decides.",
}

UNDECIDED = ("unparsed", "tied")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotations:
    """Counts of the outcomes of option_order."""

    counts: dict[str, int]
    """Pairs of orders by what the choice followed: text, letter, other."""
    undecided: dict[str, int]
    """Pairs without a choice in both orders: unparsed, a reply named no option; tied, two letters were as likely."""
    letters: dict[str, int]
    """How often each letter was chosen; the reply to the given order counts once an asking."""

    @property
    def parsed(self) -> int:
        """Pairs with a choice in both orders."""
        return sum(self.counts.values())


def rotations(results: pd.DataFrame) -> Rotations | None:
    """Count the outcomes of option_order; None when there are no rows of it. Controls have no outcome."""
    if not {"outcome", "rotation"} <= set(results):
        return None
    rows = results[results["rotation"].notna() & results["outcome"].notna()]
    if rows.empty:
        return None
    found = rows["outcome"].value_counts()
    # Each row of an asking repeats the reply to the given order; with `repeats` a sample is asked several times.
    given = rows.drop_duplicates([name for name in ("sample_id", "repeat") if name in rows])
    chosen = pd.concat([given["letter"], rows["rotated_letter"]]).value_counts()
    return Rotations(
        counts={name: int(found.get(name, 0)) for name in SENTENCES},
        undecided={name: int(found.get(name, 0)) for name in UNDECIDED},
        letters={str(letter): int(chosen[letter]) for letter in sorted(chosen.index)},
    )


def reading(found: Rotations) -> str:
    """The pattern in plain words, and how often each letter was chosen."""
    none = sum(found.undecided.values())
    pairs = none + found.parsed
    if none > found.parsed:
        return undecided(none, pairs)
    counted = ", ".join(f"{letter} {count:,}" for letter, count in found.letters.items())
    name = max(found.counts, key=lambda each: found.counts[each])
    told = among(pattern(found.counts[name] / found.parsed, SENTENCES[name]), decided=found.parsed, pairs=pairs)
    return f"{told} Letters chosen: {counted}."

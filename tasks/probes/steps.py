"""Which step of reading decided a choice, as shares of all replies that were to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

STEPS: Mapping[str, str] = {
    "constrained": "an answer held to the letters",
    "letter": "the letter alone",
    "pattern": "a statement",
    "restated": "an option's text",
    "embedding": "embeddings",
    "asked": "asking back",
    "likelihood": "likelihood",
}
"""The steps in their order, as people read them."""

BY_RULES = ("letter", "pattern", "restated")
"""Steps in which rules read a reply."""

UNREAD = "unread"
READ_BY = "read_by_"


def step_figures(columns: Iterable[pd.Series]) -> dict[str, float]:
    """The share of every step that decided something, and of the replies that stayed unread.

    Args:
        columns: the step of one reply a row; missing, or `unparsed`, where nothing decided.

    Returns:
        `read_by_<step>` and `unread`, which add up to 1; nothing where there are no replies.
    """
    steps = pd.concat([pd.Series(dtype=object), *(column.astype(object) for column in columns)])
    if steps.empty:
        return {}
    counted = steps.where(steps.notna() & steps.ne("unparsed"), UNREAD).value_counts()
    others = sorted(set(counted.index) - {*STEPS, UNREAD})
    found = {f"{READ_BY}{step}": float(counted[step] / len(steps)) for step in (*STEPS, *others) if step in counted}
    return {**found, UNREAD: float(counted.get(UNREAD, 0) / len(steps))}


def step_shares(figures: Mapping[str, float | int | None]) -> dict[str, float]:
    """Out of a test's figures the shares of the steps, by names for people, then of the unread; empty without any."""
    named = {name.removeprefix(READ_BY): value for name, value in figures.items() if name.startswith(READ_BY)}
    told = {STEPS.get(step, step): float(value) for step, value in named.items() if value is not None}
    unread = figures.get(UNREAD)
    return told if unread is None else {**told, UNREAD: float(unread)}


def any_read_by(steps: Iterable[str], figures: Mapping[str, float | int | None]) -> bool:
    """Whether one of these steps read some of a test's replies."""
    return any(figures.get(f"{READ_BY}{step}") for step in steps)

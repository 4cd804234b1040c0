"""Figures over a run of option_order: what the choice follows, accuracy, and how even the letters are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.base import Measure, letters

OUTCOMES = ("text", "letter", "other", "unparsed")


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Figures over the scored rows; the reply to a sample's given order counts once.

    Args:
        results: result rows without controls; rows without an outcome (errors, unscored) are left out.

    Returns:
        `samples`, and how many of them follow their option in every order; the outcomes as counts;
        `accuracy` over all orders and in the given one,
        where an unread reply is not right; `chance_pass_rate` of a model that draws letters evenly;
        `<letter>_against_uniform`, how often a letter was chosen by how often an even choice takes it.
        None where nothing can be computed.
    """
    rows = results[results["outcome"].notna()] if "outcome" in results else results.iloc[:0]
    if rows.empty:
        return {"samples": 0}
    given = rows.drop_duplicates("sample_id")
    counts = {name: int((rows["outcome"] == name).sum()) for name in OUTCOMES}
    return {
        "samples": len(given),
        "samples_following_the_option": _consistent(rows),
        **{f"outcome_{name}": count for name, count in counts.items()},
        "accuracy": _share([*given["correct"], *rows["rotated_correct"]]),
        "accuracy_given_order": _share(list(given["correct"])),
        "chance_pass_rate": float((1 / rows["option_count"]).mean()),
        **_letters(given, rows),
    }


def measures(results: pd.DataFrame) -> Sequence[Measure]:
    """Means over pairs of orders: how often the letter decided, and how often another option was chosen.

    Args:
        results: cases and controls. Controls have no outcome.
    """
    if "outcome" not in results:
        return []
    parsed = results["outcome"].isin(OUTCOMES[:3])
    control = results["control"].astype(bool) & results["pass"].notna()
    changed = np.where(control, results["pass"] == False, results["outcome"] != "text")  # noqa: E712
    return [
        Measure(name="share_following_the_letter", values=_where(parsed, results["outcome"] == "letter")),
        Measure(name="choice_changed", values=_where(parsed | control, changed), net="net_order_sensitivity"),
    ]


def _where(known: pd.Series, values: object) -> np.ndarray:
    return np.where(known, np.asarray(values, dtype=float), np.nan)


def _consistent(rows: pd.DataFrame) -> int:
    """Samples whose rotations were all scored, and all followed the option."""
    found = rows.assign(same=rows["outcome"] == "text").groupby("sample_id")
    together = found.agg(same=("same", "sum"), count=("option_count", "first"))
    return int((together["same"] == together["count"] - 1).sum())


def _letters(given: pd.DataFrame, rows: pd.DataFrame) -> dict[str, float | int | None]:
    """How often each letter was chosen, against an even choice among the letters that were there."""
    replies = [*zip(given["letter"], given["option_count"], strict=True)]
    replies += zip(rows["rotated_letter"], rows["option_count"], strict=True)
    read = [(letter, int(count)) for letter, count in replies if isinstance(letter, str)]
    chosen = Counter(letter for letter, _ in read)
    counts = [count for _, count in read]
    found: dict[str, float | int | None] = {}
    for place, letter in enumerate(letters(max(counts, default=0)), start=1):
        even = math.fsum(1 / count for count in counts if count >= place)
        found[f"{letter}_against_uniform"] = chosen[letter] / even
    return found


def _share(values: Sequence[object]) -> float | None:
    known = [bool(value) for value in values if value is not None and value == value]
    return _ratio(sum(known), len(known))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None

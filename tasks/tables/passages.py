"""Columns about retrieved passages: whether the replies of a trial came with the same passages."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from contrapose.tasks.core.passages import Alike
from contrapose.tasks.core.records import Trial
from contrapose.tasks.probes.base import Column
from contrapose.tasks.tables.table import Table, batches

PASSAGES: Mapping[str, Column] = {
    "passages": Column(
        "string",
        "Whether both replies came with the same passages: `same`, `reordered` (the same in another order) or `other`; "
        "missing where that is not known of one of them.",
    ),
    "passages_kept": Column(
        "float",
        "Share of the passages of the reply to the unchanged prompt that came with the other reply too; missing where "
        "there were none.",
        "1",
    ),
    "expected_passages": Column(
        "string", "Passages of the reply to the unchanged prompt, raw, as a JSON list.", holds_text=True
    ),
    "actual_passages": Column(
        "string", "Passages of the reply to the changed prompt, raw, as a JSON list.", holds_text=True
    ),
}
"""Further columns of results if at least one reply came with passages."""

COMPARED = ("passages", "passages_kept")
"""Those that figures are computed from."""


def has_passage_columns(columns: Collection[str]) -> bool:
    """Return whether results have the columns about passages."""
    return set(COMPARED) <= set(columns)


def has_known_passages(trials: Table) -> bool:
    """Return whether the passages of at least one reply of stored trials are known."""
    if not trials["rows"]:
        return False
    return any(
        len(column) > column.null_count
        for part in batches(trials, columns=["expected.passages", "actual.passages"])
        for column in (pc.struct_field(part[side], "passages") for side in ("expected", "actual"))
    )


def make_passage_columns(trials: Sequence[Trial]) -> dict[str, list[Any]]:
    """Return the values of the passage columns for each trial."""

    def to_json(passages: Sequence[str] | None) -> str | None:
        return None if passages is None else json.dumps(list(passages), ensure_ascii=False)

    pairs = [compare_passages(trial.expected.passages, trial.actual.passages) for trial in trials]
    return {
        "passages": [alike for alike, _ in pairs],
        "passages_kept": [kept for _, kept in pairs],
        "expected_passages": [to_json(trial.expected.passages) for trial in trials],
        "actual_passages": [to_json(trial.actual.passages) for trial in trials],
    }


def compare_passages(before: Sequence[str] | None, after: Sequence[str] | None) -> tuple[Alike | None, float | None]:
    """Return whether passages are the same, and the share of the first ones among the second; None if unknown.

    A repeated one counts once. Nothing retrieved twice is the same; of nothing there is no share.
    """
    if before is None or after is None:
        return None, None
    first, second = dict.fromkeys(before), dict.fromkeys(after)
    kept = len(first.keys() & second.keys()) / len(first) if first else None
    if first.keys() != second.keys():
        return "other", kept
    return "same" if list(first) == list(second) else "reordered", kept


def parse_passages(text: object) -> list[str] | None:
    """Return the passages in a cell, or None if it holds none."""
    try:
        passages = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return [str(passage) for passage in passages] if isinstance(passages, list) else None

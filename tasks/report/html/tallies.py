"""What the cards count over all rows, taken part by part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from contrapose.tasks.report.rows import outcomes

MOST_KEYS = 1_000
"""Different reasons that are counted; those of a run with more are counted together as others."""

OTHERS = "other reasons"


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts over the rows of one test."""

    errors: Counter[str] = field(default_factory=Counter)
    """What went wrong where there is no answer."""
    cases: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """By scorer: finite eval_scores."""
    controls: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """The same of the controls."""


def tallies(parts: Iterable[pd.DataFrame]) -> dict[str, Tally]:
    """Counts by test, over all parts."""
    found: dict[str, Tally] = defaultdict(Tally)
    for part in parts:
        for test, rows in _grouped(part, "test_type"):
            _add(found[test], rows)
    return found


def _add(tally: Tally, rows: pd.DataFrame) -> None:
    control = rows.get("control", pd.Series(False, index=rows.index)).eq(True)
    _scores(tally.controls, rows[control])
    cases = rows[~control]
    _scores(tally.cases, cases)
    _count(tally.errors, cases.loc[outcomes(cases) == "error"].get("error"))


def _count(counter: Counter[str], values: pd.Series | None) -> None:
    for value, count in Counter([] if values is None else values.dropna().tolist()).items():
        known = value in counter or len(counter) < MOST_KEYS
        counter[str(value) if known else OTHERS] += count


def _scores(into: dict[str, list[np.ndarray]], rows: pd.DataFrame) -> None:
    for scorer, own in _grouped(rows, "scorer"):
        values = pd.to_numeric(own["eval_score"], errors="coerce").to_numpy(dtype=float)
        into[str(scorer)].append(values[np.isfinite(values)])


def _grouped(rows: pd.DataFrame, name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the value of a column; pandas' own grouping fails on lone surrogates."""
    for value in dict.fromkeys(rows[name].dropna().tolist() if name in rows else ()):
        yield str(value), rows[rows[name] == value]

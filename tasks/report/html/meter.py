"""Drawings of a card: a pass rate on its scale, and eval_scores and errors counted over the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from contrapose.tasks.core.criteria import sort_gates
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.report.rows import outcomes
from contrapose.tasks.text.wording import format_interval, percent


class RateMeter(NamedTuple):
    """A pass rate with its interval, the gate, and the rate of guessing: shares from 0 to 1, None where unknown."""

    rate: float | None
    interval: tuple[float, float] | None
    gate: float | None
    chance: float | None = None
    name: str = "pass_rate"

    @property
    def low(self) -> float:
        """Position where the interval begins, in a drawing 320 units wide."""
        return _position(self.interval[0] if self.interval else 0.0)

    @property
    def width(self) -> float:
        """Length of the interval in the drawing."""
        return max(_position(self.interval[1]) - self.low, 2.0) if self.interval and self.rate is not None else 0.0

    @property
    def words(self) -> str:
        """The same in words, for those who do not see it."""
        name = self.name.replace("_", " ").capitalize()
        known = f"{name} {percent(self.rate)}, 95 % interval {format_interval(self.interval) if self.interval else '–'}"
        marks = (("gate", self.gate), ("chance", self.chance))
        return f"{known}{''.join(f', {mark} {percent(share)}' for mark, share in marks if share is not None)}."


def main_rate(outcome: Outcome) -> RateMeter:
    """Return the documents' pass rate of a test; where another rate decided, or it has no gate, the first that did."""
    gate = next(iter(sort_gates(outcome)), None)
    if gate and gate["name"] != "pass_rate" and (outcome["min_pass_rate"] is None or outcome["verdict"] != "pass"):
        return RateMeter(gate["rate"], gate["interval"], gate["wanted"], gate["chance"], gate["name"])
    return RateMeter(outcome["pass_rate"], outcome["interval"], outcome["min_pass_rate"], outcome["chance"])


def _position(share: float) -> float:
    return round(10.0 + 300.0 * min(max(share, 0.0), 1.0), 1)


MOST_KEYS = 1_000
"""Different reasons that are counted; those of a run with more are counted together as others."""

OTHERS = "other reasons"


@dataclass(slots=True, kw_only=True)
class RowTally:
    """Counts over the rows of one test."""

    errors: Counter[str] = field(default_factory=Counter)
    """Errors where there is no answer."""
    cases: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """Finite eval_scores by scorer."""
    controls: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """The same of the controls."""


def tallies(parts: Iterable[pd.DataFrame]) -> dict[str, RowTally]:
    """Count by test, over all parts."""
    counted: dict[str, RowTally] = defaultdict(RowTally)
    for part in parts:
        for test, rows in _group(part, "test_type"):
            tally, control = counted[test], rows.get("control", pd.Series(False, index=rows.index)).eq(True)
            for into, own in ((tally.controls, rows[control]), (tally.cases, rows[~control])):
                for scorer, of_scorer in _group(own, "scorer"):
                    values = pd.to_numeric(of_scorer["eval_score"], errors="coerce").to_numpy(dtype=float)
                    into[scorer].append(values[np.isfinite(values)])
            cases = rows[~control]
            errors = cases.loc[outcomes(cases) == "error"].get("error", pd.Series(dtype=object))
            for value, count in Counter(errors.dropna().tolist()).items():
                known = value in tally.errors or len(tally.errors) < MOST_KEYS
                tally.errors[str(value) if known else OTHERS] += count
    return counted


def _group(rows: pd.DataFrame, name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the value of a column; pandas' own grouping fails on lone surrogates."""
    for value in dict.fromkeys(rows[name].dropna().tolist() if name in rows else ()):
        yield str(value), rows[rows[name] == value]

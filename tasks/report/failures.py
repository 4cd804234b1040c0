"""The failures that show best what a test found: one sentence each, with what the model was asked and what it said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.probes.base import DescribesFailures
from contrapose.tasks.report.rows import ReportRow, of_test, outcomes, read_rows, tested
from contrapose.tasks.text.diff import Segments, mark
from contrapose.tasks.text.masking import Show

if TYPE_CHECKING:
    from contrapose.tasks.report.base import Results

LOOKED_AT = 200
"""Failures of each test among which the clearest are chosen: the first ones, so that a long run costs no more."""

EXAMPLES = 3
"""Failures of each test that reports may show."""

_TEXTS = ("original", "test_case", "expected_result", "actual_result", "options")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFailure:
    """One scored failure, masked."""

    row: ReportRow
    sentence: str
    """What happened, as the test's probe says it; where it says nothing, why the case failed."""
    original: Segments
    changed: Segments
    context: tuple[tuple[str, str], ...]
    """Options and texts that the prompts hold besides, by name."""


def clear_failures(test: str, figures: pd.DataFrame, results: Results, *, most: int = EXAMPLES) -> pd.DataFrame:
    """The clearest failures of a test, whole rows, the clearest first; no controls, errors or unscored cases.

    Where right answers are known, and all that failed was wrong before, none is shown: it may fit the changed prompt.

    Of the first `LOOKED_AT` failures those come first that have both replies, then those whose change is sure, then
    the shortest; where these are equal, the order of the run decides.
    """
    rows = tested(of_test(figures, test))
    failed = rows[outcomes(rows) == "fail"].index[:LOOKED_AT]
    if failed.empty:
        return pd.DataFrame()
    whole = results.at(list(failed)).reset_index(drop=True)
    return whole.loc[_by_clearness(whole)[:most]]


def shown_failures(test: str, chosen: pd.DataFrame, show: Show) -> list[ShownFailure]:
    """Rows of a test that failed, each with its sentence."""
    if chosen.empty:
        return []
    records = chosen.to_dict("records")
    return [
        _failure(test, {str(name): value for name, value in record.items()}, row, show)
        for record, row in zip(records, read_rows(chosen, show), strict=True)
    ]


def asks(test: str) -> str:
    """What a test asks, in one line; empty where its probe is not installed."""
    return probe(test).summary if test in names("probes") else ""


def text_columns(tests: Iterable[str]) -> list[str]:
    """Names of the columns that people read beside the prompts, as rows show them: context, options, summaries."""
    columns = (probe(test).columns for test in tests if test in names("probes"))
    texts = {name for described in columns for name, column in described.items() if column.holds_text}
    return ["context", "options", *sorted(name.replace("_", " ") for name in texts)]


def _by_clearness(rows: pd.DataFrame) -> list[int]:
    # Arrow's strings, pandas' own, refuse lone surrogates: texts are measured one by one.
    records = rows.reindex(columns=[*_TEXTS, "confidence"]).to_dict("records")

    def key(place: int) -> tuple[bool, bool, int, int]:
        record = records[place]
        lengths = {name: len(record[name]) if isinstance(record[name], str) else 0 for name in _TEXTS}
        silent = not (lengths["expected_result"] and lengths["actual_result"])
        return silent, record["confidence"] != "high", sum(lengths.values()), place

    return sorted(range(len(records)), key=key)


def _failure(test: str, record: Mapping[str, object], row: ReportRow, show: Show) -> ShownFailure:
    described = probe(test) if test in names("probes") else None
    sentence = described.failure(record) if isinstance(described, DescribesFailures) else ""
    marked = mark(row.original, row.changed)
    return ShownFailure(
        row=row,
        sentence=show(sentence) or row.reason,
        original=marked.original,
        changed=marked.changed,
        context=tuple(_context(test, row)),
    )


def _context(test: str, row: ReportRow) -> Iterator[tuple[str, str]]:
    """Texts of the row that its prompts do not repeat."""
    named, prompts = text_columns([test]), f"{row.original}\n{row.changed}"
    for name, text in row.details:
        parts = [part.strip() for part in _LABEL.sub("", text).replace("…", "\n").splitlines()]
        if name in named and not all(part in prompts for part in parts):
            yield name, text


_LABEL = re.compile(r"^\S{1,3}[.)] ", re.MULTILINE)
"""What stands before an option."""

"""Choose the failed cases that are easiest to understand, and mark the words that changed in their prompts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from contrapose.tasks.core.registry import is_probe, probe
from contrapose.tasks.report.rows import Pairs, ReportRow, classify, omit_controls, pick_test, read_rows
from contrapose.tasks.text.diff import Segments, mark_differences
from contrapose.tasks.text.masking import Show

LOOKED_AT = 200
"""Failures of each test among which the clearest are chosen: the first ones, so that a long run costs no more."""

EXAMPLES = 3
"""Failures of each test that reports may show."""

_TEXTS = ("original", "test_case", "expected_result", "actual_result", "options")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedRow:
    """A row with its changed words marked; every text is safe to show."""

    row: ReportRow
    original: Segments
    changed: Segments
    context: Pairs
    """Texts that people read next to the prompts: options, articles."""
    details: Pairs = ()
    """All other columns."""
    number: str = ""
    """Number of the case within its sample; empty if a sample has one."""
    sentence: str = ""
    """Of a failure, what happened, as the test's probe says it, or why the case failed."""


def mark_row(row: ReportRow, named: Iterable[str], *, number: str = "") -> MarkedRow:
    """Return a row with its changed words marked; details with one of the names are its context."""
    marked, known = mark_differences(row.original, row.changed), set(named)
    return MarkedRow(
        row=row,
        number=number,
        original=marked.original,
        changed=marked.changed,
        context=tuple((name, text) for name, text in row.details if name in known),
        details=tuple((name, text) for name, text in row.details if name not in known),
    )


def find_failures(
    test: str, figures: pd.DataFrame, read: Callable[[Sequence[int]], pd.DataFrame], *, most: int = EXAMPLES
) -> pd.DataFrame:
    """Return the failures of a test that are easiest to understand, as raw rows, easiest first.

    `read` returns rows by ascending positions, with all columns. Controls, errors and unscored cases are left out.

    Where right answers are known, and all that failed was wrong before, none is shown: it may fit the changed prompt.

    Of the first `LOOKED_AT` failures those come first that have both replies, then those whose change is sure, then
    the shortest; where these are equal, the order of the run decides.
    """
    rows = omit_controls(pick_test(figures, test))
    failed = rows[classify(rows) == "fail"].index[:LOOKED_AT]
    if failed.empty:
        return pd.DataFrame()
    whole = read(list(failed)).reset_index(drop=True)
    # Arrow's strings, pandas' own, refuse lone surrogates: texts are measured one by one.
    records = whole.reindex(columns=[*_TEXTS, "confidence"]).to_dict("records")

    def clearness(place: int) -> tuple[bool, bool, int]:
        record = records[place]
        lengths = {name: len(record[name]) if isinstance(record[name], str) else 0 for name in _TEXTS}
        silent = not (lengths["expected_result"] and lengths["actual_result"])
        return silent, record["confidence"] != "high", sum(lengths.values())

    return whole.loc[sorted(range(len(records)), key=clearness)[:most]]


def show_failures(test: str, chosen: pd.DataFrame, show: Show) -> list[MarkedRow]:
    """Return failed rows of a test with a sentence each; their context omits what the prompts already show."""
    if chosen.empty:
        return []
    described, named, failures = probe(test) if is_probe(test) else None, list_texts([test]), []
    for record, row in zip(chosen.to_dict("records"), read_rows(chosen, show), strict=True):
        values = {str(name): value for name, value in record.items()}
        said = described.failure(values) if described else ""
        marked, prompts = mark_row(row, named), f"{row.original}\n{row.changed}"
        context = tuple(
            (name, text)
            for name, text in marked.context
            # What stands before an option is no part of it.
            if not all(
                part.strip() in prompts
                for part in re.sub(r"^\S{1,3}[.)] ", "", text, flags=re.MULTILINE).replace("…", "\n").splitlines()
            )
        )
        failures.append(replace(marked, sentence=show(said) or row.reason, context=context, details=()))
    return failures


def state_question(test: str) -> str:
    """Return the question that a test answers, in one line, or "" if its probe is not installed."""
    return probe(test).summary if is_probe(test) else ""


def list_texts(tests: Iterable[str]) -> list[str]:
    """Return names of the columns to show next to the prompts, as displayed: context, options, summaries."""
    columns = (probe(test).columns for test in tests if is_probe(test))
    texts = {name for described in columns for name, column in described.items() if column.holds_text}
    return ["context", "options", *sorted(name.replace("_", " ") for name in texts)]

"""Result rows as people read them, and of how many rows of a source they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd
from pandas.arrays import ArrowExtensionArray

from contrapose.tasks.core.outcome import DataSummary, LeftOut, LimitedBy, Outcome, Summary
from contrapose.tasks.core.stopping import asked_of, early_stop
from contrapose.tasks.report.passages import passage_details
from contrapose.tasks.text.cleaning import visible
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import columns_read, counted, number

RowOutcome = Literal["pass", "fail", "wrong before", "unscored", "error"]
"""`wrong before`: an answer that stayed, and was wrong under the unchanged prompt: it may fit the changed one."""

PLACED = frozenset(
    {
        *("test_type", "category", "sample_id", "case_id", "model", "probe_version"),
        *("original", "test_case", "expected_result", "actual_result"),
        *("eval_score", "pass", "reason", "error", "control"),
        *("expected_passages", "actual_passages"),
    }
)
"""Columns that a row shows, or that all rows of a report share; every other column is a detail."""

LONGEST_ID = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One trial; every text is masked and cleaned."""

    test: str
    """Name of the probe."""
    id: str
    """Sample id; cleaned but not masked, since it is looked up."""
    outcome: RowOutcome
    """What became of it."""
    control: bool
    """Whether it is a control: it passes when the answer stayed as it was."""
    score: str
    """The eval_score; empty when there is none."""
    original: str
    """The unchanged text."""
    changed: str
    """The perturbed text."""
    before: str
    """Reply to the original."""
    after: str
    """Reply to the perturbed prompt."""
    reason: str
    """What decided."""
    details: tuple[tuple[str, str], ...]
    """Names and values of the columns that only some tests have."""


def outcomes(results: pd.DataFrame) -> pd.Series:
    """What became of every row: a series of `RowOutcome`, indexed like the results."""
    failed = _column(results, "error").notna()
    verdict = _column(results, "pass")
    names = verdict.map({True: "pass", False: "fail"}).astype(object).where(verdict.notna(), "unscored")
    # Only tests whose answers should change have the first of these columns.
    wrong = _column(results, "right_and_noticed").notna() & _column(results, "right_before").eq(False)
    return names.mask(wrong & names.eq("fail"), "wrong before").where(~failed, "error")


def tested(results: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: all but the controls."""
    return results[_column(results, "control").ne(True)]


def of_test(results: pd.DataFrame, test: str) -> pd.DataFrame:
    """The rows of one test; pandas' own grouping fails on lone surrogates."""
    return results[results["test_type"] == test] if "test_type" in results else results


def read_rows(results: pd.DataFrame, show: Show) -> Iterator[ReportRow]:
    """Rows of the results, in their order."""
    names = [str(name) for name in results]
    details = {name: visible(name.replace("_", " ")) for name in names if name not in PLACED}
    rows = zip(*(_values(results[name]) for name in results), strict=True)
    for values, outcome in zip(rows, outcomes(results), strict=True):
        yield _row(dict(zip(names, values, strict=True)), outcome, details, show)


def _values(column: pd.Series) -> list[Any]:
    """Those of a column, plain: Arrow's own column tells them sooner than pandas does."""
    array = column.array
    plain = array.__arrow_array__().to_pylist() if isinstance(array, ArrowExtensionArray) else column.tolist()
    return list(plain)


def name_of(identifier: object) -> str:
    """A sample id or test name as people see it; of a long one both ends, since many ids differ in their last signs."""
    text = _text(identifier)
    half = LONGEST_ID // 2
    return visible(text if len(text) <= LONGEST_ID else f"{text[:half]} … {text[-half:]}")


def _row(record: Mapping[str, Any], outcome: RowOutcome, details: Mapping[str, str], show: Show) -> ReportRow:
    def shown(name: str) -> str:
        return show(_text(record.get(name)))

    return ReportRow(
        test=name_of(record.get("test_type")),
        id=name_of(record.get("sample_id")),
        outcome=outcome,
        control=record.get("control") is True,
        score=_text(record.get("eval_score")),
        original=shown("original"),
        changed=shown("test_case"),
        before=shown("expected_result"),
        after=shown("actual_result"),
        reason=shown("reason") or shown("error"),
        details=tuple(_details(record, details, show)),
    )


def _details(record: Mapping[str, Any], labels: Mapping[str, str], show: Show) -> Iterator[tuple[str, str]]:
    for name, label in labels.items():
        text = _text(record[name])
        if text and (name, text) != ("repeat", "0"):
            yield label, show(text)
    yield from ((name, show(text)) for name, text in passage_details(record))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value != value:
        return ""
    return number(value) if isinstance(value, float) else str(value)


def _column(results: pd.DataFrame, name: str) -> pd.Series:
    return results[name] if name in results else pd.Series(None, index=results.index, dtype=object)


LIMITS: Mapping[LimitedBy, str] = {
    "suite": "limit of the suite",
    "test": "limit of the test",
    "given": "limit given",
}
"""Whose limit cuts a source, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRows:
    """What was left out of one source."""

    title: str
    """How many rows, of which source, for which tests."""
    rows: tuple[str, ...]
    """The first of them, each with its number and what was wrong."""
    more: int
    """How many others there are."""

    def shown(self, show: Show) -> LeftOutRows:
        """The same, fit to be seen."""
        return replace(self, title=show(self.title), rows=tuple(map(show, self.rows)))

    def lines(self) -> Iterator[str]:
        """The rows, and how many others there are."""
        yield from self.rows
        if self.more:
            yield f"and {self.more:,} more"


def taken(samples: int, rows: int, *, limited_by: LimitedBy | None, left_out: LeftOut | None) -> str:
    """How many of the rows that could be used were taken: `40 of 10,000 rows (limit of the suite)`, `all 371 rows`."""
    bad = left_out["count"] if left_out else 0
    why = [LIMITS[limited_by]] if limited_by and samples < rows else []
    why += [f"{bad:,} left out"] if bad else []
    if not why:
        return f"all {rows:,} rows" if rows > 1 else counted("rows", rows)
    return f"{samples:,} of {rows + bad:,} rows ({'; '.join(why)})"


def taken_by(outcome: Outcome) -> str:
    """How many rows a test took, or cases where it was stopped early; empty where that is not known."""
    data = outcome["data"]
    if not data["rows"]:
        return ""
    if early := early_stop(outcome):
        return asked_of(early) + _cut(data)
    return taken(outcome["samples"], data["rows"], limited_by=data.get("limited_by"), left_out=data.get("left_out"))


def _cut(data: DataSummary) -> str:
    """What had cut the rows before: ` (10,000 rows; limit of the suite)`; empty where nothing had."""
    bad = data["left_out"]["count"] if "left_out" in data else 0
    why = [LIMITS[data["limited_by"]]] if "limited_by" in data else []
    why += [f"{bad:,} left out"] if bad else []
    return f" ({'; '.join([counted('rows', data['rows'] + bad), *why])})" if why else ""


def in_part(outcome: Outcome) -> bool:
    """Whether a test did not take all rows of its source, or was stopped early."""
    return bool({"limited_by", "left_out"} & {*outcome["data"]}) or early_stop(outcome) is not None


def not_all(summary: Summary) -> str:
    """The tests that did not take all rows, or were stopped early, in one sentence; empty where there are none."""
    cut = filter(in_part, summary["tests"])
    text = ", ".join(f"{outcome['test_type']} {taken_by(outcome)}" for outcome in cut)
    return f"Judged: {text}." if text else ""


def is_file(source: str) -> bool:
    """Whether a source is a file or data set of the user's own, and no bundled one."""
    return bool({".", "/"} & {*source})


def read_columns(tests: Iterable[Outcome]) -> list[str]:
    """Which columns of each file were read as what; those of bundled samples are no news."""
    files = (outcome["data"] for outcome in tests if is_file(outcome["data"]["source"]))
    lines = (f"{data['source']}: {columns_read(data['columns'])}" for data in files if "columns" in data)
    return list(dict.fromkeys(lines))


def left_out(tests: Iterable[Outcome]) -> list[LeftOutRows]:
    """What was left out, source by source: tests that read the same rows share them."""
    sources: dict[str, tuple[DataSummary, list[str]]] = {}
    for outcome in tests:
        data = outcome["data"]
        if "left_out" in data:
            sources.setdefault(repr((data["source"], data["left_out"])), (data, []))[1].append(outcome["test_type"])
    return [left_out_rows(data["source"], data["rows"], data["left_out"], names) for data, names in sources.values()]


def left_out_rows(source: str, rows: int, reasons: LeftOut, tests: Iterable[str]) -> LeftOutRows:
    """What was left out of one source, beside so many rows that could be used."""
    shown = tuple(f"row {row['row']:,}: {row['why']}" for row in reasons["rows"])
    what = f"{reasons['count']:,} of {reasons['count'] + rows:,} rows cannot be used and were left out"
    return LeftOutRows(title=f"{source} ({', '.join(tests)}): {what}", rows=shown, more=reasons["count"] - len(shown))

"""Result rows formatted for people, and words on how many rows of a source a test used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import pandas as pd
from pandas.arrays import ArrowExtensionArray

from contrapose.tasks.core.outcome import DataSummary, LeftOut, LimitedBy, Outcome, Summary
from contrapose.tasks.core.stopping import describe_asked_cases, early_stop
from contrapose.tasks.core.tool_calls import format_reply
from contrapose.tasks.report.passages import list_passages
from contrapose.tasks.text.cleaning import show_hidden
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import columns_read, counted, number

RowOutcome = Literal["fail", "error", "unscored", "wrong before", "pass"]
"""`wrong before`: an answer that stayed, and was wrong under the unchanged prompt: it may fit the changed one."""

OUTCOMES: tuple[RowOutcome, ...] = get_args(RowOutcome)
"""By number, as the page's script knows them; reports show the first ones first."""

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

Pairs = tuple[tuple[str, str], ...]
"""Names with their values or texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One result row, ready to show: every text is masked and cleaned."""

    test: str
    id: str
    """Sample id; cleaned but not masked, since people search for it."""
    outcome: RowOutcome
    control: bool
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
    details: Pairs
    """Names and values of the columns that only some tests have."""


def classify(results: pd.DataFrame) -> pd.Series:
    """Return a series of `RowOutcome`, indexed like the results."""

    def column(name: str) -> pd.Series:
        return results[name] if name in results else pd.Series(None, index=results.index, dtype=object)

    verdict = column("pass")
    names = verdict.map({True: "pass", False: "fail"}).astype(object).where(verdict.notna(), "unscored")
    # Only tests whose answers should change have the first of these columns.
    wrong = column("right_and_noticed").notna() & column("right_before").eq(False)
    return names.mask(wrong & names.eq("fail"), "wrong before").where(~column("error").notna(), "error")


def omit_controls(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a results table without controls."""
    return results[results["control"].ne(True)] if "control" in results else results


def pick_test(results: pd.DataFrame, test: str) -> pd.DataFrame:
    """Return the rows of one test; pandas' own grouping fails on lone surrogates."""
    return results[results["test_type"] == test] if "test_type" in results else results


def read_rows(results: pd.DataFrame, show: Show) -> Iterator[ReportRow]:
    """Yield the result rows in order, with texts made safe by `show`."""
    names = [str(name) for name in results]
    labels = {name: show_hidden(name.replace("_", " ")) for name in names if name not in PLACED}
    columns = []
    for name in results:
        # Arrow's own column gives plain values sooner than pandas does.
        array = results[name].array
        arrow = isinstance(array, ArrowExtensionArray)
        columns.append(array.__arrow_array__().to_pylist() if arrow else results[name].tolist())
    for values, outcome in zip(zip(*columns, strict=True), classify(results), strict=True):
        record = dict(zip(names, values, strict=True))
        details = [
            (label, show(_to_text(record[name]))) for name, label in labels.items() if _is_detail(name, record[name])
        ]
        details += [(name, show(text)) for name, text in list_passages(record)]
        shown = {name: show(_to_text(record.get(name))) for name in ("original", "test_case", "reason")}
        yield ReportRow(
            test=cut_name(record.get("test_type")),
            id=cut_name(record.get("sample_id")),
            outcome=outcome,
            control=record.get("control") is True,
            score=_to_text(record.get("eval_score")),
            original=shown["original"],
            changed=shown["test_case"],
            before=show(format_reply(_to_text(record.get("expected_result")))),
            after=show(format_reply(_to_text(record.get("actual_result")))),
            reason=shown["reason"] or show(_to_text(record.get("error"))),
            details=tuple(details),
        )


def cut_name(identifier: object) -> str:
    """Return a sample id or test name for display; the middle of a long one is cut."""
    text = _to_text(identifier)
    half = LONGEST_ID // 2
    return show_hidden(text if len(text) <= LONGEST_ID else f"{text[:half]} … {text[-half:]}")


def _is_detail(name: str, value: object) -> bool:
    text = _to_text(value)
    return bool(text) and (name, text) != ("repeat", "0")


def _to_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value != value:
        return ""
    return number(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRows:
    """The rows of one source that were left out."""

    title: str
    """How many rows, of which source, for which tests."""
    rows: tuple[str, ...]
    """The first of them, each with its number and what was wrong."""
    more: int
    """Number of the others."""

    def shown(self, show: Show) -> LeftOutRows:
        """Return the same, safe to show."""
        return replace(self, title=show(self.title), rows=tuple(map(show, self.rows)))

    def lines(self) -> Iterator[str]:
        """Lines for the rows, and for the number of others."""
        yield from self.rows
        if self.more:
            yield f"and {self.more:,} more"


LIMITS: Mapping[LimitedBy, str] = {
    "suite": "limit of the suite",
    "test": "limit of the test",
    "given": "your limit",
}
"""Reasons why a source is cut, in words."""


def _cut_reasons(limited_by: LimitedBy | None, bad: int) -> list[str]:
    return [*([LIMITS[limited_by]] if limited_by else []), *([f"{bad:,} left out"] if bad else [])]


def format_rows(samples: int, rows: int, *, limited_by: LimitedBy | None, left_out: LeftOut | None) -> str:
    """Return `40 of 10,000 rows (limit of the suite)` or `all 371 rows`; `rows` are those that could be used."""
    bad = left_out["count"] if left_out else 0
    why = _cut_reasons(limited_by if samples < rows else None, bad)
    if not why:
        return f"all {rows:,} rows" if rows > 1 else counted("rows", rows)
    return f"{samples:,} of {rows + bad:,} rows ({'; '.join(why)})"


def show_rows(outcome: Outcome) -> str:
    """Return how many rows a test took, or cases where it was stopped early, or "" if that is not known."""
    data = outcome["data"]
    if not data["rows"]:
        return ""
    early, limited_by, left_out = early_stop(outcome), data.get("limited_by"), data.get("left_out")
    if not early:
        return format_rows(outcome["samples"], data["rows"], limited_by=limited_by, left_out=left_out)
    bad = left_out["count"] if left_out else 0
    why = _cut_reasons(limited_by, bad)
    return describe_asked_cases(early) + (f" ({'; '.join([counted('rows', data['rows'] + bad), *why])})" if why else "")


def is_partial(outcome: Outcome) -> bool:
    """Return true if a test did not take all rows of its source, or was stopped early."""
    return bool({"limited_by", "left_out"} & {*outcome["data"]}) or early_stop(outcome) is not None


def name_partial(summary: Summary) -> str:
    """Return a sentence that names tests with unused rows or an early stop, or "" if there are none."""
    text = ", ".join(f"{one['test_type']} {show_rows(one)}" for one in filter(is_partial, summary["tests"]))
    return f"Judged: {text}." if text else ""


def is_user_file(source: str) -> bool:
    """Return true for a file or data set of the user's own, false for a bundled one."""
    return bool({".", "/"} & {*source})


def format_columns(tests: Iterable[Outcome]) -> list[str]:
    """Return a line for each user file that says how its columns were read."""
    files = (outcome["data"] for outcome in tests if is_user_file(outcome["data"]["source"]))
    lines = (f"{data['source']}: {columns_read(data['columns'])}" for data in files if "columns" in data)
    return list(dict.fromkeys(lines))


def list_unused(tests: Iterable[Outcome]) -> list[LeftOutRows]:
    """Return the left-out rows of each source; tests that read the same rows share an entry."""
    sources: dict[str, tuple[DataSummary, list[str]]] = {}
    for outcome in tests:
        data = outcome["data"]
        if "left_out" in data:
            sources.setdefault(repr((data["source"], data["left_out"])), (data, []))[1].append(outcome["test_type"])
    return [make_left_out(data["source"], data["rows"], data["left_out"], names) for data, names in sources.values()]


def make_left_out(source: str, rows: int, reasons: LeftOut, tests: Iterable[str]) -> LeftOutRows:
    """Return the left-out rows of one source; `rows` is the number of usable rows."""
    shown = tuple(f"row {row['row']:,}: {row['why']}" for row in reasons["rows"])
    what = f"{reasons['count']:,} of {reasons['count'] + rows:,} rows cannot be used and were left out"
    return LeftOutRows(title=f"{source} ({', '.join(tests)}): {what}", rows=shown, more=reasons["count"] - len(shown))

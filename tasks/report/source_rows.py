"""How many rows of its source a test took, and which could not be used, in words that are the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from contrapose.tasks.outcome import DataSummary, LeftOut, LimitedBy, Outcome, Summary
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.wording import counted

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
    """How many rows were taken, such as `40 of 10,000 rows (limit of the suite)` or `all 371 rows`.

    Args:
        samples: that were taken.
        rows: that could be used.
        limited_by: whose limit there was, if any.
        left_out: rows that could not be used, if any.
    """
    bad = left_out["count"] if left_out else 0
    why = [LIMITS[limited_by]] if limited_by and samples < rows else []
    why += [f"{bad:,} left out"] if bad else []
    if not why:
        return f"all {rows:,} rows" if rows > 1 else counted("rows", rows)
    return f"{samples:,} of {rows + bad:,} rows ({'; '.join(why)})"


def taken_by(outcome: Outcome) -> str:
    """How many rows a test took; empty where that is not known, or none were there."""
    data = outcome["data"]
    if not data["rows"]:
        return ""
    return taken(outcome["samples"], data["rows"], limited_by=data.get("limited_by"), left_out=data.get("left_out"))


def in_part(outcome: Outcome) -> bool:
    """Whether a test did not take all rows of its source."""
    return bool({"limited_by", "left_out"} & {*outcome["data"]})


def not_all(summary: Summary) -> str:
    """The tests that did not take all rows, in one sentence; empty where each did."""
    cut = filter(in_part, summary["tests"])
    told = ", ".join(f"{outcome['test_type']} {taken_by(outcome)}" for outcome in cut)
    return f"Judged: {told}." if told else ""


def left_out(tests: Iterable[Outcome]) -> list[LeftOutRows]:
    """What was left out, source by source: tests that read the same rows share them."""
    found: dict[str, tuple[DataSummary, list[str]]] = {}
    for outcome in tests:
        data = outcome["data"]
        if "left_out" in data:
            found.setdefault(repr((data["source"], data["left_out"])), (data, []))[1].append(outcome["test_type"])
    return [_told(data, names) for data, names in found.values()]


def left_out_rows(source: str, rows: int, found: LeftOut, tests: Iterable[str]) -> LeftOutRows:
    """What was left out of one source, beside so many rows that could be used."""
    shown = tuple(f"row {each['row']:,}: {each['why']}" for each in found["rows"])
    what = f"{found['count']:,} of {found['count'] + rows:,} rows cannot be used and were left out"
    return LeftOutRows(title=f"{source} ({', '.join(tests)}): {what}", rows=shown, more=found["count"] - len(shown))


def _told(data: DataSummary, tests: list[str]) -> LeftOutRows:
    return left_out_rows(data["source"], data["rows"], data["left_out"], tests)

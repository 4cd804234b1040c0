"""Check each table against its suites, part by part, and store the rows that break an expectation."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.validation import SHOWN_ROWS, BrokenRow, Finding, Kind, Suite
from contrapose.tasks.tables.passages import PASSAGES
from contrapose.tasks.tables.results import TYPES
from contrapose.tasks.tables.table import Table, write_arrow
from contrapose.tasks.validate.expectations import SMALL, SeenRows, check_rows, is_every_row, is_rowwise, reuse_result
from contrapose.tasks.validate.kinds import (
    DERIVED,
    KEYS,
    LEFT_OUT,
    LINKS,
    UNKNOWN,
    Handed,
    derive,
    expand_rows,
    get_stored_schema,
)
from contrapose.tasks.validate.suites import list_named_columns, list_parameters, load_bundled_suite, select_suites


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """Result of checking a table against its suites."""

    rows: int
    findings: list[Finding]
    """In the order of the suites."""
    broken: Mapping[int, Sequence[str]]
    """Numbers of the rows that break expectations, and what these are about."""
    lost: Sequence[str]
    """Ids that were handed over and that nothing was made from."""


def sift(kind: Kind, parts: Iterable[pa.Table], plan: Plan, *, handed: Handed, own: Sequence[Suite] = ()) -> Sifted:
    """Check a table of a test against the project's suite and the user's own, which may be about any table.

    Its parts, as they are stored, are of any size; there is at least one. It must account for what was handed over.
    """
    suites, expected = select_suites(own, kind, plan.test), get_stored_schema(kind, plan.test)
    groups = [group for suite in suites for group in group_expectations(suite, kind, handed)]
    nothing = add_derived(kind, expand_rows(kind, expected.empty_table()), plan, groups)
    kept, count = [keep_columns(kind, nothing, groups)], 0
    for part in parts:
        if wrong := find_type_violations(part.schema, expected):
            # Expectations about values would fail for reasons that are none.
            finding = make_type_finding(load_bundled_suite(kind), rows=part.num_rows, wrong=wrong)
            return Sifted(rows=count + part.num_rows, findings=[finding], broken={}, lost=[])
        rows = add_derived(kind, expand_rows(kind, part), plan, groups)
        check_groups(groups, "part", rows, first=count + 1, handed=handed)
        kept.append(keep_columns(kind, rows, groups))
        count += rows.num_rows
    whole = pa.concat_tables(kept)
    if kind in LINKS and handed.ids is not None:
        links = whole[LINKS[kind]]
        unknown = pc.and_(pc.invert(pc.is_in(links, value_set=handed.ids)), pc.is_valid(links))
        whole = whole.append_column(UNKNOWN, unknown)
        left_out = pc.invert(pc.is_in(handed.ids, value_set=links))
        accounted = pa.table({KEYS[kind]: handed.ids, LEFT_OUT: left_out})
        check_groups(groups, "handed", accounted, first=1, handed=handed)
    check_groups(groups, "whole", whole, first=1, handed=handed)
    tallies = [(group, tally) for group in groups for tally in group.tallies]
    lost = [number - 1 for number in list_broken_rows([tally for group, tally in tallies if group.scope == "handed"])]
    order = {id(suite): number for number, suite in enumerate(suites)}
    in_order = sorted(tallies, key=lambda one: (order[id(one[0].suite)], one[1].place))
    return Sifted(
        rows=count,
        findings=[
            make_type_finding(load_bundled_suite(kind), rows=count, wrong=[]),
            *(tally.finding(group.suite) for group, tally in in_order),
        ],
        broken=list_broken_rows([tally for group, tally in tallies if group.scope != "handed"]),
        lost=[] if handed.ids is None else handed.ids.take(pa.array(lost, pa.int64())).to_pylist(),
    )


Scope = Literal["part", "whole", "handed"]
"""Rows that an expectation must see at once."""


@dataclass(frozen=True, kw_only=True)
class ExpectationGroup:
    """Expectations of one suite and one scope."""

    suite: Suite
    scope: Scope
    tallies: list[ExpectationTally]

    @cached_property
    def columns(self) -> list[str]:
        """Columns that the expectations of the group use."""
        return list(dict.fromkeys(name for tally in self.tallies for name in list_named_columns(tally.expectation)))

    def check(self, rows: pa.Table, *, first: int, parameters: Mapping[str, object]) -> None:
        """Check rows and add the findings to the tallies; `first` is the number of the first row."""
        expectations = [tally.expectation for tally in self.tallies]
        numbers = (first, first + rows.num_rows)
        table = rows.select(self.columns)
        look = partial(check_rows, expectations, table, numbers=numbers, parameters=parameters)
        terms = [expectations, dict(parameters), first, rows.num_rows]
        seen = reuse_result(table, terms, look) if rows.num_rows <= SMALL else look()
        for tally, of_one in zip(self.tallies, seen, strict=True):
            tally.add(of_one, rows, first=first)


def group_expectations(suite: Suite, kind: Kind, handed: Handed) -> list[ExpectationGroup]:
    """Group the expectations of a suite by scope, without those that need unknown facts of the rows before.

    Those that look at every row of a part are separate, since that is checked quickly.
    """
    flags = frozenset((*DERIVED[kind], UNKNOWN, LEFT_OUT))
    grouped: dict[tuple[Scope, bool], list[ExpectationTally]] = {}
    for place, expectation in enumerate(suite["expectations"], 1):
        columns = set(list_named_columns(expectation))
        known = set(list_parameters(expectation["kwargs"])) <= set(handed.parameters)
        if not known or (handed.ids is None and columns & {UNKNOWN, LEFT_OUT}):
            continue
        by_part = is_rowwise(expectation) and UNKNOWN not in columns
        scope: Scope = "handed" if LEFT_OUT in columns else "part" if by_part else "whole"
        tally = ExpectationTally(expectation=expectation, place=place, key=KEYS[kind], flags=flags)
        grouped.setdefault((scope, scope == "part" and is_every_row(expectation)), []).append(tally)
    return [ExpectationGroup(suite=suite, scope=scope, tallies=tallies) for (scope, _), tallies in grouped.items()]


LARGE = 5_000
"""Rows of a table whose copies do not wait for the next garbage collection."""


def check_groups(groups: Sequence[ExpectationGroup], scope: str, rows: pa.Table, *, first: int, handed: Handed) -> None:
    """Check rows against the groups of one scope."""
    for group in groups:
        if group.scope == scope:
            group.check(rows, first=first, parameters=handed.parameters)
            if rows.num_rows >= LARGE:
                # The library leaves copies in cycles: of 400,000 cases they came to 870 MiB. Those of a small table
                # are young, since garbage was not collected meanwhile.
                gc.collect(1 if rows.num_rows <= SMALL else 2)


def add_derived(kind: Kind, rows: pa.Table, plan: Plan, groups: Sequence[ExpectationGroup]) -> pa.Table:
    """Return the rows with the derived columns that a suite names."""
    for name in dict.fromkeys(name for group in groups for name in group.columns):
        if name in DERIVED[kind]:
            rows = rows.append_column(name, derive(kind, name, rows, plan))
        elif name in PASSAGES and name not in rows.column_names:
            # A suite may name them in a run that has none.
            rows = rows.append_column(name, pa.nulls(rows.num_rows, TYPES[PASSAGES[name].type]))
    return rows


def keep_columns(kind: Kind, rows: pa.Table, groups: Sequence[ExpectationGroup]) -> pa.Table:
    """Return the columns that checks of the complete table need."""
    named = [name for group in groups if group.scope == "whole" for name in group.columns]
    kept = dict.fromkeys([KEYS[kind], *([LINKS[kind]] if kind in LINKS else []), *named])
    return rows.select([name for name in kept if name != UNKNOWN])


def store_broken_rows(kind: Kind, parts: Iterable[pa.Table], sifted: Sifted) -> Table | None:
    """Store the rows of a table that break an expectation; lost ones follow, by their id alone.

    The rows have the columns `row` (number) and `broken` (names of wrong columns) before their own; None: no such row.
    """
    if not sifted.broken and not sifted.lost:
        return None
    kept, first = [], 1

    def add_reasons(numbers: Sequence[int | None], reasons: Sequence[str], rows: pa.Table) -> None:
        about = pa.table({"row": pa.array(numbers, pa.int64()), "broken": pa.array(reasons, pa.string())})
        schema = pa.schema([*about.schema, *rows.schema])
        kept.append(pa.Table.from_arrays([*about.columns, *rows.columns], schema=schema))

    for part in parts:
        rows = expand_rows(kind, part)
        numbers = [number for number in sifted.broken if first <= number < first + rows.num_rows]
        reasons = [", ".join(dict.fromkeys(sifted.broken[number])) for number in numbers]
        add_reasons(numbers, reasons, rows.take(pa.array([number - first for number in numbers], pa.int64())))
        first += rows.num_rows
    lost = pa.array(sifted.lost, pa.string())
    add_reasons([None] * len(lost), [LEFT_OUT] * len(lost), pa.table({KEYS[kind]: lost}))
    rows = pa.concat_tables(kept, promote_options="default")
    return write_arrow([rows], rows.schema)


KEPT_ROWS = 10_000
"""Upper bound of the rows kept as evidence of those that break one expectation."""
LONGEST = 200
"""Characters of a value that a finding repeats."""


@dataclass(slots=True, kw_only=True)
class ExpectationTally:
    """Findings of one expectation over the parts of a table."""

    expectation: Mapping[str, Any]
    """As its suite has it."""
    place: int
    """In its suite, from 1."""
    key: str
    """Column that names a row."""
    flags: frozenset[str]
    """Columns whose values say only that something is wrong."""
    holds: bool = True
    looked_at: int = 0
    observed: str = ""
    count: int = 0
    rows: list[BrokenRow] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Numbers of the rows that are kept as evidence."""

    def add(self, seen: SeenRows, rows: pa.Table, *, first: int) -> None:
        """Add the findings of a part, whose first row has the number `first`."""
        self.holds &= seen.holds
        self.looked_at += seen.looked_at
        self.observed = seen.error or format_value(seen.observed) or self.observed
        self.count += seen.count
        names = [name for name in list_named_columns(self.expectation) if name not in self.flags]
        for number in seen.broken[: SHOWN_ROWS - len(self.rows)]:
            row = {name: to_plain(rows[name][number - first].as_py()) for name in (self.key, *names)}
            key = None if row[self.key] is None else str(row[self.key])
            self.rows.append(BrokenRow(row=number, key=key, values={name: row[name] for name in names}))
        self.numbers += seen.broken[: KEPT_ROWS - len(self.numbers)]

    def finding(self, suite: Suite) -> Finding:
        """Return the findings as plain data; an expectation without words is told by its type and arguments."""
        kind, kwargs, meta = self.expectation["type"], self.expectation["kwargs"], self.expectation["meta"]
        about = ", ".join(f"{name}: {format_value(value)}" for name, value in kwargs.items())
        words = kind.removeprefix("expect_").replace("_", " ") + (f" ({about})" if about else "")
        return Finding(
            suite=suite["source"],
            place=self.place,
            type=kind,
            kwargs=dict(kwargs),
            what=meta["what"] or words,
            why=meta["why"],
            blocks=self.expectation["severity"] == "critical",
            looked_at=self.looked_at,
            observed=self.observed,
            holds=self.holds,
            broken=self.count,
            rows=self.rows,
        )


def make_type_finding(suite: Suite, *, rows: int, wrong: Sequence[str]) -> Finding:
    """Return the finding about columns and types, which Arrow checks: Great Expectations sees types less reliably."""
    return Finding(
        suite=suite["source"],
        place=0,
        type="arrow_schema",
        kwargs={},
        what="Every column is there, and of its type.",
        why="Files of this run have the usual format.",
        blocks=True,
        looked_at=rows,
        observed="; ".join(wrong),
        holds=not wrong,
        broken=0,
        rows=[],
    )


def list_broken_rows(tallies: Sequence[ExpectationTally]) -> dict[int, list[str]]:
    """Return the numbers of broken rows, with the columns (or types) of the expectations that each breaks."""
    reasons: dict[int, list[str]] = {}
    for tally in tallies:
        about = ", ".join(list_named_columns(tally.expectation)) or str(tally.expectation["type"])
        for number in tally.numbers:
            reasons.setdefault(number, []).append(about)
    return dict(sorted(reasons.items())[:KEPT_ROWS])


def format_value(value: Any) -> str:
    """Return a value in few characters; empty for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(to_plain(value), ensure_ascii=False, default=str)[:LONGEST]


def to_plain(value: Any) -> Any:
    """Return a value as JSON has it: an infinite number by its name, NaN as None, a long text cut."""
    item = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(item, float) and not math.isfinite(item):
        return None if math.isnan(item) else str(item)
    if isinstance(item, str):
        return item[:LONGEST]
    if isinstance(item, Mapping):
        return {str(name): to_plain(part) for name, part in item.items()}
    if isinstance(item, list | tuple | set):
        return [to_plain(part) for part in list(item)[:20]]
    return item if item is None or isinstance(item, bool | int | float) else str(item)[:LONGEST]


def find_type_violations(observed: pa.Schema, expected: pa.Schema) -> list[str]:
    """Describe columns that are missing or have an unexpected type. Extra columns are allowed."""
    wrong = []
    for column in expected:
        index = observed.get_field_index(column.name)
        if index < 0:
            wrong.append(f"column {column.name} is missing")
        elif observed.field(index).type != column.type:
            wrong.append(f"column {column.name} is {observed.field(index).type}, expected {column.type}")
    return wrong

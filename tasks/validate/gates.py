"""The gate of every table: it is held against its suites, part by part, and the rows that break one are kept."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.validation import Finding, Kind, Suite
from contrapose.tasks.tables.passages import PASSAGES
from contrapose.tasks.tables.results import TYPES
from contrapose.tasks.tables.table import Table, write_arrow
from contrapose.tasks.validate.beside import sound_beside
from contrapose.tasks.validate.derived import DERIVED
from contrapose.tasks.validate.expectations import (
    SMALL,
    SeenRows,
    every_row,
    look_at,
    row_by_row,
    sound_before,
)
from contrapose.tasks.validate.findings import ExpectationTally, numbered, type_finding, type_violations
from contrapose.tasks.validate.kinds import KEYS, LEFT_OUT, LINKS, UNKNOWN, Handed, rows_of, stored_schema
from contrapose.tasks.validate.suites import bundled, named_columns, named_parameters, of_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """What came of holding a table against its suites."""

    rows: int
    """How many there are."""
    findings: list[Finding]
    """In the order of the suites."""
    broken: Mapping[int, Sequence[str]]
    """Numbers of the rows that break expectations, and what these are about."""
    lost: Sequence[str]
    """Ids that were handed over and that nothing was made from."""


def sift(kind: Kind, parts: Iterable[pa.Table], plan: Plan, *, handed: Handed, own: Sequence[Suite] = ()) -> Sifted:
    """Hold a table against the project's suite and the user's.

    Args:
        kind: what the table holds.
        parts: the table as it is stored, in tables of any size; one without rows where there are none.
        plan: the test that it belongs to.
        handed: what it must account for.
        own: the user's suites, of any table.
    """
    groups, expected = groups_of(of_table(own, kind, plan.test), kind, handed), stored_schema(kind, plan.test)
    nothing = rows_of(kind, expected.empty_table())
    kept, count = [_narrow(kind, _with_derived(kind, nothing, plan, groups), groups)], 0
    for part in parts:
        if wrong := type_violations(part.schema, expected):
            # Expectations about values would fail for reasons that are none.
            finding = type_finding(bundled(kind), rows=part.num_rows, wrong=wrong)
            return Sifted(rows=count + part.num_rows, findings=[finding], broken={}, lost=[])
        rows = _with_derived(kind, rows_of(kind, part), plan, groups)
        _check(groups, "part", rows, first=count + 1, handed=handed)
        kept.append(_narrow(kind, rows, groups))
        count += rows.num_rows
    _check_whole(kind, pa.concat_tables(kept), groups, handed)
    lost = [number - 1 for number in numbered(_tallies(groups, "handed"))]
    return Sifted(
        rows=count,
        findings=[type_finding(bundled(kind), rows=count, wrong=[]), *_in_order(groups)],
        broken=numbered(_tallies(groups, "part", "whole")),
        lost=[] if handed.ids is None else handed.ids.take(pa.array(lost, pa.int64())).to_pylist(),
    )


def _tallies(groups: Sequence[ExpectationGroup], *scopes: str) -> list[ExpectationTally]:
    return [tally for group in groups if group.scope in scopes for tally in group.tallies]


LARGE = 5_000
"""Rows of a table whose copies do not wait for the next search for garbage."""


def _check(groups: Sequence[ExpectationGroup], scope: str, rows: pa.Table, *, first: int, handed: Handed) -> None:
    for group in groups:
        if group.scope == scope:
            group.check(rows, first=first, parameters=handed.parameters)
            if rows.num_rows >= LARGE:
                # The library leaves copies in cycles: of 400,000 cases they came to 870 MiB. Those of a small table
                # are young, since garbage was not looked for meanwhile.
                gc.collect(1 if rows.num_rows <= SMALL else 2)


def _check_whole(kind: Kind, rows: pa.Table, groups: Sequence[ExpectationGroup], handed: Handed) -> None:
    """What only a whole table can tell, and whether it accounts for everything that was handed over."""
    if kind in LINKS and handed.ids is not None:
        links = rows[LINKS[kind]]
        unknown = pc.invert(pc.is_in(links, value_set=handed.ids))
        rows = rows.append_column(UNKNOWN, pc.and_(unknown, pc.is_valid(links)))
        left_out = pc.invert(pc.is_in(handed.ids, value_set=links))
        _check(groups, "handed", pa.table({KEYS[kind]: handed.ids, LEFT_OUT: left_out}), first=1, handed=handed)
    _check(groups, "whole", rows, first=1, handed=handed)


def _with_derived(kind: Kind, rows: pa.Table, plan: Plan, groups: Sequence[ExpectationGroup]) -> pa.Table:
    """The rows with those derived columns that a suite names."""
    for name in dict.fromkeys(name for group in groups for name in group.columns):
        if name in DERIVED[kind]:
            rows = rows.append_column(name, DERIVED[kind][name](rows, plan))
        elif name in PASSAGES and name not in rows.column_names:
            # A suite may name them, whether or not a run has any.
            rows = rows.append_column(name, pa.nulls(rows.num_rows, TYPES[PASSAGES[name].type]))
    return rows


def _narrow(kind: Kind, rows: pa.Table, groups: Sequence[ExpectationGroup]) -> pa.Table:
    """The columns that are kept of a table until its end."""
    named = [name for group in groups if group.scope == "whole" for name in group.columns]
    kept = dict.fromkeys([KEYS[kind], *([LINKS[kind]] if kind in LINKS else []), *named])
    return rows.select([name for name in kept if name != UNKNOWN])


def _in_order(groups: Sequence[ExpectationGroup]) -> list[Finding]:
    """What was found, suite by suite, in the order of their expectations."""
    suites = list({id(group.suite): group.suite for group in groups}.values())
    return [
        tally.finding(suite)
        for suite in suites
        for tally in sorted(
            (tally for group in groups if group.suite is suite for tally in group.tallies), key=lambda one: one.place
        )
    ]


Scope = Literal["part", "whole", "handed"]
"""What an expectation must see at once."""

NOT_NULL, UNIQUE = "expect_column_values_to_not_be_null", "expect_column_values_to_be_unique"


@dataclass(frozen=True, kw_only=True)
class ExpectationGroup:
    """Expectations of one suite and one scope."""

    suite: Suite
    scope: Scope
    kind: Kind
    tallies: list[ExpectationTally]
    """What was found of each so far."""

    @cached_property
    def columns(self) -> Mapping[str, str | None]:
        """The columns that they look at, each with the type of the only expectation that does; None where several do.

        Conditions look at values, whatever the expectation asks about them.
        """
        types: dict[str, set[str | None]] = {}
        for expectation in (tally.expectation for tally in self.tallies):
            for name in named_columns(expectation):
                conditional = "row_condition" in expectation["kwargs"]
                types.setdefault(name, set()).add(None if conditional else expectation["type"])
        return {name: next(iter(of_one)) if len(of_one) == 1 else None for name, of_one in types.items()}

    def check(self, rows: pa.Table, *, first: int, parameters: Mapping[str, object]) -> None:
        """Add what the expectations, which may refer to parameters, say of rows; `first` is the first one's number."""
        expectations = [tally.expectation for tally in self.tallies]
        table = pa.table({name: _seen_by(of_one, rows[name]) for name, of_one in self.columns.items()})

        numbers = (first, first + rows.num_rows)
        look = partial(look_at, expectations, table, numbers=numbers, parameters=parameters)

        def look_beside() -> list[SeenRows]:
            return sound_beside(expectations, table, numbers=numbers, parameters=parameters) or look()

        small = rows.num_rows <= SMALL
        seen = sound_before(table, [expectations, parameters, rows.num_rows], look_beside) if small else look()
        for tally, of_one in zip(self.tallies, seen, strict=True):
            tally.add(of_one, rows, first=first)


def _seen_by(expectation: str | None, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column, or what tells an expectation as much: texts take most of the memory, and are not copied in vain."""
    if expectation == NOT_NULL:
        return pc.if_else(pc.is_valid(column), True, None)
    if expectation == UNIQUE and pa.types.is_string(column.type):
        return pa.chunked_array([chunk.indices for chunk in column.dictionary_encode().chunks], pa.int32())
    return column


def groups_of(suites: Sequence[Suite], kind: Kind, handed: Handed) -> list[ExpectationGroup]:
    """The expectations of some suites in groups; those that need what is not known of the rows before are left out."""
    return [
        ExpectationGroup(suite=suite, scope=scope, kind=kind, tallies=tallies)
        for suite in suites
        for (scope, _), tallies in _grouped(_tallies_of(suite, kind, handed)).items()
    ]


def _grouped(tallies: Iterable[ExpectationTally]) -> Mapping[tuple[Scope, bool], list[ExpectationTally]]:
    """By what they must see; those that look at every row of a part are apart, since that is quickly asked."""
    groups: dict[tuple[Scope, bool], list[ExpectationTally]] = {}
    for tally in tallies:
        scope = _scope(tally.expectation)
        groups.setdefault((scope, scope == "part" and every_row(tally.expectation)), []).append(tally)
    return groups


def _tallies_of(suite: Suite, kind: Kind, handed: Handed) -> Iterator[ExpectationTally]:
    flags = frozenset((*DERIVED[kind], UNKNOWN, LEFT_OUT))
    for place, expectation in enumerate(suite["expectations"], 1):
        linked = {UNKNOWN, LEFT_OUT} & set(named_columns(expectation))
        known = set(named_parameters(expectation["kwargs"])) <= set(handed.parameters)
        if known and (handed.ids is not None or not linked):
            yield ExpectationTally(expectation=expectation, place=place, key=KEYS[kind], flags=flags)


def _scope(expectation: Mapping[str, Any]) -> Scope:
    columns = named_columns(expectation)
    if LEFT_OUT in columns:
        return "handed"
    return "part" if row_by_row(expectation) and UNKNOWN not in columns else "whole"


ABOUT = pa.schema([pa.field("row", pa.int64()), pa.field("broken", pa.string())])
"""Number of a row, and which columns are wrong with it."""


def keep(kind: Kind, parts: Iterable[pa.Table], sifted: Sifted) -> Table | None:
    """Store the rows of a table that break an expectation; what was handed over and lost follows, by its id alone.

    The rows have the columns `row` and `broken` before their own; None where there are none.
    """
    lost = sifted.lost
    if not sifted.broken and not lost:
        return None
    named = pa.table({KEYS[kind]: pa.array(lost, pa.string())})
    gone = _with_reasons([None] * len(lost), ["left_out"] * len(lost), named)
    rows = pa.concat_tables([*_broken(kind, parts, sifted.broken), gone], promote_options="default")
    return write_arrow([rows], rows.schema)


def _broken(kind: Kind, parts: Iterable[pa.Table], broken: Mapping[int, Sequence[str]]) -> Iterator[pa.Table]:
    first = 1
    for part in parts:
        rows = rows_of(kind, part)
        own = [number for number in broken if first <= number < first + rows.num_rows]
        chosen = rows.take(pa.array([number - first for number in own], pa.int64()))
        yield _with_reasons(own, [", ".join(dict.fromkeys(broken[number])) for number in own], chosen)
        first += rows.num_rows


def _with_reasons(numbers: Sequence[int | None], words: Sequence[str], rows: pa.Table) -> pa.Table:
    columns = [pa.array(numbers, pa.int64()), pa.array(words, pa.string()), *rows.columns]
    return pa.Table.from_arrays(columns, schema=pa.schema([*ABOUT, *rows.schema]))

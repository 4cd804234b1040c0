"""The gate of every table: it is held against its suites, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.plan import Plan
from contrapose.tasks.validate.derived import DERIVED
from contrapose.tasks.validate.findings import Tally, Types, numbered
from contrapose.tasks.validate.groups import Group, groups_of
from contrapose.tasks.validate.kinds import KEYS, LEFT_OUT, LINKS, UNKNOWN, Handed, rows_of, stored_schema
from contrapose.tasks.validate.suites import bundled, of_table
from contrapose.tasks.validation import Finding, Kind, Suite


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
    groups, types = groups_of(of_table(own, kind, plan.test), kind, handed), Types(suite=bundled(kind))
    nothing = rows_of(kind, stored_schema(kind, plan.test).empty_table())
    kept, count = [_narrow(kind, _with_derived(kind, nothing, plan, groups), groups)], 0
    for part in parts:
        types.add_schema(part.schema, stored_schema(kind, plan.test))
        if types.wrong:
            # Expectations about values would fail for reasons that are none.
            return Sifted(rows=count + part.num_rows, findings=[types.finding(part.num_rows)], broken={}, lost=[])
        rows = _with_derived(kind, rows_of(kind, part), plan, groups)
        _check(groups, "part", rows, first=count + 1, handed=handed)
        kept.append(_narrow(kind, rows, groups))
        count += rows.num_rows
    _check_whole(kind, pa.concat_tables(kept), groups, handed)
    lost = [number - 1 for number in numbered(_tallies(groups, "handed"))]
    return Sifted(
        rows=count,
        findings=[types.finding(count), *_in_order(groups)],
        broken=numbered(_tallies(groups, "part", "whole")),
        lost=[] if handed.ids is None else handed.ids.take(pa.array(lost, pa.int64())).to_pylist(),
    )


def _tallies(groups: Sequence[Group], *scopes: str) -> list[Tally]:
    return [tally for group in groups if group.scope in scopes for tally in group.tallies]


def _check(groups: Sequence[Group], scope: str, rows: pa.Table, *, first: int, handed: Handed) -> None:
    for group in groups:
        if group.scope == scope:
            group.check(rows, first=first, parameters=handed.parameters)


def _check_whole(kind: Kind, rows: pa.Table, groups: Sequence[Group], handed: Handed) -> None:
    """What only a whole table can tell, and whether it accounts for everything that was handed over."""
    if kind in LINKS and handed.ids is not None:
        links = rows[LINKS[kind]]
        unknown = pc.invert(pc.is_in(links, value_set=handed.ids))
        rows = rows.append_column(UNKNOWN, pc.and_(unknown, pc.is_valid(links)))
        left_out = pc.invert(pc.is_in(handed.ids, value_set=links.combine_chunks()))
        source = pa.table({KEYS[kind]: handed.ids, LEFT_OUT: left_out})
        _check(groups, "handed", source, first=1, handed=handed)
    _check(groups, "whole", rows, first=1, handed=handed)


def _with_derived(kind: Kind, rows: pa.Table, plan: Plan, groups: Sequence[Group]) -> pa.Table:
    """The rows with those derived columns that a suite names."""
    for name in dict.fromkeys(name for group in groups for name in group.columns):
        if name in DERIVED[kind]:
            rows = rows.append_column(name, DERIVED[kind][name](rows, plan))
    return rows


def _narrow(kind: Kind, rows: pa.Table, groups: Sequence[Group]) -> pa.Table:
    """The columns that are kept of a table until its end."""
    named = [name for group in groups if group.scope == "whole" for name in group.columns]
    kept = dict.fromkeys([KEYS[kind], *([LINKS[kind]] if kind in LINKS else []), *named])
    return rows.select([name for name in kept if name != UNKNOWN])


def _in_order(groups: Sequence[Group]) -> list[Finding]:
    """What was found, suite by suite, in the order of their expectations."""
    suites = list({id(group.suite): group.suite for group in groups}.values())
    return [
        tally.finding(suite)
        for suite in suites
        for tally in sorted(
            (tally for group in groups if group.suite is suite for tally in group.tallies), key=lambda each: each.place
        )
    ]

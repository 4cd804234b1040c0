"""The rows that break an expectation, kept whole: the evidence of a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from contrapose.tasks.tables import Table, write_arrow
from contrapose.tasks.validate.gates import Sifted
from contrapose.tasks.validate.kinds import KEYS, rows_of
from contrapose.tasks.validation import Kind

ABOUT = pa.schema([pa.field("row", pa.int64()), pa.field("broken", pa.string())])
"""Number of a row, and which columns are wrong with it."""


def keep(kind: Kind, parts: Iterable[pa.Table], sifted: Sifted) -> Table | None:
    """Store the rows that break an expectation; what was handed over and lost follows, by its id alone.

    Args:
        kind: what the table holds.
        parts: the table once more.
        sifted: what came of holding it against its suites.

    Returns:
        The rows with the columns `row` and `broken` before their own; None where there are none.
    """
    if not sifted.broken and not sifted.lost:
        return None
    found = [*_broken(kind, parts, sifted.broken), _lost(KEYS[kind], sifted.lost)]
    rows = pa.concat_tables(found, promote_options="default")
    return write_arrow([rows], rows.schema)


def _broken(kind: Kind, parts: Iterable[pa.Table], broken: Mapping[int, Sequence[str]]) -> Iterator[pa.Table]:
    first = 1
    for part in parts:
        rows = rows_of(kind, part)
        own = [number for number in broken if first <= number < first + rows.num_rows]
        chosen = rows.take(pa.array([number - first for number in own], pa.int64()))
        yield _told(own, [", ".join(dict.fromkeys(broken[number])) for number in own], chosen)
        first += rows.num_rows


def _lost(key: str, ids: Sequence[str]) -> pa.Table:
    return _told([None] * len(ids), ["left_out"] * len(ids), pa.table({key: pa.array(ids, pa.string())}))


def _told(numbers: Sequence[int | None], words: Sequence[str], rows: pa.Table) -> pa.Table:
    columns = [pa.array(numbers, pa.int64()), pa.array(words, pa.string()), *rows.columns]
    return pa.Table.from_arrays(columns, schema=pa.schema([*ABOUT, *rows.schema]))

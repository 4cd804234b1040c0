"""Rows of a run as they lie in storage, of which only a part is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.report.base import FIGURES, SKIPPED_SHOWN
from contrapose.tasks.tables import Table, batches, read_arrow, take


class StoredResults:
    """The `Results` of some tables, one after the other, under one schema."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of all tables, the common ones first."""
        return pa.unify_schemas([next(batches(table)).schema for table in self.tables])

    @cached_property
    def figures(self) -> pd.DataFrame:
        """Every row, counted from 0, with those of its columns that are in `FIGURES`."""
        columns = [name for name in self.schema.names if name in FIGURES]
        frame: pd.DataFrame = self._read(columns).to_pandas()
        return frame

    def at(self, places: Sequence[int]) -> pd.DataFrame:
        """Some rows, whole; `places` are ascending."""
        ends = list(accumulate(table["rows"] for table in self.tables))
        found = [
            take(table, [place - end + table["rows"] for place in places if end - table["rows"] <= place < end])
            for table, end in zip(self.tables, ends, strict=True)
        ]
        return self._frame(pa.concat_tables(map(self._whole, found)))

    def parts(self) -> Iterator[pd.DataFrame]:
        """All rows, whole, one part after the other."""
        yield from map(self._frame, self.arrow())

    def arrow(self) -> Iterator[pa.Table]:
        """The same as Arrow tables."""
        yield from (self._whole(part) for table in self.tables for part in batches(table))

    @cached_property
    def _as_floats(self) -> pa.Schema:
        """Whole numbers that are missing in some row become floats in every part, as pandas has them."""
        whole = [each.name for each in self.schema if pa.types.is_integer(each.type)]
        numbers = self._read(whole)
        return pa.schema(
            each.with_type(pa.float64()) if each.name in whole and numbers[each.name].null_count else each
            for each in self.schema
        )

    def _read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows."""
        # A table without any of them would lose its rows: a column that every table has is read too.
        found = (read_arrow(table, columns=["test_type", *columns]) for table in self.tables)
        empty = self.schema.empty_table().select(list(columns))
        return pa.concat_tables([empty, *found], promote_options="default").select(list(columns))

    def _whole(self, part: pa.Table) -> pa.Table:
        """A part with every column; those that its test does not have are empty."""
        return pa.concat_tables([self.schema.empty_table(), part], promote_options="default")

    def _frame(self, part: pa.Table) -> pd.DataFrame:
        frame: pd.DataFrame = part.cast(self._as_floats).to_pandas()
        return frame


def skipped_examples(tables: Sequence[Table]) -> pd.DataFrame:
    """The first cases of each test and reason that were not asked."""
    columns = ["probe", "sample_id", "original", "skip_reason"]
    found = pd.DataFrame({name: [] for name in columns}, dtype=str)
    for part in (part for table in tables for part in batches(table, columns=columns)):
        more = part.filter(pc.is_valid(part["skip_reason"]))
        if more.num_rows:
            found = pd.concat([found, more.to_pandas()]).groupby(["probe", "skip_reason"]).head(SKIPPED_SHOWN)
    return found.rename(columns={"probe": "test_type"}).reset_index(drop=True)

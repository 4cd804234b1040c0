"""Rows of a run as they lie in storage, of which only a part is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.report.base import SKIPPED_SHOWN
from contrapose.tasks.results import figure_columns
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
        """Every row without its texts, counted from 0."""
        frame: pd.DataFrame = self._numbers.to_pandas()
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
    def _numbers(self) -> pa.Table:
        columns = figure_columns(self.schema)
        found = pa.concat_tables(
            (read_arrow(table, columns=columns) for table in self.tables), promote_options="default"
        )
        return found.select(columns)

    @cached_property
    def _as_floats(self) -> pa.Schema:
        """Whole numbers that are missing in some row become floats in every part, as pandas has them."""
        fields = [
            each.with_type(pa.float64()) if pa.types.is_integer(each.type) and self._has_gaps(each.name) else each
            for each in self.schema
        ]
        return pa.schema(fields)

    def _has_gaps(self, name: str) -> bool:
        return bool(self._numbers[name].null_count)

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

"""Result rows in storage: read in parts they are what they are as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pandas as pd
import pyarrow as pa
import pytest
from factories import report

from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import probe
from contrapose.tasks.report.base import FIGURES
from contrapose.tasks.report.csv import render
from contrapose.tasks.report.publish import StoredResults, sample_skipped
from contrapose.tasks.tables import table as tables
from contrapose.tasks.tables.results import make_result_schema
from contrapose.tasks.tables.table import Table, write, write_arrow

SHOWN = ("add_negation", "add_toxic_words", "order_bias")


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 4)


def parts() -> list[pa.Table]:
    """Results of three tests, whose columns differ."""
    rows = next(report().results.parts())
    return [
        pa.Table.from_pandas(
            rows[rows["test_type"] == test].reindex(columns=make_result_schema(probe(test)).names),
            schema=make_result_schema(probe(test)),
            preserve_index=False,
        )
        for test in SHOWN
    ]


def stored() -> StoredResults:
    return StoredResults([write_arrow([part], part.schema) for part in parts()])


def whole() -> pd.DataFrame:
    found: pd.DataFrame = pa.concat_tables(parts(), promote_options="default").to_pandas()
    return found


def test_the_csv_is_the_same_in_parts_and_as_a_whole() -> None:
    in_parts = b"".join(render(replace(report(), results=stored())))
    assert in_parts == b"".join(render(report(results=whole())))
    assert b",2.0," in in_parts


def test_figures_are_some_columns_of_all_rows() -> None:
    figures = stored().figures
    assert set(figures) == set(FIGURES) & set(whole())
    pd.testing.assert_frame_equal(figures, whole()[list(figures)])


@pytest.mark.parametrize("places", [[0, 1], [37, 38, 77, 78, 115], []])
def test_rows_are_found_by_their_places(places: list[int]) -> None:
    found = stored().at(places)
    assert found.to_csv(index=False) == whole().iloc[places].to_csv(index=False)


def cases(test: str, reason: str, count: int) -> Iterator[Case]:
    for number in range(count):
        yield Case(
            id=f"{test}/{number}",
            sample_id=str(number),
            probe=test,
            version="1",
            original="It is.",
            perturbed=None,
            original_prompt="It is.",
            perturbed_prompt=None,
            scorer="s",
            asks="generate",
            skip_reason=reason,
        )


def test_the_first_skipped_cases_of_each_test_and_reason_are_kept() -> None:
    def table(test: str) -> Table:
        return write([*cases(test, "empty", 9), *islice(cases(test, "wh_subject", 9), 7, 9)], Case)

    found = sample_skipped([table("one"), table("two")])
    assert list(found["sample_id"]) == ["0", "1", "2", "7", "8"] * 2
    assert list(found.columns) == ["test_type", "sample_id", "original", "skip_reason"]


def test_no_skipped_case_leaves_the_columns() -> None:
    assert list(sample_skipped([write([], Case)])) == ["test_type", "sample_id", "original", "skip_reason"]

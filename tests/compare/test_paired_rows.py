"""What every run made of the same cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from finished import TEST, rows_from, run_of

from contrapose.tasks.compare.rows import rows_of
from contrapose.tasks.core.errors import ComparisonError


def test_rows_are_paired_by_case_in_whatever_order_they_lie(tmp_path: Path) -> None:
    rows = rows_from([True, False, None, True])
    found = rows_of([run_of(tmp_path / "one", rows), run_of(tmp_path / "two", rows[::-1])], TEST)
    assert np.array_equal(found.passed, [[1, 0, np.nan, 1]] * 2, equal_nan=True)


def test_controls_count_nowhere(tmp_path: Path) -> None:
    control = {"sample_id": "s0", "case_id": f"{TEST}/s0/control", "pass": False, "control": True}
    runs = [run_of(tmp_path / name, [*rows_from([True, False]), control]) for name in ("one", "two")]
    assert rows_of(runs, TEST).passed.shape == (2, 2)


def test_a_row_in_error_is_not_scored_whatever_it_says(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, rows_from([True], error="timed out")) for name in ("one", "two")]
    found = rows_of(runs, TEST)
    assert np.isnan(found.passed).all()
    assert found.asked.all()


def test_repeats_of_a_case_are_averaged_over_those_that_were_scored(tmp_path: Path) -> None:
    outcomes = [True, False, True, None]
    rows = [
        {
            "sample_id": "s#2",
            "pass": passed,
            "repeat": number,
            "case_id": f"{TEST}/s#2" + f"#{number + 1}" * (number > 0),
        }
        for number, passed in enumerate(outcomes)
    ]
    found = rows_of([run_of(tmp_path / name, rows) for name in ("one", "two")], TEST)
    assert found.passed.tolist() == [[pytest.approx(2 / 3)]] * 2


def test_cases_of_a_cluster_belong_together_and_of_a_sample_where_there_is_none(tmp_path: Path) -> None:
    rows = [
        {"sample_id": "s0", "pass": True, "cluster": "c"},
        {"sample_id": "s1", "pass": True, "cluster": "c"},
        {"sample_id": "s2", "pass": True, "case_id": f"{TEST}/s2/1"},
        {"sample_id": "s2", "pass": True, "case_id": f"{TEST}/s2/2"},
        # Named as a sample is.
        {"sample_id": "s3", "pass": True, "cluster": "s2"},
    ]
    first, second, third, fourth, fifth = rows_of([run_of(tmp_path / name, rows) for name in "ab"], TEST).cluster
    assert first == second != third == fourth != fifth


def test_a_table_that_another_program_wrote_again_is_read_all_the_same(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, rows_from([True, False])) for name in ("one", "two")]
    path = runs[1].folder.path / "results.parquet"
    # Columns without any value get a type of their own on the way, and texts another one.
    pd.read_parquet(path).astype({"case_id": "category", "pass": "string"}).to_parquet(path)
    assert rows_of(runs, TEST).passed.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("damage", ["other types", "no table"])
def test_a_table_that_cannot_be_read_is_told(tmp_path: Path, damage: str) -> None:
    runs = [run_of(tmp_path / name, rows_from([True, False])) for name in ("one", "two")]
    path = runs[1].folder.path / "results.parquet"
    if damage == "no table":
        path.write_bytes(b"PAR1")
    else:
        pd.read_parquet(path).assign(**{"pass": "perhaps"}).to_parquet(path)
    with pytest.raises(ComparisonError, match=r"two/results\.parquet: table cannot be read"):
        rows_of(runs, TEST)

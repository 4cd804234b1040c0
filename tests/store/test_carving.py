"""Rows are read out of the pages of a database by themselves, whatever their length."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contrapose.tasks.store.carving import carved

TABLE = "CREATE TABLE rows (text TEXT)"


@pytest.mark.parametrize("size", [512, 4096, 65536])
def test_rows_that_just_fit_a_page_and_rows_that_just_do_not_are_read_whole(size: int, tmp_path: Path) -> None:
    lengths = [*range(1, 200, 17), *range(size - 60, size + 60), *range(2 * size - 60, 2 * size), 5 * size + 7]
    texts = [f"{length}:".ljust(length, "x") for length in lengths]
    path = tmp_path / "rows.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {size}")
        connection.execute(TABLE)
        connection.executemany("INSERT INTO rows VALUES (?)", [(text,) for text in texts])
        connection.commit()
    schema, *rows = carved(path)
    assert schema == ("table", "rows", "rows", 2, TABLE)
    assert sorted(rows) == sorted((text,) for text in texts)

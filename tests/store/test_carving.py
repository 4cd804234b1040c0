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


def table_of(path: Path, *texts: str) -> bytes:
    """The content of a file with rows of these texts, a page of 512 bytes after the other."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute(TABLE)
        connection.executemany("INSERT INTO rows VALUES (?)", [(text,) for text in texts])
        connection.commit()
    return path.read_bytes()


def test_a_row_that_flows_over_to_pages_that_are_gone_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    content = table_of(path, "short", "long" * 1000)
    path.write_bytes(content[: 4 * 512])
    assert list(carved(path))[1:] == [("short",)]


def test_a_row_that_is_longer_than_its_values_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    content = table_of(path, "whole", "x" * 20)
    row = bytes([2, 13 + 2 * 20]) + b"x" * 20
    assert content.count(row) == 1
    path.write_bytes(content.replace(row, bytes([2, 13 + 2 * 19]) + b"x" * 20))
    assert list(carved(path))[1:] == [("whole",)]

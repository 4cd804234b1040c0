"""A new store that several open at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contrapose.tasks.infer.store.engine import _patiently, reach


def test_many_open_a_new_store_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            url = f"sqlite:///{tmp_path}/{number}.sqlite3"
            for engine in pool.map(reach, [url] * 8):
                with engine.connect() as connection:
                    assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_locked_file_is_tried_again() -> None:
    import sqlite3

    tries = []

    def change() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise sqlite3.OperationalError("database is locked")

    _patiently(change)
    assert len(tries) == 3

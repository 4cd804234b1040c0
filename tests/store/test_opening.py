"""A new store that several open at the same moment."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import String, inspect
from sqlalchemy.exc import OperationalError
from store.test_answers import begin, keyed, save

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import BUSY_SECONDS, open_database, remove_address
from contrapose.tasks.store.opening import connect


def test_many_open_a_new_store_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            url = f"sqlite:///{tmp_path}/{number}.sqlite3"
            for engine in pool.map(connect.__wrapped__, [url] * 8):
                with engine.connect() as connection:
                    assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_the_room_of_what_is_forgotten_is_given_back(own_store: str) -> None:
    """The size that is told is that of the file."""
    care = Store().housekeeping
    save(Store().answers, *(keyed(number, "word " * 1000) for number in range(200)), run=begin())
    full = care.size()
    care.clear()
    assert care.size() < full / 4
    beside = sqlite3.connect(own_store.removeprefix("sqlite:///"))
    (pages,), (each,) = (beside.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    beside.close()
    assert care.size() == pages * each
    assert care.place == own_store


def test_what_somebody_else_is_writing_keeps_no_answer_from_being_forgotten(own_store: str) -> None:
    care = Store().housekeeping
    save(Store().answers, keyed(1), run=begin())
    reader = sqlite3.connect(own_store.removeprefix("sqlite:///"), isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM answers").fetchone()
    pooled = care.engine.raw_connection()
    pooled.cursor().execute("PRAGMA busy_timeout=1")
    pooled.close()
    assert care.clear() == 1
    reader.close()


def test_a_new_file_lies_in_a_folder_that_is_its_owners_alone(tmp_path: Path) -> None:
    connect(f"sqlite:///{tmp_path}/new/deep/answers.sqlite3")
    assert (tmp_path / "new" / "deep").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new" / "deep" / "answers.sqlite3").stat().st_mode & 0o777 == 0o600


def test_looking_makes_no_table_and_opening_makes_them_all(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.sqlite3").execute("PRAGMA user_version=1").connection.close()
    url = f"sqlite:///{tmp_path}/empty.sqlite3"
    names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    with open_database(url).connect() as connection:
        assert list(connection.exec_driver_sql(names).scalars()) == []
    with connect(url).connect() as connection:
        found = [
            "answers",
            "batches",
            "checks",
            "claims",
            "forms",
            "looks",
            "portions",
            "prompts",
            "rates",
            "readings",
            "receipts",
            "runs",
        ]
        assert list(connection.exec_driver_sql(names).scalars()) == found


def test_no_column_of_a_new_store_may_be_empty_but_the_decision_on_a_model_that_is_still_checked(store: str) -> None:
    inspector = inspect(connect(store))
    empty = {
        (table, column["name"])
        for table in inspector.get_table_names()
        for column in inspector.get_columns(table)
        if column["nullable"]
    }
    assert empty == {("checks", "verdict"), ("checks", "decision")}


def test_a_hash_that_is_a_key_has_room_for_its_64_digits_and_no_more(store: str) -> None:
    inspector = inspect(connect(store))
    types = [column["type"] for table in inspector.get_table_names() for column in inspector.get_columns(table)]
    assert {each.length for each in types if isinstance(each, String) and each.length} == {64}


@pytest.mark.parametrize("url", ["nosuchdatabase://x/y", "sqlite:////proc/none/answers.sqlite3"])
def test_what_cannot_be_opened_is_told_with_its_address(url: str) -> None:
    with pytest.raises(ConfigError, match="cannot be opened") as refused:
        connect(url)
    assert refused.value.where == url


def test_an_error_is_told_by_its_cause_in_a_few_words_and_without_an_address() -> None:
    plain = OperationalError("SELECT 1", {}, sqlite3.OperationalError(" no room " + "x" * 300))
    assert remove_address(plain) == "OperationalError: " + (" no room " + "x" * 300)[:160].strip()
    assert remove_address(ValueError("bad: postgresql://me:hunter2@host")) == "ValueError"


@pytest.mark.parametrize(
    ("name", "value"),
    [("journal_mode", "wal"), ("synchronous", 0), ("cache_size", -16384), ("wal_autocheckpoint", 128000)],
)
def test_every_connection_is_set_up_for_many_readers_and_rare_writes(name: str, value: object, own_store: str) -> None:
    with connect(own_store).connect() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {name}").scalar() == value


def test_a_connection_waits_for_whoever_writes(own_store: str) -> None:
    with connect(own_store).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == BUSY_SECONDS * 1000


def test_who_writes_has_the_file_alone_from_the_start_and_who_reads_does_not(own_store: str) -> None:
    engine = connect(own_store)
    beside = sqlite3.connect(own_store.removeprefix("sqlite:///"), isolation_level=None, timeout=0)
    with engine.execution_options(reading=True).begin():
        beside.execute("BEGIN IMMEDIATE")
        beside.execute("ROLLBACK")
    with engine.begin(), pytest.raises(sqlite3.OperationalError, match="locked"):
        beside.execute("BEGIN IMMEDIATE")
    beside.close()

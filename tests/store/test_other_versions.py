"""A store that another version of Contrapose made is told from this version's, and left as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, inspect, text

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store.opening import connect


@pytest.fixture
def other(store: str) -> Iterator[str]:
    """URL of a store that a test may spoil; PostgreSQL's database serves other tests, too."""
    connect.cache_clear()
    yield store
    changed(store, *(f"DROP TABLE {name}" for name in tables(store)))
    connect.cache_clear()
    connect(store)


def changed(url: str, *statements: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def tables(url: str) -> set[str]:
    engine = create_engine(url)
    found = set(inspect(engine).get_table_names())
    engine.dispose()
    return found


def test_an_older_store_is_told_with_a_remedy_and_left_alone(other: str) -> None:
    changed(other, "ALTER TABLE runs DROP COLUMN owner", "DROP TABLE claims")
    with pytest.raises(ConfigError, match="table runs lacks owner") as error:
        connect(other)
    assert "CONTRAPOSE_STORE" in error.value.remedy
    assert "claims" not in tables(other)


def test_a_newer_store_is_told_too(other: str) -> None:
    changed(other, "ALTER TABLE answers ADD COLUMN colour TEXT")
    with pytest.raises(ConfigError, match="table answers has colour, which is unknown"):
        connect(other)


def test_what_a_store_of_this_version_lacks_is_made(other: str) -> None:
    changed(other, "DROP TABLE claims")
    connect(other)
    assert "claims" in tables(other)

"""A database that is away for a moment is waited for; one that never comes back is told in one sentence."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from clocks import Clock
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DatabaseError, OperationalError

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.store.base import (
    AWAY_SECONDS,
    FIRST_WAIT,
    LONGEST_WAIT,
    TRIES,
    DatabaseAwayError,
    retry_transaction,
)

SERVER = "postgresql+psycopg://me:hunter2@127.0.0.1:1/none"


class Away:
    """A table whose database is away for the first few calls."""

    def __init__(self, times: int, error: type[DatabaseError] = OperationalError, *, url: str = SERVER) -> None:
        self.engine: Engine = create_engine(url)
        self.times, self.error, self.calls = times, error, 0

    @retry_transaction
    def answer(self) -> int:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error("SELECT 1", {}, sqlite3.Error("gone"))
        return self.calls


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.store.base.FIRST_WAIT", 0)


def test_a_short_absence_is_waited_for() -> None:
    assert Away(TRIES - 1).answer() == TRIES


def test_a_server_is_waited_for_longer_than_a_file() -> None:
    assert Away(3 * TRIES).answer() == 3 * TRIES + 1


def test_a_long_absence_is_told_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.store.base.AWAY_SECONDS", 0)
    away = Away(TRIES)
    with pytest.raises(DatabaseAwayError, match="cannot be used") as told:
        away.answer()
    assert away.calls == TRIES
    assert "hunter2" not in str(told.value)


def test_another_error_is_told_at_once() -> None:
    away = Away(1, DatabaseError)
    with pytest.raises(ContraposeError):
        away.answer()
    assert away.calls == 1


def test_a_transaction_is_retried_after_its_store_was_healed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    healed: list[bool] = []
    monkeypatch.setattr("contrapose.tasks.store.base.is_damage", lambda error: True)
    monkeypatch.setattr(
        "contrapose.tasks.store.base.rebuild_damaged", lambda path, url, *, anyway: healed.append(anyway)
    )
    url = f"sqlite:///{tmp_path / 'answers.sqlite3'}"
    assert Away(2, DatabaseError, url=url).answer() == 3
    assert healed == [False, True]
    damaged_again = Away(3, DatabaseError, url=url)
    with pytest.raises(ContraposeError):
        damaged_again.answer()
    assert damaged_again.calls == 3


@pytest.mark.parametrize(("url", "first"), [("sqlite://", [0.5, 1.0, 1.5, 2.0]), (SERVER, [0.5, 1.0, 1.5, 2.0, 2.5])])
def test_the_waits_grow_up_to_a_limit(url: str, first: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0)
    monkeypatch.setattr("contrapose.tasks.store.base.FIRST_WAIT", FIRST_WAIT)
    monkeypatch.setattr("contrapose.tasks.store.base.time", clock)
    with pytest.raises(DatabaseAwayError):
        Away(10_000, url=url).answer()
    assert clock.slept[: len(first)] == first
    if url == SERVER:
        assert max(clock.slept) == LONGEST_WAIT
        assert AWAY_SECONDS <= sum(clock.slept) < AWAY_SECONDS + LONGEST_WAIT
    else:
        assert len(clock.slept) == TRIES - 1


def test_a_server_that_is_away_for_good_is_waited_for_once_and_one_that_came_back_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(0)
    monkeypatch.setattr("contrapose.tasks.store.base.FIRST_WAIT", FIRST_WAIT)
    monkeypatch.setattr("contrapose.tasks.store.base.time", clock)
    away = Away(10_000)
    for _ in range(5):
        with pytest.raises(DatabaseAwayError):
            away.answer()
    assert AWAY_SECONDS <= sum(clock.slept) < AWAY_SECONDS + 5 * LONGEST_WAIT
    away.times = 0
    assert away.answer()
    away.times, clock.slept = 10_000, []
    with pytest.raises(DatabaseAwayError):
        away.answer()
    assert sum(clock.slept) >= AWAY_SECONDS

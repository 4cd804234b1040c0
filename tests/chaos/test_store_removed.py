"""What a run works with is taken away under way: its response store, its whole home, its database server."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from databases import debian_postgres
from disturbed import Run, in_flight, one_line

BEFORE = 20
"""Requests before it happens."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1200), pytest.mark.usefixtures("prefect_server")]


def remove_store(run: Run) -> None:
    """Delete the file of the store, with what SQLite keeps beside it."""
    for each in run.home.glob("answers.sqlite3*"):
        each.unlink()


def replace_store(run: Run) -> None:
    """Put an older copy in the place of the store, as a sync service would."""
    part = run.home / "older"
    shutil.copy(run.home / "answers.sqlite3", part)
    remove_store(run)
    part.rename(run.home / "answers.sqlite3")


def cut_store(run: Run) -> None:
    """Cut the file of the store to nothing."""
    os.truncate(run.home / "answers.sqlite3", 0)


def damage_store(run: Run) -> None:
    """Overwrite half of the file of the store, and a byte of its log."""
    rng = random.Random(1)
    with (run.home / "answers.sqlite3").open("r+b") as file:
        file.write(rng.randbytes(60_000))
    log = run.home / "answers.sqlite3-wal"
    with log.open("r+b") as file:
        file.seek(log.stat().st_size // 2)
        file.write(b"?")


def remove_home(run: Run) -> None:
    """Delete all that is cached."""
    shutil.rmtree(run.home, ignore_errors=True)


@pytest.mark.parametrize("happens", [remove_store, replace_store, remove_home, cut_store, damage_store])
def test_what_was_paid_is_not_asked_again(
    happens: Callable[[Run], None], run: Run, unharmed: Callable[..., None]
) -> None:
    process = run.start_asking(BEFORE)
    happens(run)
    moment = time.monotonic()
    ended = run.ended(process)
    assert "Traceback" not in ended.written, ended.written
    assert ended.code in (0, 2, 4), ended
    # What an older copy lacks is put into it, and pages that the log has are whole: nothing is lost.
    assert ended.said or happens in (replace_store, damage_store), "it passed without a word"
    run.endpoint.delay = 0.0
    shutil.rmtree(run.out, ignore_errors=True)
    assert run.ended().code == 0
    flying, outcome = in_flight(run.endpoint.requests, moment), f"exit {ended.code}: {' / '.join(ended.said)}"
    unharmed(f"{happens.__name__.replace('_', ' ')} under way", run, in_flight=flying, outcome=outcome)


def test_the_folder_of_runs_is_removed_under_way(run: Run, unharmed: Callable[..., None]) -> None:
    process = run.start_asking(BEFORE)
    shutil.rmtree(run.out, ignore_errors=True)
    assert run.ended(process).code == 0
    unharmed("folder of runs removed under way", run, outcome="the same results")


@pytest.mark.parametrize("away", [2.0, 30.0], ids=["a moment", "a while"])
def test_the_database_server_is_away(away: float, run: Run, unharmed: Callable[..., None]) -> None:
    with debian_postgres() as server:
        run = replace(run, store=server.url("psycopg"))
        process = run.start_asking(BEFORE)
        server.stop()
        time.sleep(away)
        server.start()
        assert run.ended(process).code == 0
    unharmed(f"PostgreSQL away for {away:.0f} s", run, outcome="the same results")


def test_the_database_server_does_not_come_back(run: Run, unharmed: Callable[..., None]) -> None:
    """It is waited for five minutes, and what was paid for lies in a file then."""
    with debian_postgres() as server:
        run = replace(run, store=server.url("psycopg"))
        process = run.start_asking(BEFORE)
        server.stop()
        moment = time.monotonic()
        line = one_line(run.ended(process), "response store")
        server.start()
        run.endpoint.delay = 0.0
        assert run.ended().code == 0
    unharmed("PostgreSQL gone for good", run, in_flight=in_flight(run.endpoint.requests, moment), outcome=line)

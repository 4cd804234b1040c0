"""Answers that were paid for outlast a store that is away."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from store.test_answers import keyed

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import AnswerWriter
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerBatch, AnswerRow, AnswerTable, build_batch

pytestmark = pytest.mark.usefixtures("own_store")

KEYED = [keyed(number) for number in range(20)]


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.store.base.FIRST_WAIT", 0)
    monkeypatch.setattr("contrapose.tasks.infer.broker.AGAIN_SECONDS", 0.02)


def writer(away: Callable[[], bool]) -> tuple[str, AnswerWriter]:
    """A run, and a writer whose store is away now and then."""
    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    keys_parameter = table.keys_parameter

    def reached(*arguments: Any) -> Any:
        if away():
            raise OperationalError("INSERT", {}, sqlite3.Error("the server closed the connection"))
        return keys_parameter(*arguments)

    table.keys_parameter = reached  # type: ignore[method-assign]
    return run, AnswerWriter(table, Store().claims())


def batch(run: str, answers: Sequence[AnswerRow], *, spent: Usage | None = None) -> AnswerBatch:
    spent = spent or Usage(calls=len(answers))
    return build_batch(answers, run=run, model="m", spent=spent, failures=0, again=False)


def counted(run: str) -> tuple[int, int]:
    """How many answers are kept, and how many requests count against the budget."""
    row = Store().runs.get(run)
    return len(Store().answers.find([each.key for each in KEYED])), row.requests


def until(happened: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_comes_while_the_store_is_away_is_kept_when_it_is_back() -> None:
    gone = [True]
    run, its = writer(lambda: bool(gone))
    for each in KEYED:
        its.put(batch(run, [each]))
    until(lambda: its.failed)
    assert counted(run) == (0, 0)
    gone.clear()
    until(lambda: its.failed is None)
    its.put(batch(run, [], spent=Usage(calls=2)))
    its.close()
    assert counted(run) == (20, 22)


def test_the_close_waits_for_a_store_that_is_away() -> None:
    back = time.monotonic() + 0.5
    run, its = writer(lambda: time.monotonic() < back)
    its.put(batch(run, KEYED))
    its.close()
    assert counted(run) == (20, 20)


def test_what_cannot_be_kept_in_the_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.broker.AWAY_SECONDS", 0.1)
    run, its = writer(lambda: True)
    its.put(batch(run, KEYED[:15]))
    until(lambda: its.failed)
    its.put(batch(run, KEYED[15:]))
    with pytest.raises(ContraposeError, match=r"the replies to 20 questions could .*closed the connection"):
        its.close()


def test_claims_are_renewed_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.broker.RENEW_SECONDS", 0)
    said: list[str] = []
    run, its = writer(lambda: False)
    renew, keep = its.claims.renew, AnswerTable.keep
    monkeypatch.setattr(its.claims, "renew", lambda: (said.append("renew"), renew()))
    monkeypatch.setattr(its.answers, "keep", lambda *a, **k: (said.append("keep"), keep(its.answers, *a, **k)))
    its.put(batch(run, KEYED))
    until(lambda: "keep" in said)
    its.close()
    assert said[said.index("keep") - 1] == "renew"


@pytest.mark.timeout(30)
def test_whoever_waits_for_what_was_put_waits_for_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.broker.GATHER_SECONDS", 60)
    run, its = writer(lambda: False)
    for known in (1, 2):
        its.put(batch(run, KEYED[known - 1 : known]))
        its.flush()
        assert counted(run) == (known, known)
    its.close()

"""A store whose files are deleted, replaced or cannot be written: its receipts keep what was paid for."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from store.kept_store import MANY, WHOLE, close, found, receipts_of
from store.test_answers import keyed, save

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import AnswerWriter
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerTable, build_batch
from contrapose.tasks.store.base import retry_transaction
from contrapose.tasks.store.engine import store_url
from contrapose.tasks.store.opening import connect
from contrapose.tasks.store.replay import apply_missing_receipts


def test_a_store_deleted_under_way_is_made_anew_with_all_it_had(path: Path, warnings: Callable[[], list[str]]) -> None:
    table, run = Store().answers, Store().runs.begin("second", config="{}", folder=".")
    more = [keyed(number, "new") for number in range(5000, 5010)]
    save(table, *more[:5], run=run)
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    save(table, *more[5:], run=run)
    (told,) = warnings()
    assert "was gone" in told
    assert len(table.find([each.key for each in (*MANY, *more)])) == 1510
    row = Store().runs.get(run)
    assert row.answers == 10
    close()
    assert found() == WHOLE
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(warnings()) == 1


def test_what_this_process_was_answered_survives_the_deletion_of_all_files(path: Path) -> None:
    table, run = Store().answers, Store().runs.begin("second", config="{}", folder=".")
    save(table, *MANY[:5], keyed(7001), run=run)
    shutil.rmtree(path.parent)
    save(table, keyed(7002), run=run)
    assert len(table.find([keyed(number).key for number in (7001, 7002)])) == 2


def test_claims_of_others_hold_in_a_store_that_is_made_anew(path: Path) -> None:
    keys = [keyed(number).key for number in (7001, 7002)]
    Store().runs.begin("second", config="{}", folder=".")
    assert Store().claims().claim(keys[:1]) == {keys[0]}
    path.unlink()
    assert Store().claims().claim(keys) == {keys[1]}


def test_two_processes_whose_store_is_deleted_go_on_with_one(path: Path, warnings: Callable[[], list[str]]) -> None:
    run = Store().runs.begin("second", config="{}", folder=".")
    first = AnswerTable(connect(store_url()))
    second = AnswerTable(connect.__wrapped__(store_url()))
    for table in (first, second):
        assert len(table.find([MANY[0].key])) == 1
    path.unlink()
    save(first, keyed(7001), run=run)
    save(second, keyed(7002), run=run)
    # The connections to the file that is gone are closed by now; the log of the new one must not go with them.
    save(first, keyed(7003), run=run)
    assert len(second.find([keyed(number).key for number in (7001, 7002, 7003)])) == 3
    assert len(warnings()) == 1
    for table in (first, second):
        table.engine.dispose()
    close()
    assert len(Store().answers.find([keyed(number).key for number in (7001, 7002, 7003)])) == 3


def test_a_store_that_was_put_back_from_a_copy_keeps_what_is_newer(path: Path) -> None:
    table, run = Store().answers, Store().runs.begin("second", config="{}", folder=".")
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    save(table, keyed(7001), run=run)
    copy.replace(path)
    assert len(table.find([MANY[0].key, keyed(7001).key])) == 2


def test_a_store_of_before_receipts_is_converted_once(
    path: Path, warnings: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE receipts")
    shutil.rmtree(path.with_suffix(".receipts"))
    assert found() == WHOLE
    (told,) = warnings()
    assert "1,500 answers" in told
    close()
    path.unlink()
    assert found() == WHOLE
    assert Store().runs.usage("run").calls == 1500


def test_receipts_that_are_gone_are_written_again(path: Path) -> None:
    shutil.rmtree(path.with_suffix(".receipts"))
    assert found() == WHOLE
    close()
    path.unlink()
    assert found() == WHOLE


def test_what_is_forgotten_is_in_no_receipt_any_more(path: Path) -> None:
    assert Store().housekeeping.clear() == 1500
    close()
    assert not any(b"word word" in receipts.read_bytes() for receipts in receipts_of(path))
    path.unlink()
    assert found() == {}
    assert Store().runs.usage("run").calls == 1500


def test_what_is_forgotten_stays_so_where_older_receipts_could_not_be_removed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = Path.unlink

    def killed(self: Path, missing_ok: bool = False) -> None:
        if self.suffix == ".jsonl":
            raise KeyboardInterrupt
        remove(self, missing_ok=missing_ok)

    with monkeypatch.context() as kept:
        kept.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            Store().housekeeping.clear()
    close()
    assert any(b"word word" in receipts.read_bytes() for receipts in receipts_of(path))
    assert found() == {}
    assert Store().runs.usage("run").calls == 1500


def test_two_who_come_to_a_server_at_once_count_what_waits_for_it_once(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORE", postgres_url)
    table, run = Store().answers, Store().runs.begin("at-once", config="{}", folder=".")
    table.append(build_batch(MANY[:3], run=run, model="m", spent=Usage(calls=3), failures=0, again=False))
    table.receipts.close()
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(apply_missing_receipts, table.engine, table.receipts) for _ in range(2)]:
            done.result()
    assert Store().runs.usage(run).calls == 3
    assert not table.receipts.files()


def test_an_answer_that_was_asked_again_stays_the_newer_one(path: Path) -> None:
    other = keyed(0, "another")
    batch = build_batch([other], run="run", model="m", spent=Usage(), failures=0, again=True)
    Store().answers.keep(batch)
    close()
    path.unlink()
    assert found()[other.key] == other.answer.completion.text


def test_a_full_disk_uses_the_reserve_and_stops(
    own_store: str, monkeypatch: pytest.MonkeyPatch, warnings: Callable[[], list[str]]
) -> None:
    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    receipts, write = table.receipts, os.write
    (reserve,) = receipts.folder.glob("*.reserve")

    def full(handle: int, data: bytes) -> int:
        if reserve.exists():
            write(handle, bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr("os.write", full)
    its = AnswerWriter(table, Store().claims())
    its.put(build_batch(MANY[:600], run=run, model="m", spent=Usage(calls=600), failures=0, again=False))
    with pytest.raises(ContraposeError, match="disk of the response store is full") as told:
        its.close()
    assert told.value.exit_code == 4
    assert len(str(told.value).splitlines()) == 1
    close()
    monkeypatch.undo()
    monkeypatch.setenv("CONTRAPOSE_STORE", own_store)
    Path(own_store.removeprefix("sqlite:///")).unlink()
    assert len(Store().answers.find([each.key for each in MANY])) == 600
    assert Store().runs.usage(run).calls == 600


def test_what_a_server_does_not_take_waits_in_receipts(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, warnings: Callable[[], list[str]]
) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORE", postgres_url)
    monkeypatch.setattr("contrapose.tasks.store.base.AWAY_SECONDS", 0)
    monkeypatch.setattr("contrapose.tasks.infer.broker.AWAY_SECONDS", 0)
    monkeypatch.setattr("contrapose.tasks.store.base.FIRST_WAIT", 0)
    table, run = Store().answers, Store().runs.begin("away", config="{}", folder=".")

    def away(*_: object) -> None:
        raise OperationalError("x", {}, Exception("away"))

    keep = AnswerTable._keep
    monkeypatch.setattr(AnswerTable, "_keep", retry_transaction(away))
    its = AnswerWriter(table, Store().claims())
    its.put(build_batch(MANY[:6], run=run, model="m", spent=Usage(calls=6), failures=0, again=False))
    with pytest.raises(ContraposeError, match="6 questions could not be kept"):
        its.close()
    monkeypatch.setattr(AnswerTable, "_keep", keep)
    close()
    assert len(Store().answers.find([each.key for each in MANY[:6]])) == 6
    assert Store().runs.usage(run).calls == 6
    assert not list(table.receipts.files())
    assert len(warnings()) == 1

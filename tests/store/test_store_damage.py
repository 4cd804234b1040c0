"""A store that is damaged, deleted or full: what was paid for is rescued or kept elsewhere, and it is told once."""

from __future__ import annotations

import errno
import logging
import os
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from core.test_damage import DAMAGES, Damage, garbage
from sqlalchemy.exc import OperationalError
from store.test_answers import keyed, save

from contrapose.flows.cli import main
from contrapose.tasks.core.damage import LOGGER
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import Writer
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerTable, batch_of
from contrapose.tasks.store.base import patient
from contrapose.tasks.store.engine import store_url
from contrapose.tasks.store.opening import connect, examine
from contrapose.tasks.store.prompts import PromptRow
from contrapose.tasks.store.replay import catch_up

MANY = [keyed(number, "word " * (number % 60) * (20 if number % 97 == 0 else 1)) for number in range(1500)]
"""Enough for a tree of several levels, and some that flow over their page."""


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING, LOGGER)
    return lambda: [record.getMessage() for record in caplog.records if record.name == LOGGER]


@pytest.fixture
def path(own_store: str) -> Path:
    """File of a store that holds `MANY`, and that nobody has open."""
    run = Store().runs.begin("run", config='{"naïve": 1}', folder=".")
    save(Store().answers, *MANY, run=run)
    close()
    return Path(own_store.removeprefix("sqlite:///"))


def close() -> None:
    """As if the process had ended."""
    connect(store_url()).dispose()
    connect.cache_clear()


def found() -> dict[str, str | None]:
    return {key: stored.text for key, stored in Store().answers.find([each.key for each in MANY]).items()}


WHOLE = {each.key: each.answer.completion.text for each in MANY}


def one_letter(path: Path) -> None:
    """Change a byte of an answer, which SQLite itself does not notice."""
    content = path.read_bytes()
    path.write_bytes(content.replace(b"word word word", b"word ward word", 1))


def beginning(path: Path) -> None:
    """Zeros in place of the header, the schema, the root of every table and some of their leaves."""
    content = bytearray(path.read_bytes())
    content[: 25 * 4096] = bytes(25 * 4096)
    path.write_bytes(content)


def receipts_of(path: Path) -> list[Path]:
    return sorted(path.with_suffix(".receipts").glob("*.jsonl"))


def flip(path: Path, rng: random.Random, *, bits: int = 1) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(bits):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [*DAMAGES[:3], one_letter, beginning], ids=lambda damage: damage.__name__)
def test_a_damaged_database_is_made_anew_from_its_receipts(
    damage: Damage, path: Path, warnings: Callable[[], list[str]]
) -> None:
    damage(path)
    assert found() == WHOLE
    assert len(warnings()) == 1
    close()
    assert found() == WHOLE
    assert len(warnings()) == 1


def test_the_damaged_file_is_kept(path: Path, warnings: Callable[[], list[str]]) -> None:
    beginning(path)
    content = path.read_bytes()
    assert found() == WHOLE
    (told,) = warnings()
    assert ".damaged-" in told
    (aside,) = [each for each in path.parent.glob("*.damaged-*") if each.suffix not in ("-wal", "-shm")]
    assert aside.read_bytes() == content


def test_runs_readers_looks_forms_batches_and_checks_are_made_anew_too(path: Path) -> None:
    store, row = Store(), PromptRow("k" * 64, "{}", "m", "f" * 64, "run")
    spent = Usage(calls=9, prompt_tokens=8, completion_tokens=7)
    store.answers.keep(batch_of([], run="run", model="r", spent=spent, failures=0, again=False, reads=True))
    store.runs.add_hits("run", 3)
    store.looks.note("l" * 64, ["a", "b"], run="run")
    store.forms.note("f" * 64, "plain", model="m", run="run", again=False)
    store.prompts.note([row, row._replace(key="j" * 64)])
    assert store.prompts.prepare("batch", [row.key], spec="{}") == 1
    store.prompts.mark("batch", {"remote": "theirs"})
    checks = store.checks(flow_run="flow")
    checks.begin("c" * 64, model="m", revision="1", training_run="t")
    checks.decide("c" * 64, verdict="promote", decision="{}")
    store.runs.end("run", "incomplete")

    def content() -> tuple[object, ...]:
        its = Store()
        return (
            its.runs.get("run"),
            its.looks.earlier_looks("l" * 64, ["a", "b", "c"], run="other"),
            its.forms.find("f" * 64),
            its.prompts.find([row.key, "j" * 64]),
            its.prompts.batches(),
            replace(its.checks(flow_run="x").get("c" * 64), until=0.0, owner=""),
        )

    before = content()
    close()
    garbage(path)
    assert content() == before
    assert before[1] == (2,)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_flips_of_the_closed_database_lose_nothing(path: Path, tmp_path: Path) -> None:
    copy, rng = tmp_path / "whole", random.Random(1)
    shutil.copy(path, copy)
    for _ in range(200):
        shutil.copy(copy, path)
        flip(path, rng, bits=rng.choice((1, 20)))
        examine.cache_clear()
        examine(store_url())
        assert found() == WHOLE
        close()
        for left in path.parent.glob("*.damaged-*"):
            left.unlink()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_flips_of_the_receipts_cost_the_damaged_line_at_most(
    path: Path, tmp_path: Path, warnings: Callable[[], list[str]]
) -> None:
    (receipts,) = receipts_of(path)
    copy, rng = tmp_path / "whole", random.Random(2)
    shutil.copy(receipts, copy)
    for _ in range(200):
        path.unlink()
        flip(receipts, rng)
        told = len(warnings())
        kept = found()
        close()
        assert kept.items() <= WHOLE.items()
        assert len(kept) >= len(WHOLE) - 1
        assert len(warnings()) == told + 1
        assert "damaged" in warnings()[-1] or len(kept) == len(WHOLE)
        shutil.copy(copy, receipts)


@pytest.mark.parametrize("flips", [3, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])])
@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_flips_after_a_kill_lose_nothing(
    end: str, flips: int, own_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rng = Path(own_store.removeprefix("sqlite:///")), random.Random(3)
    save(Store().answers, *MANY[:300], run=Store().runs.begin("run", config="{}", folder="."))
    killed = tmp_path / "killed"
    shutil.copytree(path.parent, killed, ignore=shutil.ignore_patterns("*.lock"))
    for number in range(flips):
        folder = tmp_path / f"copy-{number}"
        shutil.copytree(killed, folder)
        flip(folder / f"{path.name}{end}", rng)
        monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{folder / path.name}")
        examine(store_url())
        assert len(found()) == 300
        close()
        shutil.rmtree(folder)


def test_a_torn_last_line_is_told_and_lost_alone(path: Path, warnings: Callable[[], list[str]]) -> None:
    (receipts,) = receipts_of(path)
    lines = receipts.read_bytes().splitlines(keepends=True)
    # As a kill leaves it: without an end, the last answer cut off.
    answers = [line for line in lines if b'"table":"answers"' in line]
    kept = [line for line in lines if line not in answers[-1:] and b'"do":"end"' not in line]
    receipts.write_bytes(b"".join(kept) + answers[-1][:100])
    path.unlink()
    assert len(found()) == len(WHOLE) - 1
    assert "1,499 answers" in warnings()[0]


def test_a_run_goes_on_its_budget_after_a_damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    row = Store().runs.get("run")
    assert row is not None
    assert (row.answers, row.config) == (1500, '{"naïve": 1}')


def test_a_foreign_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("These are notes, not answers." * 1000)
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{notes}")
    with pytest.raises(ContraposeError, match="not a database"):
        Store()
    assert notes.read_text().startswith("These are notes")


def test_an_answer_that_was_changed_on_the_disk_is_known(store: str, warnings: Callable[[], list[str]]) -> None:
    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    save(table, *MANY[:3], run=run)
    with connect(store).begin() as connection:
        connection.exec_driver_sql(
            "UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%%2'"
            if store.startswith("postgres")
            else "UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%2'"
        )
    keys = [each.key for each in MANY[:3]]
    if store.startswith("sqlite"):
        assert {key: answer.text for key, answer in table.find(keys).items()} == {key: WHOLE[key] for key in keys}
    else:
        assert set(table.find(keys)) == set(keys[:2])
        assert Store().claims().claim([keys[2]]) == {keys[2]}
        save(table, MANY[2], run=run)
        assert table.find(keys)[keys[2]].text == MANY[2].answer.completion.text
    assert len(warnings()) == 1


def test_a_damaged_answer_whose_receipts_were_written_from_it_is_asked_again(
    path: Path, warnings: Callable[[], list[str]]
) -> None:
    with connect(store_url()).begin() as connection:
        connection.exec_driver_sql("UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%7'")
    close()
    for file in receipts_of(path):
        file.unlink()
    # The receipts are gone, and are written again from what the database holds, damage included.
    kept = found()
    assert {key for key in WHOLE if not key.endswith("7")} == set(kept)
    lost = sorted(set(WHOLE) - set(kept))
    assert Store().claims().claim(lost) == set(lost)
    assert any("deleted and are asked again" in warning for warning in warnings())


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
    assert row is not None
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
    table.append(batch_of(MANY[:3], run=run, model="m", spent=Usage(calls=3), failures=0, again=False))
    table.receipts.close()
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(catch_up, table.engine, table.receipts) for _ in range(2)]:
            done.result()
    assert Store().runs.usage(run).calls == 3
    assert not table.receipts.files()


def test_an_answer_that_was_asked_again_stays_the_newer_one(path: Path) -> None:
    other = keyed(0, "another")
    batch = batch_of([other], run="run", model="m", spent=Usage(), failures=0, again=True)
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
    its = Writer(table, Store().claims())
    its.put(batch_of(MANY[:600], run=run, model="m", spent=Usage(calls=600), failures=0, again=False))
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
    monkeypatch.setattr(AnswerTable, "_keep", patient(away))
    its = Writer(table, Store().claims())
    its.put(batch_of(MANY[:6], run=run, model="m", spent=Usage(calls=6), failures=0, again=False))
    with pytest.raises(ContraposeError, match="6 questions could not be kept"):
        its.close()
    monkeypatch.setattr(AnswerTable, "_keep", keep)
    close()
    assert len(Store().answers.find([each.key for each in MANY[:6]])) == 6
    assert Store().runs.usage(run).calls == 6
    assert not list(table.receipts.files())
    assert len(warnings()) == 1


def test_the_command_says_that_a_store_is_whole(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "repair"]) == 0
    assert "1,500 answers, each as it was written" in capsys.readouterr().out


def test_the_command_repairs_a_database_and_receipts(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: path.stat().st_size // 2])
    assert main(["cache", "repair"]) == 0
    told = capsys.readouterr()
    assert "the response store was damaged" in told.err
    assert len(told.err.splitlines()) == 1
    close()
    receipts = receipts_of(path)[0]
    receipts.write_bytes(receipts.read_bytes().replace(b"word word word", b"word ward word", 1))
    assert main(["cache", "repair"]) == 0
    assert f"a damaged receipt: {receipts}:" in capsys.readouterr().out
    close()
    path.unlink()
    assert found() == WHOLE

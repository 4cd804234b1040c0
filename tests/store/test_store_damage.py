"""A store that is damaged, deleted or full: what was paid for is rescued or kept elsewhere, and it is told once."""

from __future__ import annotations

import logging
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from core.test_damage import DAMAGES, Damage, emptied, garbage
from store.test_answers import keyed, save

from contrapose.flows.cli import main
from contrapose.tasks.core.damage import LOGGER
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import Writer
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import batch_of
from contrapose.tasks.store.carving import carved
from contrapose.tasks.store.engine import connect, store_url
from contrapose.tasks.store.repair import recognised, repair

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


@pytest.mark.parametrize("damage", [*DAMAGES[:3], one_letter], ids=lambda damage: damage.__name__)
def test_what_can_be_read_of_a_damaged_store_is_rescued(
    damage: Damage, path: Path, warnings: Callable[[], list[str]]
) -> None:
    damage(path)
    rescued = found()
    assert rescued.items() <= WHOLE.items()
    assert len(rescued) >= {emptied: 0, garbage: 0}.get(damage, 600)
    assert len(warnings()) == 1
    close()
    assert found() == rescued
    assert len(warnings()) == 1


def test_an_answer_that_is_not_as_it_was_written_is_known_by_its_key_alone(path: Path) -> None:
    answers = [row for row in recognised(carved(path)) if row[0] == "answers"]
    spoken = next(row for row in answers if "word" in str(row[1][3]))
    row = spoken[1]
    other = (*row[:3], str(row[3]).replace("word", "ward", 1), *row[4:])
    assert list(recognised([row, other])) == [spoken, row[0]]


def test_what_a_reader_has_spent_is_rescued_too(own_store: str) -> None:
    run, path = Store().runs.begin("run", config="{}", folder="."), Path(own_store.removeprefix("sqlite:///"))
    spent = Usage(calls=9, prompt_tokens=8, completion_tokens=7)
    Store().answers.keep(batch_of(MANY, run=run, model="r", spent=spent, failures=0, again=False, reads=True))
    close()
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    assert (Store().runs.spent(run), Store().runs.read(run).spent) == (spent, spent)


@pytest.mark.slow
def test_any_flipped_bytes_give_no_other_answer(path: Path, tmp_path: Path) -> None:
    copy, rng = tmp_path / "whole", random.Random(1)
    shutil.copy(path, copy)
    for _ in range(12):
        content = bytearray(copy.read_bytes())
        for _ in range(20):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        rescued = found()
        assert rescued.items() <= WHOLE.items()
        assert len(rescued) > 900
        close()


def test_pages_of_zeros_cost_their_own_rows_alone(path: Path, warnings: Callable[[], list[str]]) -> None:
    content = bytearray(path.read_bytes())
    # The header, the schema, the root of every table and some of their leaves.
    content[: 25 * 4096] = bytes(25 * 4096)
    path.write_bytes(content)
    assert len(found()) > 1000
    (told,) = warnings()
    assert "answers were rescued" in told
    assert ".damaged-" in told
    (aside,) = [each for each in path.parent.glob("*.damaged-*") if each.suffix not in ("-wal", "-shm")]
    assert aside.read_bytes() == content


def test_the_log_alone_holds_answers_too(
    own_store: str, warnings: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(own_store.removeprefix("sqlite:///"))
    save(Store().answers, *MANY[:300], run=Store().runs.begin("run", config="{}", folder="."))
    # As a crash leaves it: nothing of the log is in the file yet.
    kept = path.with_name("crashed.sqlite3")
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{kept}{end}")
    kept.write_bytes(b"")
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{kept}")
    assert len(found()) == 300
    assert len(warnings()) == 1


def test_a_beginning_that_the_log_hides_is_noticed(own_store: str, warnings: Callable[[], list[str]]) -> None:
    path = Path(own_store.removeprefix("sqlite:///"))
    save(Store().answers, *MANY[:300], run=Store().runs.begin("run", config="{}", folder="."))
    log = path.with_name(f"{path.name}-wal").read_bytes()
    close()
    garbage(path)
    path.with_name(f"{path.name}-wal").write_bytes(log)
    assert len(found()) == 300
    assert len(warnings()) == 1


def test_a_run_goes_on_its_budget_after_a_repair(path: Path) -> None:
    garbage_from = path.stat().st_size // 2
    content = path.read_bytes()
    path.write_bytes(content[:garbage_from])
    row = Store().runs.get("run")
    assert row is not None
    assert (row.answers, row.config) == (1500, '{"naïve": 1}')


def test_a_store_that_is_gone_before_it_is_repaired_is_made_anew(path: Path) -> None:
    path.unlink()
    made = repair(path)
    assert made is not None
    assert (made.answers, made.unread) == (0, 0)
    assert found() == {}


def test_a_foreign_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("These are notes, not answers." * 1000)
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{notes}")
    with pytest.raises(ContraposeError, match="not a database"):
        Store()
    assert notes.read_text().startswith("These are notes")


def test_an_answer_that_was_changed_on_the_disk_is_asked_again(store: str, warnings: Callable[[], list[str]]) -> None:
    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    save(table, *MANY[:3], run=run)
    with connect(store).begin() as connection:
        connection.exec_driver_sql(
            "UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%%2'"
            if store.startswith("postgres")
            else "UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%2'"
        )
    keys = [each.key for each in MANY[:3]]
    assert set(table.find(keys)) == set(keys[:2])
    assert Store().claims().claim([keys[2]]) == {keys[2]}
    save(table, MANY[2], run=run)
    assert table.find(keys)[keys[2]].text == MANY[2].answer.completion.text
    assert len(warnings()) == 1


def test_a_store_deleted_under_way_is_made_anew_with_all_it_had(path: Path, warnings: Callable[[], list[str]]) -> None:
    table, run = Store().answers, Store().runs.begin("second", config="{}", folder=".")
    more = [keyed(number, "new") for number in range(5000, 5010)]
    save(table, *more[:5], run=run)
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    save(table, *more[5:], run=run)
    (told,) = warnings()
    assert "deleted under way" in told
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


def test_two_processes_whose_store_is_deleted_go_on_with_one(path: Path, warnings: Callable[[], list[str]]) -> None:
    from contrapose.tasks.store.answers import AnswerTable
    from contrapose.tasks.store.engine import reach

    first, second = (AnswerTable(reach(store_url())) for _ in range(2))
    run = Store().runs.begin("second", config="{}", folder=".")
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


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def fill(url: str) -> None:
    """Let a store have no more room than it takes."""
    engine = connect(url)
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    from sqlalchemy import event

    engine.dispose()
    event.listen(engine, "connect", lambda raw, _: raw.execute(f"PRAGMA max_page_count={pages}"))


def test_answers_that_find_no_room_wait_elsewhere(
    own_store: str, elsewhere: Path, warnings: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from contrapose.tasks.store.refuge import take_up

    slept: list[float] = []
    monkeypatch.setattr("contrapose.tasks.store.patience.time.sleep", slept.append)
    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    fill(own_store)
    its = Writer(table, Store().claims())
    its.put(batch_of(MANY[:600], run=run, model="m", spent=Usage(calls=600), failures=0, again=False, reads=True))
    with pytest.raises(ContraposeError, match=r"600 questions could not be kept .* is full") as told:
        its.close()
    assert told.value.exit_code == 4
    assert len(str(told.value).splitlines()) == 1
    (kept,) = elsewhere.iterdir()
    assert str(kept) in str(told.value)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    close()
    again = Store().answers
    take_up(again)
    assert len(again.find([each.key for each in MANY])) == 600
    row = Store().runs.get(run)
    assert row is not None
    assert (row.answers, row.requests) == (row.reading.answers, row.reading.requests) == (600, 600)
    assert list(elsewhere.iterdir()) == []
    assert len(warnings()) == 1
    take_up(again)
    assert len(warnings()) == 1


def test_what_waits_goes_on_waiting_while_there_is_no_room(
    own_store: str, elsewhere: Path, warnings: Callable[[], list[str]]
) -> None:
    from contrapose.tasks.store.refuge import take_up

    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    fill(own_store)
    its = Writer(table, Store().claims())
    its.put(batch_of(MANY[:600], run=run, model="m", spent=Usage(calls=600), failures=0, again=False))
    with pytest.raises(ContraposeError):
        its.close()
    take_up(table)
    assert len(list(elsewhere.glob("*.json"))) == 1
    assert warnings() == []


def test_what_somebody_else_left_is_not_taken_up(own_store: str, elsewhere: Path) -> None:
    from contrapose.tasks.store.refuge import _name, take_up

    table = Store().answers
    planted = elsewhere / "planted"
    planted.write_text("{}")
    (elsewhere / f"{_name(own_store)}-1.json").symlink_to(planted)
    (elsewhere / f"{_name(own_store)}-2.json").write_text("no JSON")
    take_up(table)
    assert len(list(elsewhere.iterdir())) == 3


def test_the_command_says_that_a_store_is_whole(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "repair"]) == 0
    assert "1,500 answers, each as it was written" in capsys.readouterr().out


def test_the_command_repairs_a_store_and_takes_from_one_set_aside(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = path.with_name("whole")
    shutil.copy(path, whole)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert main(["cache", "repair"]) == 0
    told = capsys.readouterr()
    assert "the response store was damaged" in told.err
    assert len(told.err.splitlines()) == 1
    assert main(["cache", "repair", "--from", str(whole)]) == 0
    assert f"taken from {whole}" in capsys.readouterr().out
    assert found() == WHOLE
    assert main(["cache", "repair", "--from", str(path.with_name("none"))]) == 2

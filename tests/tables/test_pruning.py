"""What nothing needs is found: neither what was used lately, nor what is still named, nor what others keep there."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from contrapose.tasks.core.home import home_folder
from contrapose.tasks.tables.pruning import find_unneeded_files
from contrapose.tasks.tables.table import Table, write_arrow

DAY = 86_400.0
SCHEMA = pa.schema({"a": pa.int64()})


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CONTRAPOSE_STORAGE", raising=False)


def table(value: int) -> Table:
    return write_arrow([pa.table({"a": [value]}, SCHEMA)], SCHEMA)


def result(name: str, *tables: Table) -> Path:
    path = home_folder() / "results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"result": list(tables)}))
    return path


def aged(path: Path | str, days: float) -> None:
    moment = time.time() - days * DAY
    os.utime(path, (moment, moment))


def names(days: float = 30) -> Sequence[tuple[str, str]]:
    return [(what, entry.place.name) for what, entry in find_unneeded_files(before=time.time() - days * DAY)]


def test_a_result_goes_before_its_table_and_neither_while_it_is_young() -> None:
    made = table(1)
    old = result("0" * 64, made)
    assert names() == []
    aged(old, 31)
    assert names() == [("task results", "0" * 64)]
    aged(made["uri"], 31)
    assert names() == [("task results", "0" * 64), ("tables", f"{made['sha256']}.parquet")]
    assert names(32) == []


def test_an_old_table_stays_as_long_as_a_result_names_it() -> None:
    made = table(1)
    aged(made["uri"], 400)
    kept = result("1" * 64, table(2), made)
    assert names() == []
    kept.unlink()
    assert names() == [("tables", f"{made['sha256']}.parquet")]


def test_a_table_that_is_made_again_is_young() -> None:
    made = table(1)
    aged(made["uri"], 400)
    assert table(1) == made
    assert names() == []


def test_what_a_killed_process_left_goes_after_a_day_at_the_soonest() -> None:
    made = table(1)
    part, damaged = Path(made["uri"]).with_name(".x1.part"), Path(made["uri"] + ".damaged")
    part.mkdir()
    (part / "table.parquet").write_bytes(b"half")
    damaged.write_bytes(b"other")
    for path in (part / "table.parquet", part, damaged):
        aged(path, 2)
    assert names() == []
    assert sorted(names(1.5)) == [("damaged files", damaged.name), ("unfinished parts", ".x1.part")]
    aged(part / "table.parquet", 0.5)
    assert names(0.1) == [("damaged files", damaged.name), ("tables", Path(made["uri"]).name)][:1]


def test_answers_models_and_files_of_others_stay() -> None:
    table(1)
    for name in ("answers.sqlite3", "tables/mine.parquet", "tables/notes.txt", "answers.sqlite3.damaged"):
        (home_folder() / name).write_bytes(b"kept")
        aged(home_folder() / name, 400)
    assert names() == []


def test_what_machines_share_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", f"memory://{uuid4().hex}")
    named, other = table(1), table(2)
    result("2" * 64, named)
    assert names(-1) == [
        ("task results", "2" * 64),
        *sorted(("tables", f"{made['sha256']}.parquet") for made in (named, other)),
        *sorted(("tables", f"{made['sha256']}.parquet") for made in (named, other)),
    ]

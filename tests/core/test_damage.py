"""What is damaged is set aside and computed again, with one warning; what is whole is used as it is."""

from __future__ import annotations

import logging
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contrapose.tasks.core import policy
from contrapose.tasks.core.damage import LOGGER, SUFFIX, warn_together
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.tables.table import Table, read, write

Damage = Callable[[Path], None]
RECORDS = [TextSample(id=str(number), text=f"It is {number}.", options=()) for number in range(50)]


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(b"not what was here" * 100)


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = (truncated, emptied, garbage, flipped)


def damages(*chosen: Damage) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("damage", chosen, ids=lambda damage: damage.__name__)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that holds results and tables."""
    monkeypatch.setattr(policy, "RESULTS", tmp_path / "results")
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was told since."""
    caplog.set_level(logging.WARNING, LOGGER)
    return lambda: [record.getMessage() for record in caplog.records if record.name == LOGGER]


def made(done: list[int]) -> Table:
    """A task's table, computed or found; `done` grows when it is computed."""
    from prefect import flow

    @policy.room_task("make", run_name="make")
    def make(number: int) -> dict[str, object]:
        done.append(number)
        return {"table": write(RECORDS, TextSample), "number": number}

    @flow
    def run() -> Table:
        with warn_together():
            table: Table = policy.call_task(make.with_options(result_storage=policy.RESULTS), number=1)["table"]
            return table

    return run()


@pytest.mark.usefixtures("prefect_server")
@damages(truncated, emptied, flipped)
def test_a_damaged_task_result_is_computed_again(
    damage: Damage, cache: Path, warnings: Callable[[], list[str]]
) -> None:
    done: list[int] = []
    first = made(done)
    (result,) = (cache / "results").iterdir()
    damage(result)
    assert made(done) == first
    assert done == [1, 1]
    assert len(warnings()) == 1
    assert made(done) == first
    assert (len(done), len(warnings())) == (2, 1)
    assert {path.name for path in (cache / "results").iterdir()} == {result.name, result.name + SUFFIX}


def test_one_flipped_byte_anywhere_breaks_the_seal(tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_bytes(b'{"metadata": {"expiration": null}, "result": "{}"}')
    policy.seal(path)
    assert policy.is_sealed(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert not policy.is_sealed(path), place


@pytest.mark.usefixtures("prefect_server")
@damages(emptied, flipped)
def test_a_damaged_table_is_computed_again(damage: Damage, cache: Path, warnings: Callable[[], list[str]]) -> None:
    done: list[int] = []
    first = made(done)
    damage(Path(first["uri"]))
    assert made(done) == first
    assert read(first, TextSample) == RECORDS
    assert len(warnings()) == 1
    assert made(done) == first
    assert (len(done), len(warnings())) == (2, 1)


@pytest.mark.usefixtures("cache")
@damages(truncated, garbage)
def test_a_table_that_is_stored_again_heals(damage: Damage, warnings: Callable[[], list[str]]) -> None:
    table = write(RECORDS, TextSample)
    damage(Path(table["uri"]))
    assert write(RECORDS, TextSample) == table
    assert read(table, TextSample) == RECORDS
    assert len(warnings()) == 1


@pytest.mark.usefixtures("cache")
def test_many_damaged_files_are_one_warning(warnings: Callable[[], list[str]]) -> None:
    parts = [RECORDS[start : start + 5] for start in range(0, 50, 5)]
    for table in [write(part, TextSample) for part in parts]:
        emptied(Path(table["uri"]))
    with warn_together():
        for part in parts:
            write(part, TextSample)
    (told,) = warnings()
    assert told.startswith("10 damaged files were set aside")
    assert told.endswith("and 7 more")


@pytest.mark.usefixtures("prefect_server")
def test_nobody_else_can_read_what_is_kept(cache: Path) -> None:
    for name in ("tables", "results"):
        # As an older version left them.
        (cache / name).mkdir(mode=0o755)
    made([])
    for path in cache.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_chosen_folder_keeps_its_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o750)
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path))
    table = write(RECORDS, TextSample)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750
    assert stat.S_IMODE(Path(table["uri"]).stat().st_mode) == 0o640


def test_a_remote_table_heals_as_a_local_one(
    monkeypatch: pytest.MonkeyPatch, warnings: Callable[[], list[str]]
) -> None:
    import fsspec

    monkeypatch.setenv("CONTRAPOSE_STORAGE", "memory://contrapose-damaged")
    table = write(RECORDS, TextSample)
    with fsspec.open(table["uri"], "wb") as file:
        file.write(b"")
    assert write(RECORDS, TextSample) == table
    assert read(table, TextSample) == RECORDS
    assert len(warnings()) == 1


@pytest.mark.parametrize(("umask", "rights"), [("022", 0o644), ("077", 0o600)])
def test_a_file_in_an_open_folder_is_no_more_readable_than_the_process_lets_it_be(
    umask: str, rights: int, tmp_path: Path
) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "made").write_text("x")
    code = (
        f"import os; os.umask(0o{umask})\n"
        "from pathlib import Path; from contrapose.tasks.core.damage import put_in_place\n"
        "put_in_place(Path('made'), Path('kept'))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == rights

"""A damaged file of the history is noticed, set aside, and made again from the folder of its run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from core.test_damage import DAMAGES, Damage
from past_runs import past_run

from contrapose.tasks.core.damage import SUFFIX
from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.places import Place
from contrapose.tasks.history.dataset import append, file_name, mend, record_of
from contrapose.tasks.history.queries import runs
from contrapose.tasks.history.reading import read_history


def published(out: Path, run: PastRun, *, key: str) -> Path:
    """Files of a run, as far as the history looks; returns its file there."""
    folder = out / run["run_id"]
    folder.mkdir(parents=True)
    tests = [{**test, "interval": test["interval"] and list(test["interval"])} for test in run["tests"]]
    summary = {**run, "model": {"id": run["model"]}, "tests": tests}
    del summary["made_of"]
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps({"history": record_of(file_name(key), run)}))
    append(str(out / ".history"), run, key=key)
    return out / ".history" / file_name(key)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_made_again(damage: Damage, tmp_path: Path) -> None:
    where = str(tmp_path / ".history")
    file, _ = (published(tmp_path, past_run(day), key=f"run {day}") for day in (0, 1))
    whole, before = file.read_bytes(), runs(read_history(where).rows)
    damage(file)
    found = read_history(where)
    assert list(found.skipped) == [file.name]
    mended, told = mend(where, found.skipped, output=Place(str(tmp_path)))
    assert (mended, told.count("\n")) == ([file.name], 0)
    assert "1 made again" in told
    assert file.read_bytes() == whole
    assert file.with_name(file.name + SUFFIX).is_file()
    assert (runs(read_history(where).rows), read_history(where).skipped) == (before, {})


def test_one_flipped_byte_anywhere_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    append(str(tmp_path), past_run(), key="x")
    (file,) = tmp_path.iterdir()
    whole, missed = file.read_bytes(), 0
    expected = runs(read_history(str(tmp_path)).rows)
    for place in range(0, len(whole), 7):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = read_history(str(tmp_path))
        if not found.skipped:
            assert runs(found.rows) == expected, place
            missed += 1
    # The bytes of the seal itself.
    assert missed * 7 <= 150


def test_without_the_folder_of_its_run_it_is_told(tmp_path: Path) -> None:
    append(str(tmp_path / ".history"), past_run(), key="x")
    (file,) = (tmp_path / ".history").iterdir()
    file.write_bytes(b"")
    mended, told = mend(str(tmp_path / ".history"), [file.name], output=Place(str(tmp_path)))
    assert mended == [file.name]
    assert "no longer exist" in told
    assert read_history(str(tmp_path / ".history")).skipped == {}


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "foreign.parquet").write_bytes(b"x")
    assert mend(str(tmp_path), read_history(str(tmp_path)).skipped, output=Place(str(tmp_path))) == ([], "")
    assert (tmp_path / "foreign.parquet").is_file()

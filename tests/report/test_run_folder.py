"""Where a run is written: whole or not at all, and no two in one place."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.publish import free_folder, reserved_folder, write_folder


def put(folder: Path) -> None:
    (folder / "a.txt").write_text("a")


def test_a_name_is_given_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: free_folder(Place(str(tmp_path / "runs")), "x"), range(32)))
    assert len(set(found)) == 32
    for folder in found:
        write_folder(folder, put, last="a.txt")
    assert sorted(tmp_path.glob("runs/*")) == sorted(folder.path for folder in found)
    assert free_folder(Place(str(tmp_path / "runs")), "x").name == "x-33"


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        put(folder)
        raise RuntimeError

    folder = free_folder(Place(str(tmp_path)), "x")
    with pytest.raises(RuntimeError):
        write_folder(folder, fail, last="a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [KeyboardInterrupt, RuntimeError, None])
def test_a_reserved_folder_leaves_nothing_aside(tmp_path: Path, end: type[BaseException] | None) -> None:
    with suppress(KeyboardInterrupt, RuntimeError), reserved_folder(Place(str(tmp_path)), "x") as folder:
        if end is not None:
            raise end
        write_folder(folder, put, last="a.txt")
    assert [path.name for path in tmp_path.iterdir()] == ([] if end else ["x"])


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot write the run folder.*--out"):
        free_folder(Place(str(tmp_path / "file")), "x")


def modes(folder: Path) -> set[tuple[int, ...]]:
    """Modes of what lies in a folder: of folders, then of files."""
    paths = (
        [path for path in folder.rglob("*") if path.is_dir()],
        [path for path in folder.rglob("*") if path.is_file()],
    )
    return {tuple(sorted({stat.S_IMODE(path.stat().st_mode) for path in kind})) for kind in paths}


@pytest.mark.parametrize(
    ("around", "folders", "files"),
    [(None, 0o700, 0o600), (0o755, 0o755, 0o644), (0o750, 0o750, 0o640), (0o700, 0o700, 0o600)],
)
def test_a_run_is_as_open_as_the_folder_of_runs_and_a_new_one_is_the_users_alone(
    around: int | None, folders: int, files: int, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    if around is not None:
        runs.mkdir()
        runs.chmod(around)
    write_folder(free_folder(Place(str(runs)), "one"), put, last="a.txt")
    (Place(str(runs)) / ".history" / "one.parquet").write(b"")
    assert stat.S_IMODE(runs.stat().st_mode) == folders
    assert modes(runs) == {(folders,), (files,)}

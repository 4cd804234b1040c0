"""Where a run is written: whole or not at all, and no two in one place."""

from __future__ import annotations

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

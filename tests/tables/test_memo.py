"""What was found out once is found again, and never believed where it is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.tasks.tables import memo
from contrapose.tasks.tables.memo import find_or_remember


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    return tmp_path


def is_count(value: object) -> bool:
    return isinstance(value, int)


def never() -> int:
    raise AssertionError("it was found before")


def test_what_was_found_is_remembered(folder: Path) -> None:
    assert find_or_remember("batching.json", "model cuda", lambda: 4096, sound=is_count) == 4096
    assert find_or_remember("batching.json", "model cuda", never, sound=is_count) == 4096
    assert find_or_remember("batching.json", "other cuda", lambda: 1, sound=is_count) == 1
    assert json.loads((folder / "batching.json").read_text()) == {"model cuda": 4096, "other cuda": 1}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"model": "many"}', "\udcff"])
def test_what_is_damaged_is_found_again(folder: Path, content: str) -> None:
    (folder / "kept.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert find_or_remember("kept.json", "model", lambda: 7, sound=is_count) == 7
    assert find_or_remember("kept.json", "model", never, sound=is_count) == 7


def test_what_another_process_put_in_place_is_read(folder: Path) -> None:
    assert find_or_remember("kept.json", "model", lambda: 7, sound=is_count) == 7
    (folder / "other.json").write_text('{"model": 8}')
    (folder / "other.json").replace(folder / "kept.json")
    assert find_or_remember("kept.json", "model", never, sound=is_count) == 8


def test_where_nothing_can_be_kept_it_is_found_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "file" / "home"))
    assert [find_or_remember("kept.json", "model", lambda: 7, sound=is_count) for _ in range(2)] == [7, 7]


def test_what_may_not_be_used_again_is_not_kept(folder: Path) -> None:
    assert find_or_remember("kept.json", "model", lambda: "seven", sound=is_count) == "seven"  # type: ignore[comparison-overlap]
    assert not (folder / "kept.json").exists()


def test_the_oldest_values_go_and_nobody_else_reads_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST", 3)
    for number in range(5):
        find_or_remember("kept.json", f"model {number}", lambda: 7, sound=is_count)
    assert (folder / "kept.json").stat().st_mode & 0o777 == 0o600
    assert list(json.loads((folder / "kept.json").read_text())) == ["model 2", "model 3", "model 4"]

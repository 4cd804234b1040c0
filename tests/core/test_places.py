"""A folder elsewhere is used as one on this machine: whole or not at all, and a server that is away is waited for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from contrapose.tasks.core.errors import ConfigError, CutShortError
from contrapose.tasks.core.file_servers import ask_with_retries
from contrapose.tasks.core.places import Place, atomic_folder, local_copy, part_folder
from contrapose.tasks.report.publish import find_free_folder, reserve_folder, write_folder

MEMORY = fsspec.get_filesystem_class("memory")


@pytest.fixture(params=["local", "memory"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place.at(tmp_path if request.param == "local" else f"memory://{uuid4().hex}", setting="output")


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.core.file_servers.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("contrapose.tasks.core.file_servers.PATIENCE_SECONDS", 0.2)


def put(folder: Path) -> None:
    for name in ("a.txt", "manifest.json"):
        (folder / name).write_text(name)


def away(times: int, error: Exception) -> Callable[[], str]:
    """Something that fails some times, then answers."""
    tries = iter(range(times))

    def ask() -> str:
        if next(tries, None) is not None:
            raise error
        return "an answer"

    return ask


def test_a_file_is_written_read_renamed_and_removed(base: Place) -> None:
    file = base / "folder" / "file"
    with pytest.raises(FileNotFoundError):
        file.read()
    file.write(b"one")
    file.write(b"three")
    assert (file.read(), file.size(), file.exists()) == (b"three", 5, True)
    assert (base / "folder").names() == ["file"]
    file.rename("other")
    assert (base / "folder").names() == ["other"]
    with (base / "folder" / "other").here() as path:
        assert path.read_bytes() == b"three"
    (base / "folder").remove()
    assert not (base / "folder" / "other").exists()
    (base / "folder").remove()
    assert (base / "folder").names() == []


def test_a_folder_is_there_whole_or_not_at_all(base: Place) -> None:
    folder = find_free_folder(base, "run")

    def fail(part: Path) -> None:
        put(part)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_folder(folder, fail, last="manifest.json")
    assert not folder.exists()
    folder = find_free_folder(base, "run")
    write_folder(folder, put, last="manifest.json")
    assert folder.names() == ["a.txt", "manifest.json"]
    assert [name for name in base.names() if name.startswith(".")] == []
    with local_copy(folder, ["a.txt", "none"]) as here:
        assert (here / "a.txt").read_text() == "a.txt"


def test_a_name_is_given_once_and_a_reserved_one_is_let_go(base: Place) -> None:
    first, second = find_free_folder(base, "run"), find_free_folder(base, "run")
    assert len({first.name, second.name}) == 2
    assert second.name.startswith("run-")
    with reserve_folder(base, "other") as folder:
        assert folder.name == "other"
    assert not part_folder(folder).exists()


def test_the_file_that_makes_a_folder_whole_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, copied = Place(f"memory://{uuid4().hex}/run"), []
    copy = MEMORY.cp_file

    def counted(self: object, source: str, target: str, **options: object) -> object:
        copied.append(target.rpartition("/")[2])
        return copy(self, source, target, **options)

    monkeypatch.setattr(MEMORY, "cp_file", counted)
    with atomic_folder(folder, last="manifest.json") as part:
        put(part)
        (part / "z.txt").write_text("z")
    assert copied == ["a.txt", "z.txt", "manifest.json"]


def test_a_server_that_is_back_in_time_costs_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert ask_with_retries(away(3, OSError("refused")), where="s3://bucket") == "an answer"
    assert caplog.messages == ["s3://bucket does not answer (OSError); it is asked again for 0 s"]


def test_a_server_that_stays_away_is_told_without_the_text_of_its_library() -> None:
    with pytest.raises(CutShortError, match=r"s3://bucket: no answer within 0 s \(OSError\)") as refused:
        ask_with_retries(away(1_000, OSError("key=quartz")), where="s3://bucket")
    assert "quartz" not in str(refused.value)


@pytest.mark.parametrize("error", [PermissionError("no"), ValueError("no"), OSError(28, "full")])
def test_what_another_try_would_not_change_is_told_at_once(error: Exception) -> None:
    with pytest.raises(ConfigError, match="it cannot be used"):
        ask_with_retries(away(1, error), where="s3://bucket")


def test_a_password_or_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(ConfigError, match="an address with a password"):
        Place.at("s3://user:quartz@host/x", setting="output")
    with pytest.raises(ConfigError, match="nosuch:// is not known here"):
        Place.at("nosuch://host/x", setting="output")


def test_a_scheme_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: object, **options: object) -> object:
        raise ImportError("Install gcsfs")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(ConfigError, match=r"contrapose\[gcs\]"):
        Place.at("gs://bucket/x", setting="output")

"""The converted model is converted again where a file of it is not as it was written."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from core.test_damage import DAMAGES, Damage

from contrapose.tasks.core.damage import LOGGER, SUFFIX
from contrapose.tasks.infer.local import embedded


@pytest.fixture
def conversions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Conversions so far, each of a few bytes."""
    done: list[Path] = []

    def save(_: Path, folder: Path) -> None:
        done.append(folder)
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(bytes(range(256)) * 8)
        (folder / "config.json").write_text("{}")

    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    monkeypatch.setattr(embedded, "_assemble", lambda target: None)
    monkeypatch.setattr(embedded, "_save", save)
    monkeypatch.setattr(embedded.metadata, "files", lambda name: [])
    return done


def warned(caplog: pytest.LogCaptureFixture) -> int:
    return sum(record.name == LOGGER for record in caplog.records)


@pytest.mark.parametrize("damage", [*DAMAGES, Path.unlink], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ["model.safetensors", "ready.json"])
def test_a_damaged_model_is_converted_again(
    name: str, damage: Damage | Callable[[Path], None], conversions: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, LOGGER)
    folder = embedded.converted_folder()
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    damage(folder / name)
    assert embedded.converted_folder() == folder
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
    # Without its last file it was never finished.
    never_finished = damage == Path.unlink and name == "ready.json"
    assert warned(caplog) == (0 if never_finished else 1)
    assert folder.with_name(folder.name + SUFFIX).is_dir() != never_finished
    embedded.converted_folder()
    assert len(conversions) == 2


def test_a_model_of_an_older_version_is_converted_again_without_a_word(
    conversions: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    folder = embedded.converted_folder()
    ready = json.loads((folder / "ready.json").read_text())
    del ready["files"]
    (folder / "ready.json").write_text(json.dumps(ready))
    embedded.converted_folder()
    embedded.converted_folder()
    assert (len(conversions), warned(caplog)) == (2, 0)

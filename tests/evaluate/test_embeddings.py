"""Embeddings: unit vectors in order, and a model that changed is another model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.evaluate import embeddings
from contrapose.tasks.evaluate.embeddings import embedder, revision


def test_vectors_have_length_one_and_the_order_of_the_texts() -> None:
    embed = embedder("all-MiniLM-L6-v2")
    first, second, again = embed(["a river", "a spreadsheet", "a river"])
    assert abs(float(np.linalg.norm(first)) - 1) < 1e-5
    assert (first == again).all()
    assert not (first == second).all()


def test_a_changed_folder_is_another_revision(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "weights").write_bytes(b"1")
    before = revision(str(tmp_path))
    assert revision(str(tmp_path)) == before
    (tmp_path / "inner" / "weights").write_bytes(b"2")
    assert revision(str(tmp_path)) != before


def test_the_bundled_model_is_known_by_its_version() -> None:
    assert revision("all-MiniLM-L6-v2")[0].isdigit()


class Counting:
    """A model that remembers what it was given."""

    def __init__(self) -> None:
        self.texts: list[list[str]] = []
        self.options: dict[str, Any] = {}

    def encode(self, texts: Sequence[str], **options: Any) -> np.ndarray:
        self.texts.append(list(texts))
        self.options = options
        return np.array([[len(text), 1.0] for text in texts])


def test_each_distinct_text_is_read_once_and_nothing_is_drawn_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Counting()
    monkeypatch.setattr(embeddings, "_model", {"mine": model}.get)
    found = embedder("mine")(["ab", "c", "ab", "defg"])
    assert model.texts == [["ab", "c", "defg"]]
    assert model.options == {"normalize_embeddings": True, "show_progress_bar": False, "convert_to_numpy": True}
    assert found[:, 0].tolist() == [2, 1, 2, 4]
    assert found.dtype == np.float32


@pytest.mark.parametrize("installed", [True, False])
def test_a_hub_model_is_known_by_its_name_alone(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "bundled_folder", lambda: Path() if installed else None)
    assert revision("org/minilm") == "org/minilm"
    assert (revision("all-MiniLM-L6-v2") == "all-MiniLM-L6-v2") is not installed


def test_a_folder_called_like_the_bundled_model_is_not_taken_for_it(in_tmp: Path) -> None:
    before = revision("all-MiniLM-L6-v2")
    (in_tmp / "all-MiniLM-L6-v2").mkdir()
    assert revision("all-MiniLM-L6-v2") == before


def test_folders_below_a_model_are_no_content_of_it(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"1")
    before = revision(str(tmp_path))
    (tmp_path / "empty").mkdir()
    assert revision(str(tmp_path)) == before


def test_a_model_that_cannot_be_read_is_told_with_its_name(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("no model")
    with pytest.raises(ModelError, match="sentence-transformers cannot load it") as told:
        embedder(str(tmp_path))(["a river"])
    assert told.value.where == str(tmp_path)

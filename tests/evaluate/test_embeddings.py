"""Embeddings: unit vectors in order, and a model that changed is another model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

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

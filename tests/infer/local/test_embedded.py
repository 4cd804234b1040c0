"""The embedded model: checked, converted once, and the same for everybody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain_broker import completions

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.local import embedded
from contrapose.tasks.infer.local.embedded import SHA256, Embedded, converted_folder

SPEC = ModelSpec(id="embedded", args={"device": "cpu", "dtype": "float32"}, generation=Generation(max_new_tokens=6))


def test_it_answers_and_scores() -> None:
    first, second, likely, unlikely = completions(
        Embedded().open(SPEC),
        [
            Question(kind="generate", prompt="The capital of France is"),
            Question(kind="generate", prompt="One, two, three, four,"),
            Question(kind="loss", prompt="One, two, three,", text=" four"),
            Question(kind="loss", prompt="One, two, three,", text=" giraffe"),
        ],
    )
    assert first.text
    assert "five" in (second.text or "")
    assert likely.loss < unlikely.loss


@pytest.mark.slow
def test_the_quick_tokenizer_gives_the_ids_of_the_general_one() -> None:
    from transformers import AutoTokenizer

    general = AutoTokenizer.from_pretrained(converted_folder())
    quick = Embedded().open(SPEC).encoder
    for text in ("The sky is blue.\n\n  A. naïve café 东京 🙂", " B", "", "<bos>x"):
        assert quick.prompt(text) == general(text)["input_ids"]
        assert quick._bare_ids(text) == general(text, add_special_tokens=False)["input_ids"]
    ids = quick.prompt("A small test, with 2 parts.")
    assert quick.tokenizer.decode(ids) == general.decode(ids)
    assert (quick.pad_id, quick.tokenizer.bos_token_id) == (general.pad_token_id, general.bos_token_id)


def test_the_converted_folder_says_what_it_was_made_from_and_keeps_the_terms() -> None:
    folder = converted_folder()
    assert json.loads((folder / "ready.json").read_text())["sha256"] == SHA256
    assert (folder / "NOTICE.md").is_file()


def test_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chunk").write_bytes(b"other")
    monkeypatch.setattr(embedded, "chunk_paths", lambda: [tmp_path / "chunk"])
    with pytest.raises(ModelError, match="sha256"):
        embedded._assemble(tmp_path / "model.gguf")


def test_a_missing_package_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "DISTRIBUTION", "no-such-model")
    with pytest.raises(ModelError, match=r"contrapose\[embedded\]"):
        Embedded().identity(SPEC)

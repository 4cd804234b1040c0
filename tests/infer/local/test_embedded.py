"""The embedded model: checked, converted once, and the same for everybody."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from core.test_damage import DAMAGES, Damage
from plain_broker import completions

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.damage import LOGGER, SUFFIX
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.local import embedded
from contrapose.tasks.infer.local.embedded import SHA256, Embedded, prepare_copy, read_gguf

SPEC = ModelSpec(id="embedded", args={"device": "cpu", "dtype": "float32"}, generation=Generation(max_new_tokens=2))


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

    general = AutoTokenizer.from_pretrained(prepare_copy())
    quick = Embedded().open(SPEC).encoder
    for text in ("The sky is blue.\n\n  A. naïve café 东京 🙂", " B", "", "<bos>x"):
        assert quick.encode_prompts([text])[0] == general(text)["input_ids"]
        assert quick._bare_ids(text) == general(text, add_special_tokens=False)["input_ids"]
    ids = quick.encode_prompts(["A small test, with 2 parts."])[0]
    assert quick.tokenizer.decode(ids) == general.decode(ids)
    assert (quick.pad_id, quick.tokenizer.bos_token_id) == (general.pad_token_id, general.bos_token_id)


def test_the_converted_folder_says_what_it_was_made_from_and_keeps_the_terms() -> None:
    folder = prepare_copy()
    assert json.loads((folder / "ready.json").read_text())["sha256"] == SHA256
    assert (folder / "NOTICE.md").is_file()


def test_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chunk").write_bytes(b"other")
    monkeypatch.setattr(embedded, "find_chunk_paths", lambda: [tmp_path / "chunk"])
    with pytest.raises(ModelError, match="sha256"):
        embedded._assemble(tmp_path / "model.gguf")


def test_a_missing_package_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "DISTRIBUTION", "no-such-model")
    with pytest.raises(ModelError, match=r"contrapose\[embedded\]"):
        Embedded().identity(SPEC)


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
    folder = embedded.prepare_copy()
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    damage(folder / name)
    assert embedded.prepare_copy() == folder
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
    # Without its last file it was never finished.
    never_finished = damage == Path.unlink and name == "ready.json"
    assert warned(caplog) == (0 if never_finished else 1)
    assert folder.with_name(folder.name + SUFFIX).is_dir() != never_finished
    embedded.prepare_copy()
    assert len(conversions) == 2


def test_a_model_of_an_older_version_is_converted_again_without_a_word(
    conversions: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    folder = embedded.prepare_copy()
    ready = json.loads((folder / "ready.json").read_text())
    del ready["files"]
    (folder / "ready.json").write_text(json.dumps(ready))
    embedded.prepare_copy()
    embedded.prepare_copy()
    assert (len(conversions), warned(caplog)) == (2, 0)


def write_file(path: Path, *, alignment: int) -> dict[str, np.ndarray]:
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_custom_alignment(alignment)
    writer.add_block_count(3)
    writer.add_float32("gemma3.rope.freq_base", 10_000.0)
    writer.add_bool("tokenizer.ggml.add_bos_token", True)
    writer.add_array("tokenizer.ggml.tokens", ["<bos>", "größe", ""])
    writer.add_array("tokenizer.ggml.scores", [0.5, -1.0, 2.0])
    numbers = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    writer.add_tensor("output_norm.weight", numbers[0, :5])
    stored = gguf.quantize(numbers, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("blk.0.ffn_up.weight", stored, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return {"output_norm": numbers[0, :5], "blk.0.ffn_up": numbers}


@pytest.mark.parametrize("alignment", [32, 64])
def test_facts_and_tensors_are_those_that_were_written(tmp_path: Path, alignment: int) -> None:
    written = write_file(tmp_path / "model.gguf", alignment=alignment)

    facts, tensors = read_gguf(tmp_path / "model.gguf")

    assert facts["gemma3.block_count"] == 3
    assert facts["gemma3.rope.freq_base"] == 10_000.0
    assert facts["tokenizer.ggml.add_bos_token"] is True
    assert facts["tokenizer.ggml.tokens"] == ["<bos>", "größe", ""]
    assert facts["tokenizer.ggml.scores"] == [0.5, -1.0, 2.0]
    assert list(tensors) == list(written)
    np.testing.assert_array_equal(tensors["output_norm"], written["output_norm"])
    np.testing.assert_allclose(tensors["blk.0.ffn_up"], written["blk.0.ffn_up"], atol=0.02)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"PK\x03\x04" + bytes(40))
    with pytest.raises(ValueError, match="no GGUF file"):
        read_gguf(tmp_path / "other")

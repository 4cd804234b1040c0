"""Facts and tensors of a GGUF file equal those that the package gguf wrote."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest

from contrapose.tasks.infer.local.gguf_file import read_gguf


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

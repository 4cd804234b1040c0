"""Hashes of files that a model consists of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def files_sha256(folder: Path, files: Iterable[Path]) -> str:
    """Hash of names and contents: other weights in the same place are another model.

    Args:
        folder: what the names are taken relative to.
        files: in it or below.
    """
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()

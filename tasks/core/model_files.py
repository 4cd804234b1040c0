"""Find model files on this machine: the folder or hub id of a model, its cached commit, and a hash of its files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from contrapose.tasks.core.provider import Check


def check_model_files(chosen: str, *, setting: str, revision: str | None = None) -> Check:
    """Check whether a model is on this machine: a folder, or a hub id at a revision (None: the newest)."""
    folder = Path(os.path.expanduser(chosen))
    if any((folder / name).is_file() for name in ("config.json", "modules.json")):
        return Check(state="ok", observed=f"folder {folder}")
    if folder.is_dir():
        remedy = f"Name the folder of a saved model in {setting}."
        return Check(state="problem", observed=f"{folder} holds no config.json", remedy=remedy)
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(chosen, "config.json", revision=revision)
    except HFValidationError:
        observed = f"{chosen!r} is neither a folder nor a hub id"
        return Check(state="problem", observed=observed, remedy=f"Correct {setting}.")
    if isinstance(cached, str):
        return Check(state="ok", observed=f"{chosen}, in the cache of the hub")
    observed = f"{chosen} is not in the cache"
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        remedy = f"Unset HF_HUB_OFFLINE once to download it, or correct {setting}."
        return Check(state="problem", observed=f"{observed}, and HF_HUB_OFFLINE is set", remedy=remedy)
    remedy = "The first run downloads it; see that there is room."
    return Check(state="warning", observed=observed, remedy=remedy)


def find_cached_commit(name: str) -> str:
    """Return the cached commit of a hub model that was loaded."""
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(name, "config.json")
    return Path(cached).parent.name if isinstance(cached, str) else "unknown"


def existing_folder(name: str) -> Path | None:
    """Return the folder with a name, in which `~` is the home folder, or None if there is none."""
    path = os.path.expanduser(name)
    return Path(path) if os.path.isdir(path) else None


def hash_files(folder: Path, files: Iterable[Path]) -> str:
    """Return the hash of the names and contents of a model's files, so that other weights count as another model."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()

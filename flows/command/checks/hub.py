"""Models of the Hugging Face hub: a folder, in its cache, or still to be downloaded."""

from __future__ import annotations

import os
from pathlib import Path

from contrapose.flows.command.checks.base import Finding, ok, problem, warning


def on_disk(name: str, chosen: str, *, setting: str, revision: str | None = None) -> Finding:
    """Whether a model is here.

    Args:
        name: what the finding is about.
        chosen: a folder or a hub id.
        setting: where it is chosen.
        revision: of the model on the hub; None: the newest.
    """
    folder = Path(os.path.expanduser(chosen))
    if folder.is_dir():
        return _folder(name, folder, setting)
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(chosen, "config.json", revision=revision)
    except HFValidationError:
        return problem(name, f"{chosen!r} is neither a folder nor a hub id", f"Correct {setting}.")
    if isinstance(cached, str):
        return ok(name, f"{chosen}, in the cache of the hub")
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        remedy = f"Unset HF_HUB_OFFLINE once to download it, or correct {setting}."
        return problem(name, f"{chosen} is not in the cache, and HF_HUB_OFFLINE is set", remedy)
    return warning(name, f"{chosen} is not in the cache", "The first run downloads it; see that there is room.")


def _folder(name: str, folder: Path, setting: str) -> Finding:
    if not any((folder / each).is_file() for each in ("config.json", "modules.json")):
        return problem(name, f"{folder} holds no config.json", f"Name the folder of a saved model in {setting}.")
    return ok(name, f"folder {folder}")

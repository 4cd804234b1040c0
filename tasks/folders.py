"""Folders that users name where something else could be meant as well."""

from __future__ import annotations

import os
from pathlib import Path


def existing_folder(name: str) -> Path | None:
    """The folder of that name; None where there is none, however impossible the name is.

    Args:
        name: a path, in which `~` is a home; or a hub id, a run's id and the like.
    """
    path = os.path.expanduser(name)
    return Path(path) if os.path.isdir(path) else None

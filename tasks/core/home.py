"""The home folder, in which Contrapose keeps all its files on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def home_folder() -> Path:
    """Return the folder of cached tables, results and converted models: `CONTRAPOSE_HOME` or the user's cache."""
    chosen = os.environ.get("CONTRAPOSE_HOME")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "contrapose"

"""Cache of slowly computed values, in small JSON files in the home folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from contrapose.tasks.core.home import home_folder

T = TypeVar("T")

MOST = 300
"""Values that a file keeps: those that were found last."""


def find_or_remember(file: str, name: str, find: Callable[[], T], *, sound: Callable[[object], bool]) -> T:
    """Return the cached value of a name, or find it now and cache it; values are plain JSON.

    `file`: JSON in the home, which may be missing or read-only; `name`: everything that the value depends on; `sound`:
    whether a value may be used and cached.
    """
    from filelock import FileLock

    path = home_folder() / file
    known: dict[str, T] = _read_values(path)
    if sound(known.get(name)):
        return known[name]
    value = find()
    if not sound(value):
        return value
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            known = _read_values(path)
            if sound(known.get(name)):
                return known[name]
            fresh = path.with_suffix(".new")
            # For its owner alone: values may hold texts of people's data.
            fresh.unlink(missing_ok=True)
            fresh.touch(mode=0o600)
            fresh.write_text(json.dumps(dict([*known.items(), (name, value)][-MOST:])))
            os.replace(fresh, path)
    return value


def _read_values(path: Path) -> dict[str, T]:
    """Return the values in a file, or an empty mapping if it is missing or damaged."""
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}

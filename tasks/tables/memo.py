"""What took long to find out, kept in small files of the home, and found there the next time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from contrapose.tasks.tables.table import home

T = TypeVar("T")

MOST = 300
"""Values that a file keeps: those that were found last."""


def remembered(file: str, name: str, find: Callable[[], T], *, sound: Callable[[object], bool]) -> T:
    """What was found before under a name, or is found now and kept.

    Args:
        file: JSON in the home, which may be deleted at any time, and need not be writable.
        name: all that the value hangs on.
        find: finds it; what it returns is plain JSON.
        sound: whether a value can be one that was found and may be used again; others are neither kept nor used.
    """
    from filelock import FileLock

    path = home() / file
    known: dict[str, T] = _read(path)
    if sound(known.get(name)):
        return known[name]
    value = find()
    if not sound(value):
        return value
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            known = _read(path)
            if sound(known.get(name)):
                return known[name]
            kept = [*known.items(), (name, value)][-MOST:]
            fresh = path.with_suffix(".new")
            # For its owner alone: values may hold texts of people's data.
            fresh.unlink(missing_ok=True)
            fresh.touch(mode=0o600)
            fresh.write_text(json.dumps(dict(kept)))
            os.replace(fresh, path)
    return value


def _read(path: Path) -> dict[str, T]:
    """What a file holds, which is not to be changed: it is read again when the file is another one."""
    try:
        status = path.stat()
        return _parsed(path, (status.st_ino, status.st_mtime_ns, status.st_size))
    except (OSError, ValueError):
        return {}


@lru_cache(maxsize=4)
def _parsed(path: Path, version: tuple[int, ...]) -> dict[str, Any]:
    known = json.loads(path.read_text())
    return known if isinstance(known, dict) else {}

"""Write files completely or not at all, and rename damaged ones with one warning."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

LOGGER = "contrapose.damage"
"""Logger of damage: a command prints its warnings, a worker logs them."""
SUFFIX = ".damaged"
"""Follows the name of a file or folder that was set aside."""
UMASK = os.umask(0o077)
"""Of the process, as it was when this was imported: it is read only by setting another."""
os.umask(UMASK)
NAMED = 3

_together: ContextVar[list[str] | None] = ContextVar("damage", default=None)


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error means that the disk or the user's quota is full."""
    # Arrow keeps the number in its text alone.
    numbers = (errno.ENOSPC, errno.EDQUOT)
    in_text = any(f"errno {number}]" in str(error) for number in numbers)
    return isinstance(error, OSError) and (error.errno in numbers or in_text)


def refuse_pipe(path: Path) -> Path:
    """Return a path, or raise OSError if it is a pipe, which could block, a socket or a device."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "a pipe, a socket or a device")
    return path


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can read, or raise OSError; an existing folder is closed to others, too."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # It may be somebody else's, who decides.
    with suppress(OSError):
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)


def make_folder_as_above(folder: Path, *, exist_ok: bool = False) -> None:
    """Make a folder with the permissions of its parent, as far as the process may, or raise OSError.

    Where the one above has to be made too, it is open to nobody else: so is a new `runs`, and all that is put there.
    """
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder.parent)) from None
    folder.mkdir(mode=stat.S_IMODE(folder.parent.stat().st_mode) & 0o777 | 0o700, exist_ok=exist_ok)


def share_files_as_above(made: Path, above: Path) -> None:
    """Make a file, or the files in a folder, as readable for others as the parent folder, as far as the process may."""
    mode = stat.S_IMODE(above.stat().st_mode) & 0o666 & ~UMASK | 0o600
    for part in (*made.rglob("*"), made) if made.is_dir() else (made,):
        if part.is_file():
            part.chmod(mode)


def put_in_place(made: Path, path: Path) -> None:
    """Flush a finished file or folder, then rename it: a crash leaves all of it or nothing, an OSError no change."""
    share_files_as_above(made, path.parent)
    for part in (*sorted(made.rglob("*")), made) if made.is_dir() else (made,):
        sync(part)
    made.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Flush a file's content or a folder's names to the disk, or raise OSError."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def set_aside(path: Path) -> Path | None:
    """Rename a damaged file, so that it is neither used nor lost; return None if another process was faster."""
    aside = path.with_name(path.name + SUFFIX)
    try:
        if path.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
        path.replace(aside)
    except FileNotFoundError:
        return None
    note_damage(str(aside))
    return aside


def note_damage(aside: str) -> None:
    """Warn that a damaged file was renamed and is made again; inside `warn_together` one warning lists all of them."""
    with warn_together():
        cast(list[str], _together.get()).append(aside)


def warn(text: str) -> None:
    """Log one warning line, which a command prints."""
    logger = logging.getLogger(LOGGER)
    # Prefect may have told the root to be silent.
    logger.setLevel(logging.WARNING)
    logger.warning(text)


@contextmanager
def warn_together() -> Iterator[None]:
    """Warn in one line about all files renamed inside the block, when the outermost block ends."""
    if _together.get() is not None:
        yield
        return
    asides: list[str] = []
    token = _together.set(asides)
    try:
        yield
    finally:
        _together.reset(token)
        if distinct := list(dict.fromkeys(asides)):
            more = f" and {len(distinct) - NAMED} more" if len(distinct) > NAMED else ""
            damaged = "a damaged file was" if len(distinct) == 1 else f"{len(distinct)} damaged files were"
            warn(f"{damaged} set aside and made again: {', '.join(distinct[:NAMED])}{more}")

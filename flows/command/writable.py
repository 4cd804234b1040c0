"""Whether a folder can be written, found out before it is needed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile


def unwritable(folder: Path) -> str:
    """Why nothing can be written into a folder, or where it would be made; empty where it can."""
    # The file that is tried leaves nothing behind.
    try:
        place = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
        with TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__

"""Which files of a folder a browser may read, and how each is sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from contrapose.flows.command.report_server import CLOSED, ENCLOSED, HTML, TEXT, PageReply

KINDS = {
    ".html": HTML,
    ".json": "application/json",
    ".md": TEXT,
    ".txt": TEXT,
    ".xml": TEXT,
}
"""What is shown; everything else is kept as a file, since a browser might run it."""


def file_reply(root: Path, path: str) -> PageReply | None:
    """A file below a folder; None where there is none that may be read.

    Args:
        root: the folder, resolved.
        path: below it, as a browser sends it.
    """
    try:
        found = below(root, [unquote(part, errors="strict") for part in path.split("/")])
    except UnicodeDecodeError:
        return None
    if found is None:
        return None
    kind = KINDS.get(found.suffix.lower())
    return PageReply(
        content=found,
        kind=kind or "application/octet-stream",
        policy=ENCLOSED if kind == HTML else CLOSED,
        download=kind is None,
    )


def below(root: Path, parts: Sequence[str]) -> Path | None:
    """A regular file below a folder; None where it lies elsewhere, whatever links lead there, or is hidden.

    Args:
        root: the folder, resolved.
        parts: names of the folders that lead to it, and its own.
    """
    if any(_unfit(part) for part in parts):
        return None
    try:
        found = root.joinpath(*parts).resolve(strict=True)
        own = found.relative_to(root)
    except (OSError, ValueError, RuntimeError):
        return None
    hidden = any(part.startswith(".") for part in own.parts)
    return found if found.is_file() and not hidden else None


def _unfit(part: str) -> bool:
    return not part or part.startswith(".") or any(sign in part for sign in "/\\\0")

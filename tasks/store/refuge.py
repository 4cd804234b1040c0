"""Answers that were paid for and that the store does not take wait in a file elsewhere, until a run finds room."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from uuid import uuid4

from contrapose.tasks.core.damage import put_in_place, warn
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.store.answers import AnswerBatch, AnswerTable
from contrapose.tasks.store.engine import shown


def shelter(batch: AnswerBatch, url: str) -> Path | None:
    """Write answers into a file that only this user can read; the next run on the store takes them up.

    Args:
        batch: what the store did not take.
        url: of the store.

    Returns:
        The file; None where there is no room anywhere.
    """
    for folder in _folders():
        path = folder / f"{_name(url)}-{uuid4().hex[:12]}.json"
        part = path.with_name(f".{path.name}.part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(asdict(replace(batch, rows=list(batch.rows))), file)
            put_in_place(part, path)
            path.chmod(0o600)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        else:
            return path
    return None


def take_up(table: AnswerTable) -> None:
    """Put what waits for a store into it, and say so; what cannot be put there goes on waiting."""
    url = table.engine.url.render_as_string(hide_password=False)
    for path in _waiting(url):
        # Two runs that begin at once must not both count it.
        taken = path.with_suffix(f".{os.getpid()}")
        try:
            path.rename(taken)
            content = json.loads(taken.read_text(encoding="utf-8"))
            table.keep(AnswerBatch(**{**content, "spent": Usage(**content["spent"])}))
            taken.unlink()
        except FileNotFoundError:
            continue
        except (OSError, ValueError, TypeError, KeyError, ContraposeError):
            with suppress(OSError):
                taken.rename(path)
        else:
            warn(f"{len(content['rows']):,} answers that had found no room were taken into the response store: {path}")


def _waiting(url: str) -> Iterator[Path]:
    """Files for a store, of this user alone: anybody may write into a folder for temporary files."""
    for folder in _folders():
        for path in sorted(folder.glob(f"{_name(url)}-*.json")):
            with suppress(OSError):
                status = path.lstat()
                own = os.name != "posix" or status.st_uid == os.geteuid()
                if own and not path.is_symlink() and path.is_file():
                    yield path


def _folders() -> tuple[Path, ...]:
    return tuple(dict.fromkeys((Path(tempfile.gettempdir()), Path.cwd())))


def _name(url: str) -> str:
    """How the files for a store begin."""
    return f"contrapose-answers-{hashlib.sha256(shown(url).encode()).hexdigest()[:12]}"

"""Files and folders at a local path or an fsspec URL."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import uuid4

import fsspec
from fsspec.implementations.local import LocalFileSystem

from contrapose.tasks.core.bounds import MOST_DOCUMENT
from contrapose.tasks.core.damage import (
    SUFFIX,
    make_folder_as_above,
    note_damage,
    put_in_place,
    refuse_pipe,
    set_aside,
    share_files_as_above,
)
from contrapose.tasks.core.errors import ConfigError, ContraposeError, CutShortError
from contrapose.tasks.core.file_servers import ask_with_retries, find_missing_package, make_time_limits, refusal_error
from contrapose.tasks.core.secrets import holds_password

R = TypeVar("R")

EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "az": "azure", "abfs": "azure", "abfss": "azure"}
"""Extras of contrapose with the package that reaches a scheme."""
WHOLE = (*EXTRAS, "memory")
"""Schemes under which an object appears once all of it has arrived."""
MODIFIED = ("LastModified", "last_modified", "updated", "mtime", "modified", "created")
"""Names under which file systems say when a file was written."""


@dataclass(frozen=True)
class Place:
    """A folder or file."""

    address: str
    """A path or URL, without a slash at its end."""

    @classmethod
    def at(cls, address: str | Path, *, setting: str) -> Self:
        """Return the place at a path or any URL that fsspec knows.

        Raises ConfigError if it holds a password, which every message would repeat, or nothing here reaches it.
        """
        text = str(address)
        if holds_password(text):
            raise ConfigError(
                "an address with a password",
                expected="an address without one",
                remedy="Give it to fsspec by its own configuration or environment.",
                where=setting,
            )
        place = cls(text.rstrip("/") or text)
        try:
            place._file_system  # noqa: B018
        except Exception as error:
            # A file system of fsspec raises whatever the library beneath it does.
            if not isinstance(error, ImportError) and "not known" not in str(error):
                raise refusal_error(text, error) from error
            scheme = text.partition("://")[0]
            package = f'"contrapose[{EXTRAS[scheme]}]"' if scheme in EXTRAS else find_missing_package(error)
            raise ConfigError(
                f"{scheme}:// is not known here",
                expected="a folder, or a URL whose file system is installed",
                remedy=f"Install it with pip install {package}." if package else "Correct the address.",
                where=setting,
            ) from error
        return place

    @cached_property
    def _file_system(self) -> tuple[Any, str]:
        """Return the file system and the path in it, without a cached listing of the server."""
        options = {"use_listings_cache": False} if "://" in self.address else {}
        files, path = fsspec.core.url_to_fs(self.address, **options, **make_time_limits(self.address))
        return files, str(path)

    @property
    def files(self) -> Any:
        """Return its fsspec file system."""
        return self._file_system[0]

    @property
    def inside(self) -> str:
        """Return its path in that file system."""
        return self._file_system[1]

    @property
    def is_local(self) -> bool:
        """Return whether it is on this machine."""
        return isinstance(self.files, LocalFileSystem)

    @property
    def path(self) -> Path:
        """Return the path of a local place."""
        return Path(self.inside if "://" in self.address else self.address)

    @property
    def name(self) -> str:
        """Return the last part of its address."""
        return self.address.rpartition("/")[2] if not self.is_local else self.path.name

    def __truediv__(self, name: str) -> Place:
        return Place(f"{self.address.rstrip('/')}/{name}")

    def beside(self, name: str) -> Place:
        """Return another place in the same folder."""
        return Place(str(self.path.with_name(name)) if self.is_local else f"{self.address.rpartition('/')[0]}/{name}")

    def resolved(self) -> Place:
        """Return the place with an absolute path."""
        return Place(str(self.path.resolve())) if self.is_local else self

    def __str__(self) -> str:
        return self.address

    def exists(self) -> bool:
        """Return whether the file or folder exists."""
        return bool(self._ask(lambda: self.files.exists(self.inside)))

    def size(self) -> int:
        """Return the size of a file in bytes, or raise FileNotFoundError."""
        return int(self._ask(lambda: self.files.size(self.inside)))

    def read(self) -> bytes:
        """Return the content of a file, or raise FileNotFoundError."""
        if self.is_local:
            return refuse_pipe(self.path).read_bytes()
        return bytes(self._ask(lambda: self.files.cat_file(self.inside)))

    def json(self) -> Any:
        """Return the value in a JSON file, or raise OSError, also if it is larger or deeper than runs write."""
        if self.size() > MOST_DOCUMENT:
            raise OSError(errno.EFBIG, f"more than {MOST_DOCUMENT:,} bytes")
        try:
            return json.loads(self.read())
        except RecursionError as error:
            raise OSError(errno.EFBIG, "nested too deeply") from error

    def names(self) -> list[str]:
        """Return the names in a folder, sorted, or an empty list if there is no such folder."""
        if self.is_local:
            return sorted(os.listdir(self.path)) if self.path.is_dir() else []
        return sorted(self._list_server())

    def entries(self) -> list[Entry]:
        """Return the entries of a folder, sorted by name, or an empty list if there is no such folder."""
        entries = []
        for name in self.names() if self.is_local else ():
            # It may have gone meanwhile.
            with suppress(FileNotFoundError):
                entries.append(_local_entry(self / name))
        for name, info in () if self.is_local else self._list_server().items():
            if info["type"] == "directory":
                parts = (self / name).entries()
                modified = max((part.modified for part in parts), default=0.0)
                entries.append(Entry(self / name, True, sum(part.size for part in parts), modified))
            else:
                when = next((info[key] for key in MODIFIED if info.get(key)), time.time())
                moment = datetime.fromisoformat(when) if isinstance(when, str) else when
                seconds = moment.timestamp() if isinstance(moment, datetime) else float(moment)
                entries.append(Entry(self / name, False, int(info.get("size") or 0), seconds))
        return sorted(entries, key=lambda entry: entry.place.name)

    def _list_server(self) -> dict[str, Any]:
        """Return the entries of a remote folder by name, or an empty mapping if there is no such folder."""
        try:
            listing = self._ask(lambda: self.files.ls(self.inside, detail=True))
        except FileNotFoundError:
            return {}
        by_name = {str(info["name"]).rstrip("/").rpartition("/")[2]: info for info in listing}
        # Some servers list the folder itself.
        return {name: info for name, info in by_name.items() if name not in ("", self.inside.rpartition("/")[2])}

    def write(self, content: bytes) -> None:
        """Write the content of a file; readers see all of it or nothing."""
        if not self.is_local:
            self._send(lambda path: self.files.pipe_file(path, content))
            return
        make_folder_as_above(self.path.parent, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=self.path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            put_in_place(Path(name), self.path)
        finally:
            Path(name).unlink(missing_ok=True)

    def try_writing(self) -> None:
        """Write and remove a test file in a remote folder, or raise ConfigError or CutShortError."""
        tried = self / f".{uuid4().hex}.part"
        tried.write(b"")
        tried.remove()

    def receive(self, made: Path) -> None:
        """Store a finished local file here, which may move it; readers see all of it or nothing."""
        if self.is_local:
            put_in_place(made, self.path)
        else:
            self._send(lambda path: self.files.put_file(str(made), path))

    def _send(self, send: Callable[[str], object]) -> None:
        """Send a file to a server, first under another name if readers would see an unfinished file."""

        def send_all() -> None:
            if self.address.partition("://")[0] in WHOLE:
                send(self.inside)
                return
            part = f"{self.inside}.{os.getpid()}.part"
            self.files.makedirs(self.inside.rpartition("/")[0], exist_ok=True)
            send(part)
            self.files.mv(part, self.inside)

        try:
            self._ask(send_all)
        except FileNotFoundError as error:
            raise ConfigError(
                "nothing can be written there: there is no such bucket or container",
                expected="one that exists",
                remedy="Make it, or name another one.",
                where=self.address,
            ) from error

    def fetch(self, into: Path) -> None:
        """Copy the file to a local one, or raise FileNotFoundError."""
        self._ask(lambda: self.files.get_file(self.inside, str(into)))

    @contextmanager
    def here(self) -> Iterator[Path]:
        """Yield the path of a local copy of the file, or raise FileNotFoundError."""
        if self.is_local:
            yield refuse_pipe(self.path)
            return
        with tempfile.TemporaryDirectory() as work:
            self.fetch(Path(work) / self.name)
            yield Path(work) / self.name

    def set_aside(self) -> None:
        """Rename a damaged file or folder, so that it is neither used nor lost."""
        if self.is_local:
            set_aside(self.path)
            return
        with suppress(FileNotFoundError):
            self.rename(self.name + SUFFIX)
            note_damage(self.address + SUFFIX)

    def rename(self, name: str) -> None:
        """Rename a file within its folder, and replace a file with that name."""
        self._ask(lambda: self.files.mv(self.inside, self.beside(name).inside))

    def remove(self) -> None:
        """Delete a file, or a folder with its content, if it exists."""
        with suppress(FileNotFoundError):
            self._ask(lambda: self.files.rm(self.inside, recursive=True))

    def _ask(self, ask: Callable[[], R]) -> R:
        """Call the file system; retry if a server may only be unreachable for a moment."""
        return ask() if self.is_local else ask_with_retries(ask, where=self.address)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder in the listing of its folder."""

    place: Place
    is_folder: bool
    size: int
    """Bytes; of a folder with all that lies in it."""
    modified: float
    """Unix time at which it was written last; of a folder the time of what is newest in it."""


def _local_entry(place: Place) -> Entry:
    """Return the entry of a local file or folder, or raise FileNotFoundError."""
    folder = place.path.is_dir() and not place.path.is_symlink()
    facts = [path.lstat() for path in (place.path, *(place.path.rglob("*") if folder else ()))]
    size = sum(fact.st_size for fact in facts if not stat.S_ISDIR(fact.st_mode))
    return Entry(place, folder, size, max(fact.st_mtime for fact in facts))


@contextmanager
def atomic_folder(folder: Place, *, last: str) -> Iterator[Path]:
    """Yield a new local folder, which becomes the content of a place if the block ends without an error.

    Readers find all of it or nothing. On this machine it is renamed. Elsewhere its files are sent aside, copied in
    place, and that named `last` comes when all others are there: without it a folder counts as none. Raises OSError or
    ContraposeError if it cannot be written.
    """
    part = part_folder(folder)
    if part.is_local:
        make_folder_as_above(part.path, exist_ok=True)
        try:
            yield part.path
            share_files_as_above(part.path, folder.path.parent)
            part.path.rename(folder.path)
        finally:
            shutil.rmtree(part.path, ignore_errors=True)
        return
    try:
        with tempfile.TemporaryDirectory() as work:
            yield Path(work)
            names = sorted(os.listdir(work), key=lambda name: (name == last, name))
            for name in names:
                (part / name).receive(Path(work) / name)
            for name in names:
                target = folder / name
                target._ask(partial(part.files.cp_file, (part / name).inside, target.inside))
    except CutShortError:
        # It would not answer now either.
        raise
    except BaseException:
        with suppress(ContraposeError):
            part.remove()
        raise
    with suppress(ContraposeError):
        part.remove()


@contextmanager
def local_copy(folder: Place, names: Iterable[str]) -> Iterator[Path]:
    """Yield a local folder with these files of a folder, if they exist."""
    if folder.is_local:
        yield folder.path
        return
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            with suppress(FileNotFoundError):
                (folder / name).fetch(Path(work) / name)
        yield Path(work)


def part_folder(folder: Place) -> Place:
    """Return the place where a folder is written first; while it exists, the folder's name is taken."""
    return folder.beside(f".{folder.name}.part")

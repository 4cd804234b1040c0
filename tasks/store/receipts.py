"""Write and read receipts: plain files next to a SQLite store, with one line for each change that must not be lost.

A change is appended to the file of its process before the database commits it. So the database is only an index of the
receipts and can be made anew from them. A line is a JSON object that ends with the CRC-32 of what is before it; a file
that was closed ends with the count and the SHA-256 of its lines.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import orjson

from contrapose.tasks.core.damage import is_disk_full, private_folder, sync
from contrapose.tasks.store.owners import is_gone, is_of_this_process, new_owner

ROTATED_AT = 64_000_000
"""Bytes at which a file is closed and the next one begun."""
SYNC_SECONDS = 1.0
"""Between two waits for the disk: what a power cut can lose."""
RESERVE = 1_000_000
"""Bytes that each process keeps free for the answers that are under way when the disk is full."""
BLOCK = 1_000_000
"""Bytes that are read together."""
CHECKSUM = re.compile(rb', ?"crc": ?"([0-9a-f]{8})"\}\Z')
"""End of a receipt."""
JOINED = re.compile(rb'"crc": ?"[0-9a-f]{8}"\}(.)(?=\{"at")', re.DOTALL)
"""End of a receipt that another one follows, with a byte between them that is no end of a line any more."""


class WrittenReceipts(NamedTuple):
    """File and byte range of written receipts."""

    file: str
    """Name of the file."""
    start: int
    """Offset of their first byte."""
    end: int
    """Offset after their last byte."""


class Receipt(NamedTuple):
    """A receipt line that was read."""

    end: int
    """Offset after it."""
    content: Mapping[str, Any] | None
    """None for a damaged line."""


class Receipts:
    """The receipts of a store, in a folder; a process appends to a file of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_full = False
        """Return whether the disk had no more room, and the reserve is used up."""
        self._lock = Lock()
        self._path: Path | None = None
        self._handle = self._process = -1
        self._size = self._lines = 0
        self._synced = 0.0
        self._hash = hashlib.sha256()

    def append(self, contents: Sequence[Mapping[str, Any]]) -> WrittenReceipts:
        """Append receipts, all or none; raise OSError if the disk is full and the reserve is used up."""
        data = b"".join(map(to_line, contents))
        with self._lock:
            path = self._open()
            written = WrittenReceipts(path.name, self._size, self._size + len(data))
            self._write(data, len(contents))
            if self._size > ROTATED_AT:
                self._close()
            elif time.monotonic() - self._synced > SYNC_SECONDS:
                self._synced = time.monotonic()
                os.fdatasync(self._handle) if hasattr(os, "fdatasync") else os.fsync(self._handle)
        return written

    def close(self) -> None:
        """Close the file of this process; a later receipt begins a new one."""
        with self._lock, suppress(OSError):
            if self._process == os.getpid():
                self._close()

    def files(self) -> list[Path]:
        """Return all files, oldest first."""
        return sorted(self.folder.glob("*.jsonl"))

    def is_being_written(self, path: Path) -> bool:
        """Return whether a file may still grow, because it has no end line and its process may be alive."""
        first = next(read_receipts(path), None)
        owner = str((first.content or {}).get("owner", "")) if first else ""
        if owner.count(":") < 2 or is_gone(owner) or _is_ended(path):
            return False
        return not is_of_this_process(owner) or path == self._path

    def tidy(self) -> None:
        """Remove the reserve files of killed processes."""
        for reserve in self.folder.glob("*.reserve"):
            path = reserve.with_suffix(".jsonl")
            if path != self._path and not (path.exists() and self.is_being_written(path)):
                reserve.unlink(missing_ok=True)

    def _open(self) -> Path:
        """Return the open file of this process; create it if it is missing or was deleted."""
        if self._path is None or self._process != os.getpid():
            return self._begin()
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(self._path), os.fstat(self._handle)):
                return self._path
        private_folder(self.folder)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        for start in range(0, self._size, BLOCK):
            os.write(handle, os.pread(self._handle, min(BLOCK, self._size - start), start))
        os.close(self._handle)
        self._handle = handle
        return self._path

    def _begin(self) -> Path:
        private_folder(self.folder)
        owner = new_owner()
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = self.folder / f"{moment}-{os.getpid()}-{owner[-12:]}.jsonl"
        with path.with_suffix(".reserve").open("xb") as reserve:
            reserve.write(os.urandom(RESERVE))  # some file systems keep no zeros
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._path, self._process = path, os.getpid()
        self._size = self._lines = 0
        self._synced, self._hash = time.monotonic(), hashlib.sha256()
        self._write(to_line({"at": time.time(), "do": "begin", "owner": owner}), 1)
        sync(self.folder)
        return path

    def _write(self, data: bytes, lines: int) -> None:
        try:
            self._write_all(data)
        except OSError as error:
            if not is_disk_full(error) or self._path is None:
                raise
            self.is_full = True
            self._path.with_suffix(".reserve").unlink(missing_ok=True)
            self._write_all(data)
        self._size += len(data)
        self._lines += lines
        self._hash.update(data)

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise

    def _close(self) -> None:
        if self._path is None:
            return
        path, self._path = self._path, None
        end = {"at": time.time(), "do": "end", "lines": self._lines, "sha256": self._hash.hexdigest()}
        try:
            self._write_all(to_line(end))
            os.fsync(self._handle)
        finally:
            os.close(self._handle)
            path.with_suffix(".reserve").unlink(missing_ok=True)


def to_line(content: Mapping[str, Any]) -> bytes:
    """Return a receipt as JSON whose last field is the checksum of all before it."""
    body = orjson.dumps(content)[:-1]
    return b'%b,"crc":"%08x"}\n' % (body, zlib.crc32(body))


def read_receipts(path: Path, start: int = 0, end: int | None = None) -> Iterator[Receipt]:
    """Yield the receipts of a file between two offsets, without an unfinished last line."""
    for line in _read_lines(path, start, end):
        start += len(line) + 1
        joint = JOINED.search(line)
        parts = (line,) if joint is None else (line[: joint.start(1)], line[joint.end(1) :])
        yield from (Receipt(start, _parse(part)) for part in parts)


def _read_lines(path: Path, start: int, end: int | None = None) -> Iterator[bytes]:
    """Yield the ended lines of a file; it is open only while a block is read."""
    rest = b""
    while True:
        block = b""
        # Another process may have written what it holds into a newer file.
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(start + len(rest))
            block = file.read(BLOCK if end is None else max(min(BLOCK, end - start - len(rest)), 0))
        if not block:
            return
        *lines, rest = (rest + block).split(b"\n")
        start += sum(len(line) + 1 for line in lines)
        yield from lines


def _parse(line: bytes) -> Mapping[str, Any] | None:
    """Return the content of a line, or None if it is damaged."""
    end = CHECKSUM.search(line)
    if end is None or int(end[1], 16) != zlib.crc32(body := line[: end.start()]):
        return None
    with suppress(ValueError):
        content = json.loads(body + b"}")
        return content if isinstance(content, dict) else None
    return None


def _is_ended(path: Path) -> bool:
    """Return whether a file was closed by its process."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - 300, 0))
        last = _parse(file.read().rstrip(b"\n").rpartition(b"\n")[2])
        return last is not None and last.get("do") == "end"
    return False


def list_damaged_lines(path: Path) -> list[int]:
    """Return the numbers of a file's damaged lines, from 1; 0 means that lines are missing."""
    hashed, damaged = hashlib.sha256(), []
    for number, line in enumerate(_read_lines(path, 0), 1):
        content = _parse(line)
        if content is None:
            damaged.append(number)
        elif content.get("do") == "end":
            is_complete = content.get("lines") == number - 1 and content.get("sha256") == hashed.hexdigest()
            return damaged if is_complete or damaged else [0]
        hashed.update(line + b"\n")
    return damaged

"""Receipts: plain files beside a SQLite store that hold all that cost money or level, a line for each change.

A change is appended to the file of its process before the database commits it, so that the database is only an index
of the receipts: it can be made anew from them, and lacks at most what it says itself. A line is a JSON object that
ends with the CRC-32 of what is before it; a file that was closed ends with the count and the hash of its lines.
"""

from __future__ import annotations

import errno
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

from contrapose.tasks.core.damage import private_folder, sync
from contrapose.tasks.store.engine import gone, here, new_owner

ROTATED_AT = 64_000_000
"""Bytes at which a file is closed and the next one begun: a closed file can be shortened when answers are forgotten."""
SYNC_SECONDS = 1.0
"""Between two waits for the disk: what a power cut can lose."""
RESERVE = 1_000_000
"""Bytes that each process keeps free for the answers that are under way when the disk is full."""
BLOCK = 1_000_000
"""Bytes that are read together."""
KEY = re.compile(rb'"table": "answers", "row": \{"key": "([0-9a-f]+)"')
"""Where an answer's receipt says its key."""
ENDING = re.compile(rb', "crc": "[0-9a-f]{8}"\}.(?=\{"at": )', re.DOTALL)
"""How a receipt ends that another one follows, with a byte between them that is no end of a line any more."""


class Written(NamedTuple):
    """Where some receipts are."""

    file: str
    """Name of the file."""
    start: int
    """Offset of their first byte."""
    end: int
    """Offset behind their last byte."""


class Receipt(NamedTuple):
    """A line that was read."""

    end: int
    """Offset behind it."""
    content: Mapping[str, Any] | None
    """None where it is not what was written."""


class Receipts:
    """The receipts of a store; a process appends to a file of its own.

    Args:
        folder: of all files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_full = False
        """Whether the disk had no more room, and the reserve is used up."""
        self._lock = Lock()
        self._path: Path | None = None
        self._handle = -1
        self._process = 0
        self._size = self._lines = 0
        self._synced = 0.0
        self._hash = hashlib.sha256()

    def append(self, lines: Sequence[str]) -> Written:
        """Append JSON objects, each with its checksum.

        Raises:
            OSError: they cannot be written, not even with the reserve; none of them is there.
        """
        data = b"".join(map(with_checksum, lines))
        with self._lock:
            path = self._ready()
            written = Written(path.name, self._size, self._size + len(data))
            self._write(data, len(lines))
            if self._size > ROTATED_AT:
                self._close()
            elif time.monotonic() - self._synced > SYNC_SECONDS:
                self._sync()
        return written

    def close(self) -> None:
        """End the file of this process; a later receipt begins another one."""
        with self._lock:
            if self._process == os.getpid():
                with suppress(OSError):
                    self._close()

    def files(self) -> list[Path]:
        """All files, in the order in which they were begun."""
        return sorted(self.folder.glob("*.jsonl"))

    def is_being_written(self, path: Path) -> bool:
        """Whether a file may still grow: it has no end, and its process may live."""
        first = next(read(path), None)
        owner = str((first.content or {}).get("owner", "")) if first else ""
        if owner.count(":") < 2 or gone(owner) or is_ended(path):
            return False
        return not here(owner) or path == self._path

    def answers(self, keys: Sequence[str]) -> list[Mapping[str, Any]]:
        """The newest answers with some keys, as their receipts have them."""
        wanted = {key.encode() for key in keys}
        rows: dict[str, Mapping[str, Any]] = {}
        for path in self.files():
            for line in lines_of(path):
                key = KEY.search(line, 0, 400)
                if key is not None and key[1] in wanted and (content := _parsed(line)) is not None:
                    rows[content["row"]["key"]] = content["row"]
        return list(rows.values())

    def tidy(self) -> None:
        """Remove the reserves of processes that were killed."""
        for reserve in self.folder.glob("*.reserve"):
            path = reserve.with_suffix(".jsonl")
            if path != self._path and not (path.exists() and self.is_being_written(path)):
                reserve.unlink(missing_ok=True)

    def _ready(self) -> Path:
        """The file of this process, begun if need be; one that was deleted is put back."""
        path = self._path if self._process == os.getpid() else None
        if path is None:
            return self._begin()
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(self._handle)):
                return path
        self._put_back(path)
        return path

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
        self._synced = time.monotonic()
        self._hash = hashlib.sha256()
        self._write(with_checksum(to_line({"at": time.time(), "do": "begin", "owner": owner})), 1)
        sync(self.folder)
        return path

    def _put_back(self, path: Path) -> None:
        """Write what the deleted file holds under its name again."""
        private_folder(self.folder)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        for start in range(0, self._size, BLOCK):
            os.write(handle, os.pread(self._handle, min(BLOCK, self._size - start), start))
        os.close(self._handle)
        self._handle = handle

    def _write(self, data: bytes, lines: int) -> None:
        try:
            self._write_all(data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or self._path is None:
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

    def _sync(self) -> None:
        self._synced = time.monotonic()
        os.fdatasync(self._handle) if hasattr(os, "fdatasync") else os.fsync(self._handle)

    def _close(self) -> None:
        if self._path is None:
            return
        path, self._path = self._path, None
        try:
            end = {"at": time.time(), "do": "end", "lines": self._lines, "sha256": self._hash.hexdigest()}
            self._write_all(with_checksum(to_line(end)))
            os.fsync(self._handle)
        finally:
            os.close(self._handle)
            path.with_suffix(".reserve").unlink(missing_ok=True)


def to_line(content: object) -> str:
    """A receipt, or a part of one, as JSON, yet without its checksum."""
    return json.dumps(content)


def with_checksum(line: str) -> bytes:
    """A JSON object with the checksum over it as its last field."""
    data = line.encode()
    return b'%b, "crc": "%08x"}\n' % (data[:-1], zlib.crc32(data[:-1]))


def read(path: Path, start: int = 0, end: int | None = None) -> Iterator[Receipt]:
    """The receipts of a file from an offset on; a line that is not ended yet is left out.

    Raises:
        OSError: it cannot be read.
    """
    for line in lines_of(path, start, end):
        start += len(line) + 1
        yield from (Receipt(start, _parsed(part)) for part in _parted(line))


def lines_of(path: Path, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The lines of a file that are ended, without their ends; the file is open only while a block is read."""
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
        for line in lines:
            start += len(line) + 1
            yield line


def _parted(line: bytes) -> tuple[bytes, ...]:
    """The receipts of a line: two where the end of the first one was damaged."""
    match = ENDING.search(line)
    return (line,) if match is None else (line[: match.end() - 1], line[match.end() :])


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    body, mark, crc = line.rpartition(b', "crc": "')
    if not mark or crc != b'%08x"}' % zlib.crc32(body):
        return None
    with suppress(ValueError):
        content = json.loads(body + b"}")
        return content if isinstance(content, dict) else None
    return None


def is_ended(path: Path) -> bool:
    """Whether a file was closed by its process."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - 300, 0))
        last = _parsed(file.read().rstrip(b"\n").rpartition(b"\n")[2])
        return last is not None and last.get("do") == "end"
    return False


def damaged_lines(path: Path) -> list[int]:
    """Numbers, from 1 on, of the lines of a file that are not what was written; 0 where lines are missing."""
    hashed, bad = hashlib.sha256(), []
    for number, line in enumerate(lines_of(path), 1):
        receipt = _parsed(line)
        if receipt is None:
            bad.append(number)
        elif receipt.get("do") == "end":
            is_complete = receipt.get("lines") == number - 1 and receipt.get("sha256") == hashed.hexdigest()
            return bad if is_complete or bad else [0]
        hashed.update(line + b"\n")
    return bad

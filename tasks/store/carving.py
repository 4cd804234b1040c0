"""Rows read from the pages of a SQLite file that SQLite itself no longer reads.

Every page that holds rows of a table says so itself, so they are found without the tree above them, the schema or the
header of the file. The layout is that of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = "int | float | str | bytes | None"

PAGE = 4096
"""Bytes of a page, unless the file says otherwise."""
TABLE_LEAF = 0x0D
HEADER = 100
"""Bytes of the file's header, which its first page begins with."""
WAL_HEADER, FRAME_HEADER = 32, 24
LARGEST = 1_000_000_000
"""Bytes of a row; SQLite has no larger ones."""
FIXED: Mapping[int, Value] = {0: None, 8: 0, 9: 1}
"""Values that take no bytes beside their type."""


def carved(path: Path) -> Iterator[tuple[Value, ...]]:
    """Every row of every table that can be read, each as its values; a row may come twice, and be an older one.

    Args:
        path: of the database; the log of its last transactions lies beside it.
    """
    content = path.read_bytes() if path.is_file() else b""
    log = path.with_name(path.name + "-wal")
    size = _page_size(content)
    pages = _Pages(content, size, dict(_logged(log.read_bytes(), size) if log.is_file() else ()))
    for number in pages.numbers():
        yield from _rows(pages, number)


class _Pages:
    """The pages of a file, the newest of each.

    Args:
        content: of the file.
        size: bytes of a page.
        logged: newer pages, by number.
    """

    def __init__(self, content: bytes, size: int, logged: Mapping[int, bytes]) -> None:
        self.content, self.size, self.logged = content, size, logged

    def numbers(self) -> Iterator[int]:
        """Of all pages; the first is 1, as in SQLite. The last may be cut off."""
        count = -(-len(self.content) // self.size)
        yield from range(1, max(count, *self.logged, 0) + 1 if self.logged else count + 1)

    def page(self, number: int) -> bytes:
        """A page; shorter or empty where the file has less of it."""
        logged = self.logged.get(number)
        return self.content[(number - 1) * self.size : number * self.size] if logged is None else logged


def _page_size(content: bytes) -> int:
    """What the header says, where that can be."""
    size = int.from_bytes(content[16:18], "big")
    size = 65536 if size == 1 else size
    return size if content.startswith(b"SQLite") and size >= 512 and size & (size - 1) == 0 else PAGE


def _logged(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Pages of the transactions in a log that were committed, the oldest first."""
    salts, frame = log[16:24], FRAME_HEADER + size
    pages: list[tuple[int, bytes]] = []
    for start in range(WAL_HEADER, len(log) - frame + 1, frame):
        number, committed = struct.unpack(">II", log[start : start + 8])
        if log[start + 8 : start + 16] != salts:
            # What follows was written before the log was begun anew.
            return
        pages.append((number, log[start + FRAME_HEADER : start + frame]))
        if committed:
            yield from pages
            pages.clear()


def _rows(pages: _Pages, number: int) -> Iterator[tuple[Value, ...]]:
    """Rows of a page, where it is one that holds rows of a table; those that make no sense are left out."""
    page = pages.page(number)
    start = HEADER if number == 1 else 0
    if page[start : start + 1] != bytes([TABLE_LEAF]):
        return
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for place in range(start + 8, min(start + 8 + 2 * count, len(page) - 1), 2):
        with suppress(ValueError, IndexError, struct.error, OverflowError):
            yield tuple(_values(_payload(pages, page, int.from_bytes(page[place : place + 2], "big"))))


def _payload(pages: _Pages, page: bytes, place: int) -> bytes:
    """The bytes of a row: those on its page, and those on the pages that it flows over to."""
    length, place = _varint(page, place)
    _, place = _varint(page, place)
    if not 0 < length < LARGEST:
        raise ValueError("no row has this length")
    size = pages.size
    if length <= size - 35:
        return _part(page, place, length)
    least = (size - 12) * 32 // 255 - 23
    here = least + (length - least) % (size - 4)
    here = here if here <= size - 35 else least
    parts = [_part(page, place, here)]
    following, left = int.from_bytes(_part(page, place + here, 4), "big"), length - here
    while left > 0:
        over = pages.page(following) if following else b""
        parts.append(_part(over, 4, min(left, size - 4)))
        left -= len(parts[-1])
        following = int.from_bytes(over[:4], "big")
    return b"".join(parts)


def _part(page: bytes, place: int, length: int) -> bytes:
    if place + length > len(page):
        raise ValueError("the page ends before")
    return page[place : place + length]


def _values(payload: bytes) -> Iterator[Value]:
    """The values of a row."""
    end, place = _varint(payload, 0)
    at = end
    while place < end:
        kind, place = _varint(payload, place)
        value, at = _value(payload, kind, at)
        yield value
    if at != len(payload):
        raise ValueError("the row does not end with its last value")


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    """A value of one of SQLite's types, and where the next one begins."""
    if kind >= 12:
        length = (kind - 12) // 2
        raw = _part(payload, at, length)
        # A sum over the row tells whether it is the text that was written.
        return (raw.decode(errors="replace") if kind % 2 else raw), at + length
    length = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]
    raw = _part(payload, at, length)
    if kind == 7:
        return float(struct.unpack(">d", raw)[0]), at + length
    return FIXED.get(kind, int.from_bytes(raw, "big", signed=True)), at + length


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next thing begins."""
    value = 0
    for count in range(9):
        byte = content[place + count]
        if count == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    raise AssertionError("nine bytes at most")

"""Logs of Inspect: its own packed format and JSON."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from contrapose.tasks.core.bounds import MOST_DOCUMENT, is_bomb
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.formats.base import (
    Format,
    Row,
    Selection,
    completion_of,
    failed,
    parse_json,
    prompt_text,
)

NAME = "a log of Inspect"
OURS = "contrapose"
"""Key of the metadata in samples of logs that Contrapose wrote."""
ZSTANDARD = 93
"""Number of a compression that Inspect uses and Python's zip files do not know."""
EPOCH = re.compile(r"_epoch_(\d+)\.json\Z")


def recognizes(record: Row) -> bool:
    """Return whether a record is a log, or one of its samples."""
    is_log = isinstance(record.get("samples"), list)
    return is_log or {"epoch", "input", "output"} <= record.keys()


def reader(selection: Selection) -> Callable[[Row], Iterator[Row]]:
    """Return a reader of logs and of their samples."""
    known: set[tuple[str, int]] = set()

    def read(record: Row) -> Iterator[Row]:
        samples = record.get("samples", [record])
        for sample in sorted(samples, key=lambda sample: int(sample.get("epoch") or 1)):
            ours = (sample.get("metadata") or {}).get(OURS)
            # In our own logs, cases with the same prompt have one reply.
            own = (prompt_text(_asked(sample)), int(sample.get("epoch") or 1))
            if not ours or own not in known:
                yield from _rows(sample, ours)
            known.add(own)

    return read


def _rows(sample: Row, ours: Row | None) -> Iterator[Row]:
    """Yield the last message of the user before the reply in a sample, with each choice of the reply."""
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    error = sample.get("error") or output.get("error") or (None if choices else "no reply was recorded")
    replies = [
        completion_of(choice.get("message") or {"content": None}, choice.get("stop_reason")) for choice in choices
    ]
    if ours:
        text = choices[0]["message"]["content"] if choices else None
        why = (sample.get("error") or {}).get("message")
        replies, error = [Completion(text=text, outcome=ours["outcome"], error=why)], None
    row = {name: sample.get(name) for name in ("id", "epoch")} | {"model": output.get("model")}
    for reply in [failed(error)] if error else replies:
        yield row | {"prompt": _asked(sample), "reply": reply, "context": (ours or {}).get("passages")}


def _asked(sample: Row) -> Any:
    messages = sample.get("messages") or []
    return messages if any(message.get("role") == "user" for message in messages) else sample.get("input")


def read_archive(path: Path, archive: zipfile.ZipFile, selection: Selection) -> Iterator[Row]:
    """Yield samples of a packed log, in the order of their names and epochs."""
    entries = [entry for entry in archive.infolist() if entry.filename.startswith("samples/")]
    with path.open("rb") as file:
        for entry in sorted(entries, key=_order):
            # No more is unpacked than an entry says of itself.
            bomb = is_bomb(packed=entry.compress_size, unpacked=entry.file_size)
            if bomb or entry.file_size > MOST_DOCUMENT:
                observed = f"{entry.filename} says that it unpacks to {entry.file_size:,} bytes"
                raise selection.error(observed, expected=NAME)
            is_known = entry.compress_type != ZSTANDARD
            content = archive.read(entry) if is_known else _unpack_zstandard(file, entry)
            yield parse_json(content, selection, expected=NAME, part=entry.filename)


def _order(entry: zipfile.ZipInfo) -> tuple[str, int]:
    epoch = EPOCH.search(entry.filename)
    return EPOCH.sub("", entry.filename), int(epoch[1]) if epoch else 0


def _unpack_zstandard(file: io.BufferedReader, entry: zipfile.ZipInfo) -> bytes:
    import pyarrow as pa

    file.seek(entry.header_offset + 26)
    lengths = file.read(4)
    file.seek(sum(int.from_bytes(part, "little") for part in (lengths[:2], lengths[2:])), io.SEEK_CUR)
    packed = file.read(entry.compress_size)
    try:
        return bytes(pa.CompressedInputStream(io.BytesIO(packed), "zstd").read(entry.file_size))
    except pa.ArrowException as error:
        raise OSError(str(error)) from error


FORMAT = Format(NAME, recognizes, reader)

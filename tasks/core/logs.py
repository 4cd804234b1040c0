"""Read log files of other tools: JSON objects, and the samples of an Inspect log."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from contrapose.tasks.core.bounds import MOST_DOCUMENT, is_bomb
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.places import Place

ZSTANDARD = 93
"""Number of a compression that Inspect uses and Python's zip files do not know."""
INSPECT = "a log of Inspect"
SHOWN = 12
"""Names that an error lists."""
_EPOCH = re.compile(r"_epoch_(\d+)\.json\Z")


def read_object(source: str) -> Mapping[str, Any] | None:
    """Return the JSON object in a .json file, or None if it holds none; raise DataError if it is too large."""
    if not source.lower().endswith(".json"):
        return None
    with Place.at(source, setting="model").here() as path, path.open("rb") as file:
        if not file.read(64).lstrip().startswith(b"{"):
            return None
        file.seek(0)
        content = file.read(MOST_DOCUMENT + 1)
    if len(content) > MOST_DOCUMENT:
        raise _error(source, f"a log of more than {MOST_DOCUMENT:,} bytes", expected="a log of Inspect as .eval")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_inspect_samples(source: str) -> Iterator[Any]:
    """Yield the samples of an archive of Inspect, in the order of their names and epochs, or raise DataError."""
    with Place.at(source, setting="model").here() as path:
        try:
            with zipfile.ZipFile(path) as log, path.open("rb") as file:
                members = log.namelist()
                if members and not any(name.startswith(("samples/", "header.json")) for name in members):
                    raise _error(source, f"a zip file with {', '.join(members[:SHOWN])}")
                entries = [entry for entry in log.infolist() if entry.filename.startswith("samples/")]
                for entry in sorted(entries, key=_order):
                    # No more is unpacked than an entry says of itself.
                    bomb = is_bomb(packed=entry.compress_size, unpacked=entry.file_size)
                    if bomb or entry.file_size > MOST_DOCUMENT:
                        observed = f"{entry.filename} says that it unpacks to {entry.file_size:,} bytes"
                        raise _error(source, observed)
                    is_known = entry.compress_type != ZSTANDARD
                    content = log.read(entry) if is_known else _unpack_zstandard(file, entry)
                    try:
                        sample = json.loads(content)
                    except (ValueError, RecursionError) as error:
                        observed = f"invalid JSON ({type(error).__name__})"
                        raise _error(f"{source}, {entry.filename}", observed) from error
                    yield sample
        except (OSError, zipfile.BadZipFile) as error:
            raise _error(source, f"it cannot be read ({type(error).__name__})") from error


def _order(entry: zipfile.ZipInfo) -> tuple[str, int]:
    epoch = _EPOCH.search(entry.filename)
    return _EPOCH.sub("", entry.filename), int(epoch[1]) if epoch else 0


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


def _error(source: str, observed: str, *, expected: str = INSPECT) -> DataError:
    return DataError(observed, expected=expected, remedy="Correct the file or its name.", where=source)

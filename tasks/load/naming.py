"""What a source's name tells: its format, and a short name for its rows."""

from __future__ import annotations

import difflib
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load import bundled
from contrapose.tasks.load.opening import folder_given
from contrapose.tasks.load.rows import escaped, shown
from contrapose.tasks.registry import names

HUGGING_FACE = "hf/"


def format_of(data: DataSettings) -> str:
    """The name in `SOURCES` that reads this source.

    Raises:
        DataError: neither the settings nor the name tell.
    """
    if data.format is not None:
        return data.format
    if data.source.startswith(HUGGING_FACE):
        return "hf"
    suffix = PurePosixPath(_file_name(data.source)).suffix.removeprefix(".").lower()
    if not suffix and not set(data.source) & {"/", "\\"}:
        return "bundled"
    if suffix in _file_formats():
        return suffix
    if Path(data.source).expanduser().is_dir():
        raise folder_given(data.source)
    raise _unknown(data.source, suffix)


def stem_of(data: DataSettings) -> str:
    """A short name for the source: `openbookqa_test` of `data/openbookqa_test.jsonl`."""
    name = _file_name(data.source)
    return (name if format_of(data) == "hf" else PurePosixPath(name).stem) or "row"


def _file_name(source: str) -> str:
    """Last part of a path or URL, without a query and without the ending of its compression."""
    outer = source.partition("::")[0]
    path = urlsplit(outer).path if outer.startswith(("http://", "https://")) else outer
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".gz")


def _file_formats() -> list[str]:
    return [name for name in names("sources") if name not in ("bundled", "hf")]


def _unknown(source: str, suffix: str) -> DataError:
    formats = _file_formats()
    close = difflib.get_close_matches(suffix, formats, n=1)
    hint = f" Did you mean .{close[0]}?" if close else ""
    return DataError(
        f"unknown suffix {shown('.' + suffix)}" if suffix else "the name has no suffix",
        expected=f"a file that ends in .{', .'.join(formats)}, or one of the bundled names "
        f"{', '.join(bundled.bundled_names())}",
        remedy=f"Rename the file, or set format.{hint}",
        where=escaped(source),
    )

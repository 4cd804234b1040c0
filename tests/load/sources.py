"""Sources that tests write, and what is read of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import Sample, TextSample
from contrapose.tasks.core.registry import find
from contrapose.tasks.load.rows import Row
from contrapose.tasks.load.samples import LoadedSamples, load_samples
from contrapose.tasks.load.source_reader import detect_format


def written(path: Path, content: Any) -> str:
    """Write bytes, a text, or any other value as JSON; returns the path."""
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def stored(folder: Path, rows: Iterable[object]) -> str:
    """Write rows as JSON lines, a text as the line that it is; returns the path."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    return written(folder / "rows.jsonl", "".join(f"{line}\n" for line in lines))


def loaded(
    source: str | Path,
    kind: type[Sample] = TextSample,
    *,
    limit: int | None = None,
    seed: int = 0,
    most: int | None = None,
    **settings: Any,
) -> LoadedSamples:
    data = DataSettings.model_validate({"source": str(source), **settings})
    return load_samples(data, kind, limit=limit, seed=seed, most=most)


def rows_of(source: str | Path, **settings: Any) -> list[Row]:
    data = DataSettings.model_validate({"source": str(source), **settings})
    return list(find("sources", detect_format(data))(data))


def values_of(source: str | Path, **settings: Any) -> list[Any]:
    """Values of rows of which none has a problem."""
    read = rows_of(source, **settings)
    assert [row.problem for row in read] == [None] * len(read)
    return [dict(row.values) for row in read]


def refusal(source: str | Path, *kinds: type[Sample], read: Callable[..., object] = loaded, **settings: Any) -> str:
    """The lines that refuse a source."""
    with pytest.raises(DataError) as caught:
        read(source, *kinds, **settings)
    told = str(caught.value)
    assert told.replace("\n", " ").isprintable()
    return told


def is_read_or_refused(source: str | Path, **settings: Any) -> bool:
    """Return whether all that comes of a file is rows with rising numbers, or one line."""
    try:
        numbers = [row.number for row in rows_of(source, **settings)]
    except DataError as error:
        return str(error).isprintable()
    return numbers == sorted(set(numbers))

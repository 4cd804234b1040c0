"""Samples of a data source: every row checked, then as many drawn as asked for."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.load import bundled, huggingface, opening
from contrapose.tasks.load.naming import format_of
from contrapose.tasks.load.reading import Reading, read_all
from contrapose.tasks.load.rows import escaped
from contrapose.tasks.records import Sample, TextSample


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Samples, and where they came from."""

    samples: list[Any]
    """Of the sample type that was asked for, in the order of the source."""
    sha256: str
    """Of the source's bytes as they are stored; of its rows for a Hugging Face dataset."""
    rows: int
    """Rows in the source, of which the samples were drawn."""
    warnings: tuple[str, ...]
    """What the user should know although nothing is wrong."""


def load_samples(data: DataSettings, sample_type: type[Sample], *, limit: int | None, seed: int) -> Loaded:
    """Read a source, check every row, and draw samples.

    Args:
        data: the source and its columns.
        sample_type: `TextSample` or `SummaryPair`.
        limit: at most this many, drawn by the seed (the first ones with `shuffle: false`); None: all.
            What a smaller limit draws is part of what a larger one draws.
        seed: of the drawing.

    Returns:
        Samples in the order of the source.

    Raises:
        ConfigError: a package that the source needs is missing.
        DataError: the source cannot be read, lacks a column, or holds rows that cannot be used.
    """
    digest = content_sha256(data)
    reading = read_all(data, sample_type)
    chosen = _drawn(len(reading.samples), limit, seed if data.shuffle else None)
    return Loaded(
        samples=[reading.samples[index] for index in chosen],
        sha256=digest,
        rows=len(reading.samples),
        warnings=_warnings(reading, sample_type, data),
    )


def content_sha256(data: DataSettings) -> str:
    """Hash of a source's content, found without parsing a file.

    Raises:
        ConfigError: a package that the source needs is missing.
        DataError: the source cannot be reached.
    """
    special = {"bundled": bundled.sha256, "hf": huggingface.sha256}
    own = special.get(format_of(data))
    return own(data) if own else opening.sha256(data.source)


def _drawn(count: int, limit: int | None, seed: int | None) -> list[int]:
    """Indices of the chosen samples, in the order of the source."""
    order = list(range(count))
    if limit is None:
        return order
    if seed is not None:
        random.Random(seed).shuffle(order)
    return sorted(order[:limit])


def _warnings(reading: Reading, sample_type: type[Sample], data: DataSettings) -> tuple[str, ...]:
    """Options that lie in a column nobody named would be left out without a word."""
    unused = "choices" in reading.columns and not {"options"} & {*reading.columns, *data.columns}
    if sample_type is not TextSample or not unused:
        return ()
    hint = "columns: {options: choices} reads the options from it"
    return (f"{escaped(data.source)}: column 'choices' is not used; {hint}",)

"""Hugging Face datasets: from the hub, from a folder of data files, or as `save_to_disk` left them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.hosts import origin_of
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.core.errors import ContraposeError, require
from contrapose.tasks.core.hub import existing_folder
from contrapose.tasks.load.opening import failure, library_error
from contrapose.tasks.load.reading import HUGGING_FACE
from contrapose.tasks.load.rows import Row, listed, shown
from contrapose.tasks.load.tabular import to_decode

BATCH = 1024
"""Rows that are decoded at once."""


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of one split, counted from 1.

    Raises:
        ConfigError: the package `datasets` is not installed.
        DataError: there is no such dataset, subset or split.
    """
    number = 0
    for batch in _batches(data):
        blank = dict.fromkeys(batch.column_names)
        kept = batch.select(to_decode(batch.schema, data))
        for values in _plain(kept, data.source):
            number += 1
            yield Row(number=number, values={**blank, **values})


def sha256(data: DataSettings) -> str:
    """Of the split's rows as JSON, in their order: the same wherever and however they are stored."""
    digest = hashlib.sha256()
    for batch in _batches(data):
        for values in _plain(batch, data.source):
            digest.update(json.dumps(values, sort_keys=True, default=repr).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _batches(data: DataSettings) -> Iterator[Any]:
    """Some rows at a time, as Arrow tables; images and sounds stay undecoded."""
    yield from _split(data).with_format("arrow").iter(batch_size=BATCH)


def _plain(batch: Any, source: str) -> list[dict[str, Any]]:
    """Rows as plain values.

    Raises:
        DataError: a value has none, such as a date beyond the year 9999.
    """
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    # What a calendar or a list of time zones stumbles over has no common type.
    except Exception as error:
        raise failure(
            source, f"a value cannot be read ({library_error(error)})", expected="values that Python has"
        ) from error
    return rows


def _split(data: DataSettings) -> Any:
    name = data.source.removeprefix(HUGGING_FACE)
    folder = existing_folder(name)
    require("datasets", extra="huggingface", where=data.source)
    import datasets

    # The library raises its own, the hub's, the network's and the file formats' errors here.
    try:
        if folder and any((folder / saved).is_file() for saved in ("state.json", "dataset_dict.json")):
            return _chosen(datasets.load_from_disk(str(folder)), data)
        builder = datasets.load_dataset_builder(str(folder or name), name=data.subset)
        _refuse_elsewhere((builder.config.data_files or {}).values(), folder, data.source)
        return _chosen(datasets.load_dataset(str(folder or name), name=data.subset), data)
    except ContraposeError:
        raise
    except Exception as error:
        raise failure(
            data.source,
            f"the dataset cannot be loaded ({library_error(error)})",
            expected="a dataset on the Hugging Face hub, or a folder that holds one",
            remedy="Check name, subset and network; HF_HUB_OFFLINE=1 allows only what is cached.",
        ) from error


def _refuse_elsewhere(splits: Iterable[Iterable[object]], folder: Path | None, source: str) -> None:
    """Refuse a data set whose card names files of this machine that lie outside its folder, or a forbidden address.

    Raises:
        ConfigError: it names one that may not be read.
    """
    for file in (str(file) for files in splits for file in files):
        inside = folder is not None and os.path.realpath(file).startswith(f"{os.path.realpath(folder)}{os.sep}")
        if not inside and ("://" not in file or file.startswith("file://") or origin_of(file)):
            Permissions.here().refuse_file(file, where=source)


def _chosen(loaded: Any, data: DataSettings) -> Any:
    """The split that was asked for; a dataset that was saved without splits is taken whole."""
    splits = loaded if isinstance(loaded, dict) else {str(loaded.split or data.split): loaded}
    if data.split not in splits:
        raise failure(
            data.source,
            f"there is no split {shown(data.split)}",
            expected=f"one of {listed(list(splits))}",
            remedy="Set split.",
        )
    return splits[data.split]

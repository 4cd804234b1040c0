"""Read Hugging Face datasets: from the hub, from a folder of data files, or as `save_to_disk` writes them."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator
from typing import Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.hosts import origin_of
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.core.errors import ContraposeError, require_package
from contrapose.tasks.core.model_files import existing_folder
from contrapose.tasks.load.opening import library_error, source_error
from contrapose.tasks.load.rows import Row, quote, quote_all
from contrapose.tasks.load.source_reader import HUGGING_FACE
from contrapose.tasks.load.tabular import columns_to_decode

BATCH = 1024


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Yield rows of one split, counted from 1, or raise DataError, or ConfigError without the package `datasets`."""
    number = 0
    for batch in _load_split(data).iter(batch_size=BATCH):
        blank = dict.fromkeys(batch.column_names)
        for values in _to_values(batch.select(columns_to_decode(batch.schema, data)), data.source):
            number += 1
            yield Row(number=number, values={**blank, **values})


def sha256(data: DataSettings) -> str:
    """Return the hash of the split's rows as JSON, in their order: it does not depend on how they are stored."""
    digest = hashlib.sha256()
    for batch in _load_split(data).iter(batch_size=BATCH):
        for values in _to_values(batch, data.source):
            digest.update(json.dumps(values, sort_keys=True, default=repr).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _to_values(batch: Any, source: str) -> list[dict[str, Any]]:
    """Return rows as plain values, or raise DataError for a value without one, such as a date beyond the year 9999."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    # What a calendar or a list of time zones stumbles over has no common type.
    except Exception as error:
        observed = f"a value cannot be read ({library_error(error)})"
        raise source_error(source, observed, expected="values that Python has") from error
    return rows


def _load_split(data: DataSettings) -> Any:
    """Return the requested split in Arrow tables; images and sounds stay undecoded."""
    name = data.source.removeprefix(HUGGING_FACE)
    folder = existing_folder(name)
    require_package("datasets", extra="huggingface", where=data.source)
    import datasets

    # It logs the errors of files that it raises, too.
    logging.getLogger("datasets.packaged_modules").setLevel(logging.CRITICAL)
    # The library raises its own, the hub's, the network's and the file formats' errors here.
    try:
        if folder and any((folder / saved).is_file() for saved in ("state.json", "dataset_dict.json")):
            loaded = datasets.load_from_disk(str(folder))
        else:
            builder = datasets.load_dataset_builder(str(folder or name), name=data.subset)
            for file in (str(file) for files in (builder.config.data_files or {}).values() for file in files):
                # The card of a data set may name any file of this machine, or a forbidden address.
                real, root = os.path.realpath(file), folder and os.path.realpath(folder)
                inside = root is not None and real.startswith(f"{root}{os.sep}")
                if not inside and ("://" not in file or file.startswith("file://") or origin_of(file)):
                    Permissions.here().refuse_file(file, where=data.source)
            loaded = datasets.load_dataset(str(folder or name), name=data.subset)
        # A dataset that was saved without splits is taken completely.
        splits = loaded if isinstance(loaded, dict) else {str(loaded.split or data.split): loaded}
        if data.split not in splits:
            raise source_error(
                data.source,
                f"there is no split {quote(data.split)}",
                expected=f"one of {quote_all(list(splits))}",
                remedy="Set data.split to one of these.",
            )
        return splits[data.split].with_format("arrow")
    except ContraposeError:
        raise
    except Exception as error:
        # Of damaged rows the library's own error says nothing.
        generating = type(error) is datasets.exceptions.DatasetGenerationError
        hub = "Correct the name or data.subset, or check the network; HF_HUB_OFFLINE=1 allows cached datasets only."
        raise source_error(
            data.source,
            f"the dataset cannot be loaded ({library_error((generating and error.__cause__) or error)})",
            expected="a dataset on the Hugging Face hub, or a folder that holds one",
            remedy="Correct the files in this folder, or data.subset." if folder else hub,
        ) from error

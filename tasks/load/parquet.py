"""Parquet, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.load.opening import failure, told
from contrapose.tasks.load.rows import Row

BATCH = 1024
"""Rows that are decoded at once."""


def read(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a Parquet file, counted from 1.

    Raises:
        DataError: it is damaged or not Parquet.
    """
    number = 0
    try:
        for batch in pq.ParquetFile(file).iter_batches(batch_size=BATCH):
            for values in batch.to_pylist():
                number += 1
                yield Row(number=number, values=values)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise failure(data.source, f"the file cannot be read ({told(error)})", expected="Parquet") from error

"""Parquet, read batch by batch."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO

import pyarrow.parquet as pq

from contrapose.tasks.bounds import MOST_CLAIMED_ROWS
from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.columns import used
from contrapose.tasks.load.headers import refuse_wide
from contrapose.tasks.load.opening import failure, refuse_bomb, told
from contrapose.tasks.load.rows import Row

BATCH = 128
"""Rows that are decoded at once: few, since a text that is stored once may be that of every row."""


def read(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a Parquet file, counted from 1; columns that no sample has are None, whatever they hold.

    Raises:
        DataError: it is damaged, not Parquet, or says of itself what cannot be.
    """
    number = 0
    # Wrong metadata surface as whatever pyarrow, a calendar or a list of time zones stumbles over.
    try:
        table = pq.ParquetFile(file)
        _refuse_claims(table.metadata, file.seek(0, io.SEEK_END), data.source)
        names: list[str] = table.schema_arrow.names
        refuse_wide(len(names), data.source)
        blank, wanted = dict.fromkeys(names), [name for name in names if name in used(data)]
        for batch in table.iter_batches(batch_size=BATCH, columns=wanted):
            for values in batch.to_pylist():
                number += 1
                yield Row(number=number, values={**blank, **values})
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise failure(data.source, f"the file cannot be read ({told(error)})", expected="Parquet") from error


def _refuse_claims(metadata: pq.FileMetaData, size: int, source: str) -> None:
    """Stop where a file of so many bytes says that it holds more than it can."""
    rows = metadata.num_rows
    if rows > max(MOST_CLAIMED_ROWS, size):
        raise failure(source, f"{rows:,} rows in {size:,} bytes", expected="a byte for each row at least")
    unpacked = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    refuse_bomb(source, packed=size, unpacked=unpacked)

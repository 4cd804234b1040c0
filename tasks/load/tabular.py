"""Tables: CSV, TSV, Parquet and Excel files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.load import delimited, excel, parquet
from contrapose.tasks.load.naming import format_of
from contrapose.tasks.load.opening import opened
from contrapose.tasks.load.rows import Row

READERS: dict[str, Callable[[IO[bytes], DataSettings], Iterator[Row]]] = {
    "csv": delimited.read_csv,
    "tsv": delimited.read_tsv,
    "parquet": parquet.read,
    "xlsx": excel.read,
}


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of a table.

    Raises:
        DataError: the file cannot be read as what it should be.
    """
    with opened(data.source) as file:
        yield from READERS[format_of(data)](file, data)

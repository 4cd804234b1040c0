"""Tables in the folder of a run, of which only some columns are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.errors import ComparisonError


def read_columns(path: Path, columns: pa.Schema, *, optional: Sequence[str] = (), rows: Any) -> pa.Table:
    """Some columns of some rows.

    Args:
        path: of the table.
        columns: those to read, with their types.
        optional: names of those among them that the table may lack.
        rows: an Arrow expression.

    Raises:
        ComparisonError: it is gone, or is no such table.
    """
    try:
        known = pq.read_schema(path).names
        wanted = pa.schema([field for field in columns if field.name in known or field.name not in optional])
        return pq.read_table(path, columns=wanted.names, filters=rows).select(wanted.names).cast(wanted)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ComparisonError(
            f"table cannot be read ({type(error).__name__})",
            expected="the file as the run wrote it",
            remedy="Evaluate the model again.",
            where=str(path),
        ) from error

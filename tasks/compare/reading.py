"""Tables in the folder of a run, of which only some columns are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.errors import ComparisonError


def read_columns(path: Path, columns: Sequence[str], *, optional: Sequence[str] = (), rows: Any) -> pa.Table:
    """Some columns of some rows.

    Args:
        path: of the table.
        columns: those to read.
        optional: those to read where the table has them.
        rows: an Arrow expression.

    Raises:
        ComparisonError: it is gone, or is no such table.
    """
    try:
        known = pq.read_schema(path).names
        wanted = [*columns, *(name for name in optional if name in known)]
        return pq.read_table(path, columns=wanted, filters=rows).select(wanted)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ComparisonError(
            f"table cannot be read ({type(error).__name__})",
            expected="the file as the run wrote it",
            remedy="Evaluate the model again.",
            where=str(path),
        ) from error

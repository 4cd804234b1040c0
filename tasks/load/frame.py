"""Write a DataFrame as JSON lines, so that it is read and checked like any other file."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contrapose.tasks.core.errors import ConfigError, DataError
from contrapose.tasks.core.places import Place
from contrapose.tasks.load.rows import quote

if TYPE_CHECKING:
    import pandas as pd

NAME = "frame.jsonl"
"""Rows without an id are named after it, `frame-0001` and so on, whatever the other rows hold."""
DIGITS = 16


def convert_frame_to_lines(frame: pd.DataFrame) -> bytes:
    """Return the rows of a DataFrame in their order, one JSON object a line; the index is left out.

    Missing values are null. A value that JSON cannot hold, such as a time, becomes an object with its type and its
    text, which is refused with its row and column where a text is needed. Raises DataError if there are no rows, or
    two columns have one name.
    """
    if frame.empty:
        raise DataError(
            "there are no rows", expected="at least one row", remedy="Add rows to the DataFrame.", where="the DataFrame"
        )
    names = [str(name) for name in frame.columns]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DataError(
            f"two columns are called {quote(twice)}",
            expected="columns of distinct names",
            remedy="Rename or drop one.",
            where="the DataFrame",
        )
    columns = [[_to_json(value) for value in frame.iloc[:, place].tolist()] for place in range(len(names))]
    rows = (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def keep_frame(lines: bytes, folder: Place) -> str:
    """Write the lines of a frame to a file named by their hash, and return its address, or raise ConfigError."""
    file = folder / hashlib.sha256(lines).hexdigest()[:DIGITS] / NAME
    try:
        # What is there may be damaged, and is as quickly written as read.
        file.write(lines)
    except OSError as error:
        raise ConfigError(
            f"the rows of the DataFrame cannot be written ({error.strerror or type(error).__name__})",
            expected="a folder that can be written",
            remedy="Choose another one with out.",
            where=str(file),
        ) from error
    return str(file)


def _to_json(value: Any) -> Any:
    """Return a cell as JSON holds it."""
    import pandas as pd

    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [_to_json(member) for member in value]
    if isinstance(value, Mapping):
        return {str(key): _to_json(member) for key, member in value.items()}
    if hasattr(value, "tolist") and not isinstance(value, float):
        # Arrays and numbers of numpy, and arrays of Arrow and pandas.
        return _to_json(value.tolist())
    return None if pd.isna(value) is True else {type(value).__name__: str(value)}

"""How much of what comes from outside is taken: one place for every bound, and one sentence for what exceeds it."""

from __future__ import annotations

MOST_COLUMNS = 16_384
"""Columns of a table; as many as a spreadsheet has."""

MOST_SHEET_ROWS = 1_048_576
"""Rows of a spreadsheet; the last row number that Excel knows."""

MOST_CHARACTERS = 1_000_000
"""Characters of a cell."""

MOST_LINE = 32 * 2**20
"""Bytes of a line of JSON, and characters of a record of CSV: a file without line ends must not fill the memory."""

MOST_DOCUMENT = 256 * 2**20
"""Bytes of a JSON document or of an unpacked spreadsheet, which have to be read as a whole."""

HARMLESS = 8 * 2**20
"""Bytes up to which it does not matter how small a file was packed."""

MOST_RATIO = 100
"""Times that a packed file may grow when it is unpacked; texts grow four to twenty times, a bomb a thousand times."""

MOST_CLAIMED_ROWS = 1_000_000
"""Rows of a Parquet file up to which it does not matter how few bytes it has."""

MOST_YAML = 2**20
"""Bytes of a suite or of a file of expectations."""

MOST_NODES = 50_000
"""Values of such a file, each counted as often as aliases repeat it."""

MOST_DEPTH = 50
"""Levels of lists and mappings inside each other."""

MOST_DIGITS = 100
"""Characters of a number."""


def is_bomb(*, packed: int, unpacked: int) -> bool:
    """Whether a packed file of so many bytes grows as no file does that holds data.

    Args:
        packed: bytes, as stored.
        unpacked: bytes that came out of them, or that are said to come.
    """
    return unpacked > HARMLESS and unpacked > MOST_RATIO * packed

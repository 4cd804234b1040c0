"""results.csv: every result row, raw, safe to open in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.cleaning import storable
from contrapose.tasks.results import COMMON

# Spreadsheets trim blanks and quotes, and some fold full-width signs, before they look for a formula.
_FORMULA = re.compile(r"[\s\"'`\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]")


def render(report: Report) -> Iterator[bytes]:
    """The results as UTF-8 without a byte order mark, lines ended by newlines, missing values empty.

    Texts are raw, toxic words too. A text that a spreadsheet might run as a formula gets a leading
    apostrophe; numbers and truth values stay what they are.
    """
    for number, part in enumerate(report.results.parts()):
        frame = part.reindex(columns=[*COMMON.names, *(name for name in part if name not in COMMON.names)])
        safe = pd.DataFrame({inert(str(name)): _safe(frame[name]) for name in frame.columns})
        yield safe.to_csv(index=False, header=number == 0, lineterminator="\n").encode()


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    Source: OWASP, "CSV Injection".
    """
    stored = storable(text)
    return f"'{stored}" if _FORMULA.match(stored) else stored


def _safe(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return column
    return column.astype(object).map(lambda cell: inert(cell) if isinstance(cell, str) else cell)

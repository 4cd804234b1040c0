"""Render results.csv: every result row with raw texts, safe to open in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from contrapose.tasks.report.base import Report
from contrapose.tasks.tables.results import COMMON
from contrapose.tasks.text.cleaning import make_storable

# Spreadsheets trim blanks and quotes, and some fold full-width signs, before they look for a formula.
_BLANK = (
    r"[ \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\"'`\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
)
_SIGN = "[=+\\-@＝＋－＠﹦﹢﹣﹫]"
# Where a comma is a decimal sign, spreadsheets part columns at semicolons, and know no quotes inside of a line.
_PARTING = ";\t\n"
_FIRST = re.compile(rf"{_BLANK}(?:{_SIGN}|[\t\n])")
_LATER = re.compile(rf"([{_PARTING}])({_BLANK}{_SIGN})")
_MARKED = re.compile(rf"([{_PARTING}])'({_BLANK}{_SIGN})")


def render(report: Report) -> Iterator[bytes]:
    """Write the results as UTF-8 without a byte order mark, lines ended by newlines, missing values empty.

    Texts are raw, toxic words too. Where a spreadsheet might see the beginning of a formula, an apostrophe is put
    before it, which `restored` takes away; numbers and truth values stay what they are.
    """
    for number, part in enumerate(report.results.parts()):
        frame = part.reindex(columns=[*COMMON, *(name for name in part if name not in COMMON)])
        safe = pd.DataFrame({disarm(str(name)): _disarm_column(frame[name]) for name in frame.columns})
        yield safe.to_csv(index=False, header=number == 0, lineterminator="\n").encode()


def disarm(text: str) -> str:
    """Return the text with an apostrophe in front if a spreadsheet might read it as a formula.

    Source: OWASP, "CSV Injection".
    """
    if text[:1].isalnum() and text.isascii() and text.isprintable() and ";" not in text:
        return text
    stored = make_storable(text)
    later = _LATER.sub(r"\1'\2", stored) if any(sign in stored for sign in _PARTING) else stored
    return f"'{later}" if _FIRST.match(stored) else later


def undo_disarming(text: str) -> str:
    """Undo `disarm`; control characters are not restored."""
    later = _MARKED.sub(r"\1\2", text)
    return later[1:] if later[:1] == "'" and _FIRST.match(later, 1) else later


def _disarm_column(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return column
    cells = column.astype(object).tolist()
    # Most columns hold the same few texts over and over.
    safe = {cell: disarm(cell) for cell in set(cells) if isinstance(cell, str)}
    return pd.Series([safe.get(cell, cell) for cell in cells], index=column.index, dtype=object)

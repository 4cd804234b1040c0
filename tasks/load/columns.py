"""Columns of tables: which of them are read, and how many there may be."""

from __future__ import annotations

import pyarrow as pa

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_COLUMNS
from contrapose.tasks.load.opening import failure


def to_decode(schema: pa.Schema, data: DataSettings) -> list[str]:
    """Columns of an Arrow table whose values are read: texts, numbers, truth values, lists and objects of these.

    Images, sounds and times are no part of a question, and some cannot be decoded; those that a setting names are read
    all the same.
    """
    named = {part.strip().partition(".")[0] for columns in data.columns.values() for part in columns.split(",")}
    named |= {data.slice_by or "", data.cluster_by or "", *data.columns.values()}
    return [field.name for field in schema if data.every_column or field.name in named or _is_plain(field.type)]


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(text or number or pa.types.is_null(kind))


def refuse_wide(count: int, source: str) -> None:
    """Stop where a table has more columns than any that people make.

    Raises:
        DataError: it has.
    """
    if count > MOST_COLUMNS:
        remedy = "Leave out columns that are not needed."
        raise failure(source, f"{count:,} columns", expected=f"at most {MOST_COLUMNS:,}", remedy=remedy)

"""Column types, checked on the Arrow schema: value checks cannot see them reliably."""

from __future__ import annotations

import pyarrow as pa


def type_violations(found: pa.Schema, expected: pa.Schema) -> list[str]:
    """What is missing or of another type than expected; empty when all is well. Extra columns are allowed."""
    wrong = []
    for field in expected:
        index = found.get_field_index(field.name)
        if index < 0:
            wrong.append(f"column {field.name} is missing")
        elif found.field(index).type != field.type:
            wrong.append(f"column {field.name} is {found.field(index).type}, expected {field.type}")
    return wrong

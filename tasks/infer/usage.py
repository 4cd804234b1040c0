"""What answers took."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc

from contrapose.tasks.records import Usage
from contrapose.tasks.tables import Table, read_arrow


def has_failures(table: Table) -> bool:
    """Whether some trial in a table got no answer."""
    rows = read_arrow(table)
    return any(pc.any(pc.is_valid(pc.struct_field(rows[side], "error"))).as_py() for side in ("expected", "actual"))


def usage_of(tables: Sequence[Table]) -> Usage:
    """Calls and tokens of all trials in some tables."""
    total = Usage()
    for table in tables:
        rows = read_arrow(table)
        for side in ("expected", "actual"):
            used = pc.struct_field(rows[side], "usage")
            total += Usage(
                **{
                    name: int(pc.sum(pc.struct_field(used, name)).as_py() or 0)
                    for name in ("calls", "prompt_tokens", "completion_tokens")
                }
            )
    return total

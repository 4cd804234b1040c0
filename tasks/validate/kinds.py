"""The four tables that are validated: their keys, their columns, and what they must account for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Case, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.validation import Kind
from contrapose.tasks.tables.columnar import schema_of
from contrapose.tasks.tables.passages import PASSAGES
from contrapose.tasks.tables.results import schema_for, schema_of_columns
from contrapose.tasks.validate.derived import DERIVED

KEYS: Mapping[Kind, str] = {"samples": "id", "cases": "id", "completions": "case_id", "results": "case_id"}
"""Column that names a row."""

TOLD = ("text", "option_loglikelihoods", "label_mass", "loss", "error", "asked_back", "passages")
"""What a completion tells."""

LINKS: Mapping[Kind, str] = {"cases": "sample_id", "completions": "case_id", "results": "case_id"}
"""Column that names what a row was made from: an id that the room before handed over."""

UNKNOWN = "unknown"
"""Derived column of a whole table: whether a row was made from nothing that was handed over."""

LEFT_OUT = "left_out"
"""Derived column of what was handed over: whether nothing was made from it."""

PARAMETERS: Mapping[Kind, tuple[str, ...]] = {
    "samples": ("test", "drawn"),
    "cases": ("test", "handed"),
    "completions": ("test", "handed", "completions"),
    "results": ("test", "handed"),
}
"""What a suite may name as `$PARAMETER`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What the room before handed over."""

    ids: pa.Array | None = None
    """Of its rows; None where nothing is known of them."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Values that a suite may refer to."""


def handed(plan: Plan, ids: Iterable[pa.ChunkedArray]) -> Handed:
    """What was handed over for a test, known by the ids."""
    kept = [chunk for column in ids for chunk in column.chunks]
    every = pa.concat_arrays(kept) if kept else pa.array([], pa.string())
    counts = {"handed": len(every), "completions": 2 * len(every)}
    return Handed(ids=every, parameters={"test": [plan.test], **counts})


def drawn(plan: Plan, rows: int) -> Handed:
    """What a source of so many rows hands over: no ids yet, but it is known how many."""
    return Handed(parameters={"test": [plan.test], "drawn": min(rows, plan.limit or rows)})


def stored_schema(kind: Kind, test: str) -> pa.Schema:
    """The columns of a table as it is stored, whose types must be right before its values can be."""
    chosen = probe(test)
    schemas = {"samples": chosen.sample_type, "cases": Case, "completions": Trial}
    return schema_for(chosen) if kind == "results" else schema_of(schemas[kind])


def columns(kind: Kind, test: str) -> pa.Schema:
    """The columns that a suite may name: those of the rows, and those that are derived."""
    flags = [*DERIVED[kind], *((UNKNOWN, LEFT_OUT) if kind in LINKS else ())]
    rows = rows_of(kind, stored_schema(kind, test).empty_table()).schema
    optional = schema_of_columns(PASSAGES) if kind == "results" else ()
    return pa.schema([*rows, *optional, *(pa.field(name, pa.bool_()) for name in flags)])


def rows_of(kind: Kind, part: pa.Table) -> pa.Table:
    """The rows of a stored part: themselves, but two completions for each trial, the original prompt's first."""
    if kind != "completions":
        return part
    case = part["case"].combine_chunks()
    sides = (("expected", "original"), ("actual", "perturbed"))
    both = pa.concat_tables(_completions(case, part[side].combine_chunks(), prompt) for side, prompt in sides)
    order = [place for row in range(part.num_rows) for place in (row, row + part.num_rows)]
    return both.take(pa.array(order, pa.int64()))


def _completions(case: pa.StructArray, completion: pa.StructArray, prompt: str) -> pa.Table:
    asked = {name: pc.struct_field(case, name) for name in ("asks", "labels", "loss_of")}
    fields_told = {name: pc.struct_field(completion, name) for name in TOLD}
    usage = pc.struct_field(completion, "usage")
    used = {name: pc.struct_field(usage, name) for name in ("calls", "prompt_tokens", "completion_tokens")}
    named = {"case_id": pc.struct_field(case, "id"), "prompt": pa.repeat(pa.scalar(prompt), len(case))}
    return pa.table({**named, **asked, **fields_told, **used})

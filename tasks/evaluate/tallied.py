"""The columns that a test is summarised from, read back from its tables."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.registry import probe
from contrapose.tasks.results import figure_columns
from contrapose.tasks.tables import Table, batches


def scored(results: Table, test: str) -> pd.DataFrame:
    """The results of a test without texts and names; reasons only where replies leave open whether they passed."""
    parts = batches(results, columns=[*figure_columns(probe(test)), "reason"])
    whole = pa.concat_tables(map(_without_reasons, parts))
    return pd.DataFrame(whole.to_pandas(split_blocks=True, self_destruct=True))


def skipped(cases: Table) -> pd.DataFrame:
    """`sample_id` and `skip_reason` of the cases that were skipped."""
    parts = batches(cases, columns=["sample_id", "skip_reason"])
    kept = pa.concat_tables(part.filter(pc.is_valid(part["skip_reason"])) for part in parts)
    return pd.DataFrame(kept.to_pandas())


def _without_reasons(part: pa.Table) -> pa.Table:
    """Reasons of a million scores need not be in memory."""
    place = part.schema.get_field_index("reason")
    silent = pc.or_kleene(pc.is_null(part["pass"]), part["undecided"])
    kept = pc.if_else(silent, part["reason"], pa.scalar(None, pa.string()))
    return part.set_column(place, part.schema.field(place), kept)

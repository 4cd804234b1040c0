"""Prefect tasks that load the samples of a test and put them into random order."""

from __future__ import annotations

from typing import TypedDict

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.outcome import DataSummary
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.registry import probe
from contrapose.tasks.load.samples import Drawing, shuffle_fairly
from contrapose.tasks.tables.table import Table, read_arrow, write, write_arrow


class Samples(TypedDict):
    """A reference to the table of loaded samples, and where they came from."""

    table: Table
    data: DataSummary
    warnings: list[str]


@room_task("load", by_name={"probes": "{test}", "sources": ""}, run_name="load {test}")
def load(test: str, data: DataSettings, sha256: str, limit: int | None, seed: int) -> Samples:
    """Read, check and sample the rows of one test; if the hash of the source's bytes changes, load it again."""
    chosen = probe(test)
    drawing = Drawing(
        data=data, sample_type=chosen.sample_type, limit=limit, seed=seed, uses_answers=chosen.uses_answers
    )
    table = write(drawing.samples(), chosen.sample_type)
    summary = DataSummary(source=data.source, sha256=sha256, rows=drawing.rows)
    if drawing.columns:
        summary["columns"] = drawing.columns
    if drawing.left_out:
        summary["left_out"] = drawing.left_out
    return Samples(table=table, data=summary, warnings=list(drawing.warnings))


@room_task("arrange", run_name="arrange {test}")
def arrange(test: str, samples: Table, seed: int) -> Table:
    """Put the samples of a test into an order whose every beginning is a random sample; `test` is only for display."""
    rows = read_arrow(samples)
    places = shuffle_fairly(rows["cluster"].to_pylist(), rows["id"].to_pylist(), seed=seed)
    return write_arrow([rows.take(places)], rows.schema)

"""A refused run: the error that names what is wrong, and the folder that keeps the evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from contrapose.tasks.core.errors import GateError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.validation import Checked, blocking_findings, finding_in_words
from contrapose.tasks.report.csv import inert
from contrapose.tasks.report.publish import write_folder
from contrapose.tasks.report.validation import ValidationHead, as_json, page
from contrapose.tasks.tables.table import batches, save
from contrapose.tasks.text.cleaning import storable
from contrapose.tasks.text.masking import make_shower

MOST_BROKEN = 3
"""Broken expectations of one table that an error names."""
LONGEST = 120
"""Characters of one value in an error."""


def refusal(checked: Sequence[Checked], *, folder: Place | None = None, show_toxic: bool = False) -> GateError:
    """Return the error of tables that break expectations; it names rows, columns and values of the first such table."""
    show = make_shower(show_toxic=show_toxic, longest=LONGEST)
    bad = [table for table in checked if blocking_findings(table)]
    broken = blocking_findings(bad[0])
    files = dict.fromkeys(finding["suite"]["file"] for finding in broken)
    own = dict.fromkeys(finding["suite"]["file"] for finding in broken if finding["suite"]["own"])
    beyond = len(broken) - MOST_BROKEN
    more = [f"and {beyond} more expectations of the same table"] if beyond > 0 else []
    others = [f"and the {table['table']} of {table['test']}" for table in bad[1:]]
    kept = f" The evidence is in {folder}." if folder else ""
    return GateError(
        "; ".join([*(finding_in_words(finding, show) for finding in broken[:MOST_BROKEN]), *more, *others]),
        expected=f"{bad[0]['table']} that meet {', '.join(files)}",
        remedy=f"Nothing was published. Fix these rows, or {' and '.join(own) or 'the code that made them'}.{kept}",
        where=f"{bad[0]['test']} {bad[0]['table']}",
    )


def write_evidence(folder: Place, head: ValidationHead, checked: Sequence[Checked], *, show_toxic: bool) -> None:
    """Write the folder of a refused run, complete or not at all: the findings, and the rows that broke expectations.

    The tables are all of those at the gate, sound ones too. Rows are written for machines, and as CSV in which no
    spreadsheet finds a formula.

    Raises:
        ConfigError: the folder cannot be written.
    """

    def write(part: Path) -> None:
        (part / "validation.json").write_bytes(as_json(head, checked))
        (part / "validation.html").write_bytes(page(head, checked, show_toxic=show_toxic))
        for table in checked:
            if table["broken"] is not None:
                path, rows = part / f"{table['test']}-{table['table']}", list(batches(table["broken"]))
                save(path.with_name(f"{path.name}.parquet"), rows, rows[0].schema)
                frame = pd.concat([one.to_pandas() for one in rows])
                safe = pd.DataFrame({inert(str(name)): frame[name].astype(object).map(_cell) for name in frame})
                content = safe.to_csv(index=False, lineterminator="\n").encode()
                path.with_name(f"{path.name}.csv").write_bytes(content)

    write_folder(folder, write, last="validation.json")


def _cell(value: object) -> object:
    """Return a cell as a spreadsheet may hold it; lists and the like become JSON."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return inert(value)
    plain = value.tolist() if hasattr(value, "tolist") else value
    return inert(storable(json.dumps(plain, ensure_ascii=False, default=str)))

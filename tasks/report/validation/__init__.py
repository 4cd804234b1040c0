"""Render validation.json and validation.html: whether the tables of a run meet each expectation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from contrapose.tasks.core.errors import GateError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.validation import KINDS, Checked, Finding, blocking_findings, describe_finding, describe_row
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.csv import disarm
from contrapose.tasks.report.publish import write_folder
from contrapose.tasks.report.templates import PAGE, inline_files, load_template, read_style
from contrapose.tasks.tables.table import batches, save
from contrapose.tasks.text.cleaning import make_storable, replace_surrogates
from contrapose.tasks.text.masking import Show, make_shower
from contrapose.tasks.text.wording import counted, format_moment

STATES = ("broken", "noted", "holds")
"""States of an expectation, the worst first: `noted` is broken, and does not stop the run."""

LONGEST = 300
"""Characters of one value on the page."""

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationHead:
    """The run that was validated."""

    run_id: str
    model: str
    suite: str
    started: str
    """ISO 8601, in UTC."""


def render(report: Report) -> bytes:
    """Render validation.html for a report: one file without scripts."""
    return render_checks(_make_head(report), report.checked, show_toxic=report.show_toxic)


def render_json(report: Report) -> bytes:
    """Return validation.json for a report; values are raw, toxic words too."""
    return encode_findings(_make_head(report), report.checked)


def _make_head(report: Report) -> ValidationHead:
    summary = report.summary
    run_id, suite, started = summary["run_id"], summary["suite"], summary["started"]
    return ValidationHead(run_id=run_id, model=summary["model"]["id"], suite=suite, started=started)


def render_checks(head: ValidationHead, checked: Sequence[Checked], *, show_toxic: bool) -> bytes:
    """Render the page; texts are masked and cleaned here, and the policy allows its one style sheet, nothing else."""
    show = make_shower(show_toxic=show_toxic, longest=LONGEST)
    sections = sorted(_make_sections(checked, show), key=lambda section: not section["broken"])
    kinds = [kind for kind in KINDS if any(table["table"] == kind for table in checked)]
    tables = f"{', '.join(kinds[:-1])} and {kinds[-1]}" if len(kinds) > 1 else ", ".join(kinds) or "no table"
    lines = [line for section in sections for line in section["lines"]]
    text = load_template(__package__, PAGE).render(
        head={name: show(value) for name, value in asdict(head).items()},
        moment=format_moment(head.started),
        sections=sections,
        broken=sum(line["state"] == "broken" for line in lines),
        noted=sum(line["state"] == "noted" for line in lines),
        expectations=len(lines),
        looked_at=f"{counted('rows', sum(table['rows'] for table in checked))} of {tables}",
        **inline_files(read_style(__package__, "page.css")),
    )
    return text.encode()


def _make_sections(checked: Sequence[Checked], show: Show) -> Iterator[dict[str, Any]]:
    """Yield template values of each suite, in order of the tables; the project's suites before the user's."""

    def suite_key(one: tuple[Checked, Finding]) -> tuple[int, bool, str, str]:
        suite = one[1]["suite"]
        return KINDS.index(one[0]["table"]), suite["own"], suite["file"], suite["sha256"]

    def place(one: tuple[Checked, Finding]) -> int:
        return one[1]["place"]

    findings = [(table, finding) for table in checked for finding in table["findings"]]
    for (kind, own, file, _), of_suite in groupby(sorted(findings, key=suite_key), key=suite_key):
        rows = sorted(of_suite, key=place)
        tables = {table["test"]: table["rows"] for table, _ in rows}
        lines = [_make_line(list(same), show) for _, same in groupby(rows, key=place)]
        yield {
            "file": show(file),
            "own": own,
            "table": KINDS[kind],
            "rows": f"{counted('rows', sum(tables.values()))} of {show(', '.join(tables))}",
            "broken": any(line["state"] == "broken" for line in lines),
            "lines": sorted(lines, key=lambda line: STATES.index(line["state"])),
        }


def _make_line(findings: list[tuple[Checked, Finding]], show: Show) -> dict[str, Any]:
    """Return the values of one expectation over all tests."""
    first = findings[0][1]
    bad = [(table["test"], finding) for table, finding in findings if not finding["holds"]]
    arguments = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in first["kwargs"].items())
    observed = [f"{table['test']}: {finding['observed']}" for table, finding in findings if finding["observed"]]
    observed += [
        f"{test}: {counted('rows', finding['broken']) if finding['broken'] else 'does not hold'}"
        for test, finding in bad
    ]
    rows = [f"row {row['row']}: {describe_row(row)}" for _, finding in bad for row in finding["rows"]]
    return {
        "what": show(first["what"]),
        "why": show(first["why"]),
        "code": show(f"{first['type']} {arguments}".strip()),
        "looked_at": f"{sum(finding['looked_at'] for _, finding in findings):,}",
        "observed": list(map(show, observed)),
        "state": "holds" if not bad else "broken" if first["blocks"] else "noted",
        "rows": list(map(show, rows)),
    }


def encode_findings(head: ValidationHead, checked: Sequence[Checked]) -> bytes:
    """Return the findings of every table, with the suites that they belong to named once."""
    suites: dict[tuple[str, str], Any] = {}
    tables = []
    for table in checked:
        findings = []
        for finding in table["findings"]:
            key = finding["suite"]["file"], finding["suite"]["sha256"]
            suites.setdefault(key, finding["suite"])
            findings.append({**finding, "suite": list(suites).index(key)})
        tables.append({"test": table["test"], "table": table["table"], "rows": table["rows"], "findings": findings})
    content = {
        "schema_version": SCHEMA_VERSION,
        "run_id": head.run_id,
        "sound": not any(map(blocking_findings, checked)),
        "suites": list(suites.values()),
        "tables": tables,
    }
    return (replace_surrogates(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)) + "\n").encode()


MOST_BROKEN = 3
"""Broken expectations of one table that an error names."""
LONGEST_IN_ERROR = 120
"""Characters of one value in an error."""


def make_gate_error(checked: Sequence[Checked], *, folder: Place | None = None, show_toxic: bool = False) -> GateError:
    """Return the error for failed expectations; it names rows, columns and values of the first failed table."""
    show = make_shower(show_toxic=show_toxic, longest=LONGEST_IN_ERROR)
    bad = [table for table in checked if blocking_findings(table)]
    broken = blocking_findings(bad[0])
    files = dict.fromkeys(finding["suite"]["file"] for finding in broken)
    own = dict.fromkeys(finding["suite"]["file"] for finding in broken if finding["suite"]["own"])
    beyond = len(broken) - MOST_BROKEN
    more = [f"and {beyond} more expectations of the same table"] if beyond > 0 else []
    others = [f"and the {table['table']} of {table['test']}" for table in bad[1:]]
    kept = f" The evidence is in {folder}." if folder else ""
    return GateError(
        "; ".join([*(describe_finding(finding, show) for finding in broken[:MOST_BROKEN]), *more, *others]),
        expected=f"{bad[0]['table']} that meet {', '.join(files)}",
        remedy=f"Nothing was published. Fix these rows, or {' and '.join(own) or 'the code that made them'}.{kept}",
        where=f"{bad[0]['test']} {bad[0]['table']}",
    )


def write_evidence(folder: Place, head: ValidationHead, checked: Sequence[Checked], *, show_toxic: bool) -> None:
    """Write the folder of a refused run, complete or not at all: the findings, and the rows that broke expectations.

    The tables are all of those at the gate, sound ones too. Rows are written for machines, and as CSV in which no
    spreadsheet finds a formula. Raises ConfigError if the folder cannot be written.
    """

    def write(part: Path) -> None:
        (part / "validation.json").write_bytes(encode_findings(head, checked))
        (part / "validation.html").write_bytes(render_checks(head, checked, show_toxic=show_toxic))
        for table in checked:
            if table["broken"] is not None:
                path, rows = part / f"{table['test']}-{table['table']}", list(batches(table["broken"]))
                save(path.with_name(f"{path.name}.parquet"), rows, rows[0].schema)
                frame = pd.concat([one.to_pandas() for one in rows])
                safe = pd.DataFrame({disarm(str(name)): frame[name].astype(object).map(_to_cell) for name in frame})
                content = safe.to_csv(index=False, lineterminator="\n").encode()
                path.with_name(f"{path.name}.csv").write_bytes(content)

    write_folder(folder, write, last="validation.json")


def _to_cell(value: object) -> object:
    """Return a cell as a spreadsheet may hold it; lists and the like become JSON."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return disarm(value)
    plain = value.tolist() if hasattr(value, "tolist") else value
    return disarm(make_storable(json.dumps(plain, ensure_ascii=False, default=str)))

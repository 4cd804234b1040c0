"""validation.json and validation.html: every expectation, and whether the tables of a run keep to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from contrapose.tasks.core.validation import KINDS, Checked, Finding, refused, row_told
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.templates import PAGE, source_hash, style, template
from contrapose.tasks.text.cleaning import valid
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import counted, moment


def render(report: Report) -> bytes:
    """The page for people: one file that needs nothing else, without a script."""
    return page(_head(report), report.checked, show_toxic=report.show_toxic)


def render_json(report: Report) -> bytes:
    """The same for machines; values are raw, toxic words too."""
    return as_json(_head(report), report.checked)


def _head(report: Report) -> ValidationHead:
    summary = report.summary
    return ValidationHead(
        run_id=summary["run_id"],
        model=summary["model"]["id"],
        suite=summary["suite"],
        started=summary["started"],
    )


STATES = ("broken", "noted", "holds")
"""What can be said of an expectation, the worst first: `noted` is broken, and does not stop the run."""

LONGEST = 300
"""Characters of one value on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationHead:
    """Which run it was."""

    run_id: str
    model: str
    suite: str
    started: str
    """ISO 8601, in UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationLine:
    """One expectation over all tests."""

    what: str
    why: str
    code: str
    """Its type and arguments, as the suite has them."""
    looked_at: str
    observed: tuple[str, ...]
    """What was measured, test by test, where it is one value."""
    state: str
    """One of `STATES`."""
    broken: tuple[str, ...]
    """What is wrong, test by test."""
    rows: tuple[str, ...]
    """The first rows that break it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One suite."""

    file: str
    own: bool
    table: str
    rows: str
    """How many of which tests."""
    broken: int
    """Expectations that stop the run."""
    lines: tuple[ExpectationLine, ...]


def page(head: ValidationHead, checked: Sequence[Checked], *, show_toxic: bool) -> bytes:
    """The page; texts are masked and cleaned here, and the policy allows its one style sheet and nothing else."""
    show = shower(show_toxic=show_toxic, longest=LONGEST)
    sections = sorted(_sections(checked, show), key=lambda section: not section.broken)
    own = style(__package__, "page.css")
    text = template(__package__, PAGE).render(
        head=ValidationHead(**{name: show(getattr(head, name)) for name in ("run_id", "model", "suite", "started")}),
        moment=moment(head.started),
        sections=sections,
        broken=sum(section.broken for section in sections),
        noted=sum(line.state == "noted" for section in sections for line in section.lines),
        expectations=sum(len(section.lines) for section in sections),
        looked_at=f"{counted('rows', sum(table['rows'] for table in checked))} of {_listed(checked)}",
        style=Markup(own),  # noqa: S704 (files of this package)
        style_hash=source_hash(own),
    )
    return text.encode()


def _listed(checked: Sequence[Checked]) -> str:
    """The kinds of tables, in the order of the corridor."""
    kinds = [kind for kind in KINDS if any(table["table"] == kind for table in checked)]
    return f"{', '.join(kinds[:-1])} and {kinds[-1]}" if len(kinds) > 1 else ", ".join(kinds) or "no table"


def _sections(checked: Sequence[Checked], show: Show) -> Iterator[Section]:
    """Suites in the order of the corridor, the project's own before those of the user."""
    findings = [(table_checked, finding) for table_checked in checked for finding in table_checked["findings"]]
    findings.sort(key=lambda one: (KINDS.index(one[0]["table"]), *_suite_key(one[1]), one[1]["place"]))
    for (table, *_), same in groupby(findings, key=lambda one: (one[0]["table"], *_suite_key(one[1]))):
        yield _section(table, list(same), show)


def _suite_key(finding: Finding) -> tuple[bool, str, str]:
    suite = finding["suite"]
    return suite["own"], suite["file"], suite["sha256"]


def _section(table: str, findings: list[tuple[Checked, Finding]], show: Show) -> Section:
    tables = {checked_table["test"]: checked_table["rows"] for checked_table, _ in findings}
    lines = [_line(list(same), show) for _, same in groupby(findings, key=lambda one: one[1]["place"])]
    lines.sort(key=lambda line: STATES.index(line.state))
    return Section(
        file=show(findings[0][1]["suite"]["file"]),
        own=findings[0][1]["suite"]["own"],
        table=table,
        rows=f"{counted('rows', sum(tables.values()))} of {show(', '.join(tables))}",
        broken=sum(line.state == "broken" for line in lines),
        lines=tuple(lines),
    )


def _line(findings: list[tuple[Checked, Finding]], show: Show) -> ExpectationLine:
    first = findings[0][1]
    bad = [(checked_table, finding) for checked_table, finding in findings if not finding["holds"]]
    arguments = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in first["kwargs"].items())
    return ExpectationLine(
        what=show(first["what"]),
        why=show(first["why"]),
        code=show(f"{first['type']} {arguments}".strip()),
        looked_at=f"{sum(finding['looked_at'] for _, finding in findings):,}",
        observed=tuple(
            show(f"{checked_table['test']}: {finding['observed']}")
            for checked_table, finding in findings
            if finding["observed"]
        ),
        state="holds" if not bad else "broken" if first["blocks"] else "noted",
        broken=tuple(show(f"{checked_table['test']}: {_count(finding)}") for checked_table, finding in bad),
        rows=tuple(show(f"row {row['row']}: {row_told(row)}") for _, finding in bad for row in finding["rows"]),
    )


def _count(finding: Finding) -> str:
    return counted("rows", finding["broken"]) if finding["broken"] else "does not hold"


SCHEMA_VERSION = 1


def as_json(head: ValidationHead, checked: Sequence[Checked]) -> bytes:
    """The findings of every table, with the suites that they belong to named once."""
    suites = {_key(finding): finding["suite"] for table in checked for finding in table["findings"]}
    content = {
        "schema_version": SCHEMA_VERSION,
        "run_id": head.run_id,
        "sound": not any(map(refused, checked)),
        "suites": list(suites.values()),
        "tables": [_table(table, list(suites)) for table in checked],
    }
    return (valid(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)) + "\n").encode()


def _table(checked: Checked, suites: list[tuple[str, str]]) -> dict[str, Any]:
    findings = [{**finding, "suite": suites.index(_key(finding))} for finding in checked["findings"]]
    return {"test": checked["test"], "table": checked["table"], "rows": checked["rows"], "findings": findings}


def _key(finding: Any) -> tuple[str, str]:
    return finding["suite"]["file"], finding["suite"]["sha256"]

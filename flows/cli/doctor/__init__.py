"""`contrapose doctor`: a table of checks, each with its finding and a remedy."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.cli.arguments import Verb, add_changes, add_model, add_suite, load_chosen_config
from contrapose.flows.cli.doctor import local, run
from contrapose.flows.cli.doctor.local import DoctorFinding
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.core.errors import ContraposeError

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

WIDTH = 80
INDENT = 28


def _check_prefect(_: object) -> Iterator[DoctorFinding]:
    # Imported in the thread of the check: it brings much of Prefect.
    from contrapose.flows.cli.doctor.server import check_prefect

    return check_prefect()


CHECKS: dict[str, Callable[[RunConfig | None], Iterator[DoctorFinding]]] = {
    "Python": local.check_python,
    "packages": local.check_packages,
    "tested versions": local.check_tested_versions,
    "extras": local.check_extras,
    "processor": local.check_processor,
    "GPU": local.check_gpu,
    "memory": local.check_memory,
    "cache": local.check_disk,
    "storage and history": local.check_places,
    "embedded model": run.check_embedded_model,
    "embedding model": run.check_embedding_model,
    "spaCy": local.check_spacy,
    "Prefect server": _check_prefect,
    "response store": run.check_store,
    "run": run.check_run,
}
"""Checks by name, in the order of the table; each yields what it finds, given the run that is meant, if one is."""


def format_findings(findings: Sequence[DoctorFinding]) -> Iterator[str]:
    """Format the findings as a table of 80 columns, with the remedy below a finding that needs one."""
    yield f"Contrapose {version('contrapose')}"
    for finding in findings:
        yield from _wrap(finding.observed, first=f"{finding.state:<9}{finding.name:<18} ")
        if finding.remedy:
            yield from _wrap(f"→ {finding.remedy}", first=" " * INDENT)
    counts = Counter(finding.state for finding in findings)
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for name in ("problem", "warning") if (count := counts[name])]
    yield ", ".join(parts) or "nothing is wrong"


def _wrap(text: str, *, first: str) -> Iterator[str]:
    short = re.sub(rf"(?<!\S){re.escape(str(Path.home()))}/", "~/", " ".join(text.split()))
    clean = "".join(letter if letter.isprintable() else "·" for letter in short)
    # A name that is too long pushes its own line only.
    yield from textwrap.wrap(
        clean, WIDTH, initial_indent=first, subsequent_indent=" " * INDENT, break_on_hyphens=False
    ) or [first.rstrip()]


def findings_as_json(findings: Sequence[DoctorFinding]) -> str:
    """Format the findings as JSON."""
    counts = Counter(finding.state for finding in findings)
    keys = ("name", "state", "found", "remedy")
    content = {
        "contrapose": version("contrapose"),
        "problems": counts["problem"],
        "warnings": counts["warning"],
        "checks": [dict(zip(keys, finding, strict=True)) for finding in findings],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _add_options(command: argparse.ArgumentParser) -> None:
    add_suite(command, default=None, default_text="only the machine is looked at")
    add_model(command)
    add_changes(command)
    command.add_argument("--json", action="store_true", help="print the findings as JSON")


def _check(name: str, config: RunConfig | None) -> list[DoctorFinding]:
    """Return the findings of a check; if the check itself breaks, its error is the finding."""
    findings: list[DoctorFinding] = []
    try:
        findings.extend(CHECKS[name](config))
    except Exception as error:
        remedy = "Fix what the other lines name; else report it with this table."
        findings.append(DoctorFinding(name, "problem", f"could not be looked at ({type(error).__name__})", remedy))
    return findings


def _examine(arguments: argparse.Namespace) -> int:
    """Do all checks at the same time; wait at most a few seconds for each server."""
    config, wrong = None, list[DoctorFinding]()
    if arguments.suite or arguments.model or arguments.data or arguments.test or arguments.set:
        try:
            config = load_chosen_config(arguments)
        except ContraposeError as error:
            wrong = [run.make_failure_finding("configuration", error)]
    with ThreadPoolExecutor(len(CHECKS)) as pool:
        running = [pool.submit(copy_context().run, _check, name, config) for name in CHECKS]
        findings = [*(finding for check in running for finding in check.result()), *wrong]
    print_lines([findings_as_json(findings)] if arguments.json else format_findings(findings))
    return int(any(finding.state == "problem" for finding in findings))


EXITS = "exit codes: 0 nothing is a problem, 1 something is, 2 usage"

VERB = Verb(options=_add_options, act=_examine, example="doctor --model embedded", exits=EXITS)

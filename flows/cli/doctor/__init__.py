"""`contrapose doctor`: what is installed, reachable and cached, and what to do about what is not."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from contrapose.flows.cli.arguments import Verb, add_changes, add_model, add_suite, config_of
from contrapose.flows.cli.doctor.base import DoctorFinding, problem
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.core.errors import ContraposeError

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

CHECKS = ("packages", "machine", "models", "orchestrator", "response_store", "run")
"""Modules of `contrapose.flows.cli.doctor`, in the order of the table."""

WIDTH = 80
INDENT = 28


def examine(configured: Callable[[], RunConfig | None]) -> list[DoctorFinding]:
    """Look at everything at once; each server is waited for at most a few seconds.

    Args:
        configured: gives the run that is meant, if one is.
    """
    try:
        config, wrong = configured(), []
    except ContraposeError as error:
        from contrapose.flows.cli.doctor.run import failed

        config, wrong = None, [failed("configuration", error)]
    findings: dict[str, list[DoctorFinding]] = {name: [] for name in CHECKS}
    looks = [Thread(target=copy_context().run, args=(_look, name, config, findings[name])) for name in CHECKS]
    for look in looks:
        look.start()
    for look in looks:
        look.join()
    return [finding for name in CHECKS for finding in findings[name]] + wrong


def exit_code(findings: Sequence[DoctorFinding]) -> int:
    """0 where nothing is a problem, else 1."""
    return int(any(finding.state == "problem" for finding in findings))


def as_text(findings: Sequence[DoctorFinding]) -> Iterator[str]:
    """A table in 80 columns, with a remedy below what needs one."""
    yield f"Contrapose {version('contrapose')}"
    for finding in findings:
        yield from _wrapped(finding.observed, first=f"{finding.state:<9}{finding.name:<18} ")
        if finding.remedy:
            yield from _wrapped(f"→ {finding.remedy}", first=" " * INDENT)
    yield count_in_words(findings)


def as_json(findings: Sequence[DoctorFinding]) -> str:
    """The same for programs."""
    counts = Counter(finding.state for finding in findings)
    return json.dumps(
        {
            "contrapose": version("contrapose"),
            "problems": counts["problem"],
            "warnings": counts["warning"],
            "checks": [
                {"name": finding.name, "state": finding.state, "found": finding.observed, "remedy": finding.remedy}
                for finding in findings
            ],
        },
        indent=2,
        ensure_ascii=False,
    )


def count_in_words(findings: Sequence[DoctorFinding]) -> str:
    """How many problems and warnings there are."""
    counts = Counter(finding.state for finding in findings)
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for name in ("problem", "warning") if (count := counts[name])]
    return ", ".join(parts) if parts else "nothing is wrong"


def _look(name: str, config: RunConfig | None, findings: list[DoctorFinding]) -> None:
    """Add what a check finds; one that breaks is a finding itself, and keeps none of the others from being seen."""
    try:
        findings.extend(import_module(f"contrapose.flows.cli.doctor.{name}").findings(config))
    except Exception as error:
        remedy = "Mend what the other lines name; else report it, with this table."
        findings.append(problem(name.replace("_", " "), f"could not be looked at ({type(error).__name__})", remedy))


def _wrapped(text: str, *, first: str) -> Iterator[str]:
    short = re.sub(rf"(?<!\S){re.escape(str(Path.home()))}/", "~/", " ".join(text.split()))
    clean = "".join(letter if letter.isprintable() else "·" for letter in short)
    # A name that is too long pushes its own line only.
    yield from textwrap.wrap(
        clean, WIDTH, initial_indent=first, subsequent_indent=" " * INDENT, break_on_hyphens=False
    ) or [first.rstrip()]


EXAMINED = "exit codes: 0 nothing is a problem, 1 something is, 2 usage"


def _options(command: argparse.ArgumentParser) -> None:
    """What the doctor looks at beside the machine."""
    add_suite(command, default=None, default_text="only the machine is looked at")
    add_model(command)
    add_changes(command)
    command.add_argument("--json", action="store_true", help="print the findings as JSON")


def _doctor(arguments: argparse.Namespace) -> int:
    def configured() -> RunConfig | None:
        meant = arguments.suite or arguments.model or arguments.data or arguments.test or arguments.set
        return config_of(arguments) if meant else None

    findings = examine(configured)
    print_lines([as_json(findings)] if arguments.json else as_text(findings))
    return exit_code(findings)


VERB = Verb(options=_options, act=_doctor, example="doctor --model embedded", exits=EXAMINED)

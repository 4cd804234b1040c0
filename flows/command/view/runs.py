"""The runs in a folder, as their summaries tell of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from contrapose.flows.command.view.files import below
from contrapose.tasks.outcome import SEVERITY
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.wording import moment, percent

LINKS = ("report.html", "validation.html", "report.md", "summary.json")
"""Files of a run that the list leads to, where they are."""

REFUSED = "validation.json"
"""What a run leaves that was stopped at a gate, and has no summary."""

LARGEST = 20_000_000
"""Bytes of a summary; a usual one has some thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A run in the list: every text ready to be shown."""

    name: str
    verdict: str
    """Or `refused`; empty where the summary cannot be read."""
    model: str
    suite: str
    started: str
    """As in the summary, for programs."""
    moment: str
    reason: str
    rates: tuple[str, ...]
    """Each test with its pass rate."""
    links: tuple[tuple[str, str], ...]
    """Names of files, and where they are."""


def run_names(root: Path) -> list[str]:
    """Names of the folders of runs, the newest first: a run's name begins with its time."""
    with os.scandir(root) as entries:
        found = [
            entry.name
            for entry in entries
            if below(root, [entry.name, "summary.json"]) or below(root, [entry.name, REFUSED])
        ]
    return sorted(found, reverse=True)


def listed(root: Path, names: Sequence[str], show: Show, *, files: str) -> list[Listed]:
    """Runs by their names.

    Args:
        root: folder that holds them, resolved.
        names: of their folders.
        show: makes texts fit to be seen.
        files: path under which the folder is served.
    """
    return [_listed(root, name, show, files) for name in names]


def _listed(root: Path, name: str, show: Show, files: str) -> Listed:
    links = tuple((each, f"{files}{quote(name)}/{each}") for each in LINKS if below(root, [name, each]))
    if below(root, [name, "summary.json"]) is None:
        return _bare(show(name), "refused", "Stopped at a gate; nothing was published.", links)
    try:
        return _told(_summary(root, name), show(name), show, links)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return _bare(show(name), "", f"summary.json cannot be read ({type(error).__name__}).", links)


def _bare(name: str, verdict: str, reason: str, links: tuple[tuple[str, str], ...]) -> Listed:
    """A run without a summary to tell of it."""
    return Listed(
        name=name, verdict=verdict, model="", suite="", started="", moment="", reason=reason, rates=(), links=links
    )


def _summary(root: Path, name: str) -> Any:
    found = below(root, [name, "summary.json"])
    if found is None or found.stat().st_size > LARGEST:
        raise ValueError("none, or too large")
    return json.loads(found.read_bytes())


def _told(summary: Mapping[str, Any], name: str, show: Show, links: tuple[tuple[str, str], ...]) -> Listed:
    verdict, started = str(summary["verdict"]), str(summary["started"])
    rates = [(str(test["test_type"]), test["pass_rate"]) for test in summary["tests"]]
    return Listed(
        name=name,
        verdict=verdict if verdict in SEVERITY else "unknown",
        model=show(str(summary["model"]["id"])),
        suite=show(str(summary["suite"])),
        started=show(started),
        moment=show(moment(started)),
        reason=show(str(summary["reason"])),
        rates=tuple(f"{show(test)} {percent(None if rate is None else float(rate))}" for test, rate in rates),
        links=links,
    )

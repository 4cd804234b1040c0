"""The runs in a folder and their comparisons, as their files tell of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from contrapose.flows.command.view.entry import Listed, bare
from contrapose.flows.command.view.files import below
from contrapose.flows.command.view.told import comparison_told, run_told
from contrapose.tasks.text.masking import Show

LINKS = ("report.html", "validation.html", "report.md", "summary.json", "comparison.md", "comparison.json")
"""Files that the list leads to, where they are."""

REFUSED = "validation.json"
"""What a run leaves that was stopped at a gate, and has no summary."""

TELLING = {"summary.json": run_told, "comparison.json": comparison_told}
"""Files that tell of a folder, and how; the first that is there."""

LARGEST = 20_000_000
"""Bytes of such a file; a usual one has some thousands."""


def run_names(root: Path) -> list[str]:
    """Names of the folders of runs, the newest first: a run's name begins with its time."""
    with os.scandir(root) as entries:
        found = [
            entry.name for entry in entries if any(below(root, [entry.name, each]) for each in (*TELLING, REFUSED))
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
    telling = next((each for each in TELLING if below(root, [name, each])), None)
    if telling is None:
        return bare(show(name), "refused", "Stopped at a gate; nothing was published.", links)
    try:
        return TELLING[telling](_content(root, name, telling), show(name), show, links)
    # Whatever such a file holds, a rate of 4,000 digits too, it costs the list no other line.
    except Exception as error:
        return bare(show(name), "", f"{telling} cannot be read ({type(error).__name__}).", links)


def _content(root: Path, name: str, telling: str) -> Any:
    found = below(root, [name, telling])
    if found is None or found.stat().st_size > LARGEST:
        raise ValueError("none, or too large")
    return json.loads(found.read_bytes())

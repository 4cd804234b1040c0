"""The files of a decision on a retrained model."""

from __future__ import annotations

import os
from pathlib import Path

from contrapose.tasks.decision import Decision
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.report.decision_markdown import render
from contrapose.tasks.report.summary import to_json


def write_decision(folder: Path, decision: Decision) -> None:
    """Write verdict.json and verdict.md into a folder, in place of those that are there.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        _put(folder / "verdict.json", f"{to_json(decision)}\n".encode())
        _put(folder / "verdict.md", render(decision))
    except OSError as error:
        raise ConfigError(
            f"cannot write the verdict ({error.strerror or type(error).__name__})",
            expected="a folder that can be written",
            remedy="Choose another one in the configuration (output).",
            where=str(folder),
        ) from error


def _put(path: Path, content: bytes) -> None:
    """Whoever looks finds the old file or the new one."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    os.replace(part, path)

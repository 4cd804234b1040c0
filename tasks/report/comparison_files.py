"""The files of a comparison."""

from __future__ import annotations

from pathlib import Path

from contrapose.tasks.comparison import Comparison
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.report.comparison_markdown import render
from contrapose.tasks.report.summary import to_json


def write_comparison(folder: Path, comparison: Comparison) -> None:
    """Write comparison.json and comparison.md into a folder, which is made where there is none.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "comparison.json").write_bytes(f"{to_json(comparison)}\n".encode())
        (folder / "comparison.md").write_bytes(render(comparison))
    except OSError as error:
        raise ConfigError(
            f"cannot write the comparison ({error.strerror or type(error).__name__})",
            expected="a folder that can be written",
            remedy="Choose another one with --out.",
            where=str(folder),
        ) from error

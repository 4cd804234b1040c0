"""What a terminal shows of a summary."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from rich.console import Console

from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.report.console import print_summary


def printed(
    told: Summary | Comparison,
    *,
    show: Callable[..., None] = print_summary,
    encoding: str = "utf-8",
    colour: bool = False,
    width: int = 80,
    **options: Any,
) -> str:
    """The summary as it is printed, or what else `show` prints."""
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding=encoding)
    if show is print_summary:
        options = {"folder": "runs/x", "explain": True} | options
    show(told, console=Console(file=file, width=width, force_terminal=colour), **options)
    file.flush()
    return buffer.getvalue().decode(encoding)

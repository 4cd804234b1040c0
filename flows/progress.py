"""Progress of long work: a bar in the terminal and an artifact in Prefect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Item = TypeVar("Item")


def track(items: Sequence[Item], *, title: str, weight: Callable[[Item], int]) -> Iterator[Item]:
    """Yield items while showing how much of their total weight is done."""
    total = sum(weight(item) for item in items)
    if not total:
        return
    artifact = create_progress_artifact(progress=0.0, description=title)
    done = 0
    with _bar() as bar:
        shown = bar.add_task(title, total=total)
        for item in items:
            yield item
            done += weight(item)
            bar.update(shown, completed=done)
            update_progress_artifact(artifact, progress=100 * done / total)  # type: ignore[arg-type]


def _bar() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cases"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )

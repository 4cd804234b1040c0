"""Progress of long work: a bar in the terminal and an artifact in Prefect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from contrapose.tasks.infer.meter import Meter, metered

BAR_SECONDS = 0.2
ARTIFACT_SECONDS = 5.0


@contextmanager
def watched(total: int, *, title: str) -> Iterator[Meter]:
    """Show how far the questions asked inside have come.

    Args:
        total: how many there are.
        title: what is going on.
    """
    if not total:
        yield Meter()
        return
    artifact = create_progress_artifact(progress=0.0, description=title)
    with metered(Meter()) as meter, _bar() as bar:
        shown, ended = bar.add_task(title, total=total, told=""), Event()
        # A copy of the context: Prefect's client is found there.
        watcher = Thread(target=copy_context().run, args=(_watch, meter, total, title, bar, shown, artifact, ended))
        watcher.start()
        try:
            yield meter
        finally:
            ended.set()
            watcher.join()


def _watch(meter: Meter, total: int, title: str, bar: Progress, shown: TaskID, artifact: UUID, ended: Event) -> None:
    """Bring bar and artifact up to date until the work has ended, and once more then."""
    ticks, last = round(ARTIFACT_SECONDS / BAR_SECONDS), False
    for tick in range(1 << 62):
        bar.update(shown, completed=meter.done, told=told(meter))
        if last or tick % ticks == ticks - 1:
            share = min(100.0, 100 * meter.done / total)
            update_progress_artifact(artifact, progress=share, description=f"{title}: {told(meter)}")
        if last:
            return
        last = ended.wait(BAR_SECONDS)


def told(meter: Meter) -> str:
    """For people: what the answers took."""
    parts = [f"{meter.requests:,} requests", f"{meter.found:,} from the store"]
    parts += [f"{meter.failed:,} failed"] if meter.failed else []
    parts += [f"${meter.cost:.4f}"] if meter.cost else []
    return ", ".join(parts)


def _bar() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,}/{task.total:,}  {task.fields[told]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )

"""Progress of long work: a bar in the terminal and an artifact in Prefect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from itertools import count
from threading import Event, Thread

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from contrapose.tasks.infer.meter import Meter, metered

BAR_SECONDS = 0.2
ARTIFACT_SECONDS = 5.0


@contextmanager
def watched(total: int, *, title: str, ended: Callable[[], str]) -> Iterator[Meter]:
    """Show how far the questions asked inside have come.

    Args:
        total: how many there are.
        title: what is going on.
        ended: what to say of them at the end.
    """
    if not total:
        yield Meter()
        return
    artifact = create_progress_artifact(progress=0.0, description=title)
    with metered(Meter()) as meter, _bar() as bar:
        shown, over = bar.add_task(title, total=total, told=""), Event()

        def show(words: str) -> None:
            bar.update(shown, completed=meter.done, told=told(meter))
            if words:
                share = min(100.0, 100 * meter.done / total)
                update_progress_artifact(artifact, progress=share, description=f"{title}: {words}")  # type: ignore[arg-type]

        def watch() -> None:
            ticks = round(ARTIFACT_SECONDS / BAR_SECONDS)
            for tick in count(1):
                if over.wait(BAR_SECONDS):
                    return
                show("" if tick % ticks else told(meter))

        # A copy of the context: Prefect's client is found there.
        watcher = Thread(target=copy_context().run, args=(watch,))
        watcher.start()
        try:
            yield meter
        finally:
            over.set()
            watcher.join()
            show(ended())


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

"""Progress of long work: a line in the terminal, now and then one in a log, and an artifact in Prefect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from itertools import count
from threading import Event, Thread

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.live import Live

from contrapose.flows.pace import Pace
from contrapose.flows.progress_line import ProgressLine, plain
from contrapose.flows.showing import is_silent
from contrapose.tasks.infer.meter import Meter, metered
from contrapose.tasks.text.cleaning import escape, one_line
from contrapose.tasks.text.wording import dollars

LOOK_SECONDS = 0.2
ARTIFACT_SECONDS = 5.0
PLAIN_SECONDS = 30.0
"""Between two lines where there is no terminal."""


@contextmanager
def watched(total: int, *, title: str, ended: Callable[[], str], key: str | None = None) -> Iterator[Meter]:
    """Show how far the questions asked inside have come.

    Args:
        total: how many there are.
        title: what is going on.
        ended: what to say of them at the end.
        key: of the artifact, under which the UI shows those of earlier runs too.
    """
    if not total:
        yield Meter()
        return
    # The UI reads a description as Markdown.
    artifact = create_progress_artifact(progress=0.0, key=key, description=escape(title))
    with metered(Meter()) as meter, _shown(ProgressLine(one_line(title), meter=meter, pace=Pace(total))) as look:
        over = Event()

        def note(words: str) -> None:
            share = min(100.0, 100 * meter.done / total)
            told_now = escape(f"{title}: {words}")
            # What is shown is not worth a run: answers are kept and go on while a server is slow or away.
            with suppress(Exception):
                update_progress_artifact(artifact, progress=share, description=told_now)  # type: ignore[arg-type]

        def watch() -> None:
            for tick in count(1):
                if over.wait(LOOK_SECONDS):
                    return
                look()
                if not tick % round(ARTIFACT_SECONDS / LOOK_SECONDS):
                    note(told(meter))

        # A copy of the context: Prefect's client is found there.
        watcher = Thread(target=copy_context().run, args=(watch,))
        watcher.start()
        try:
            yield meter
        finally:
            over.set()
            watcher.join()
            look()
            note(ended())


def told(meter: Meter) -> str:
    """For people: what the answers took."""
    parts = [f"{meter.requests:,} requests", f"{meter.found:,} from the store"]
    parts += [f"{meter.failed:,} failed"] if meter.failed else []
    parts += [dollars(meter.cost)] if meter.cost else []
    return ", ".join(parts)


@contextmanager
def _shown(line: ProgressLine) -> Iterator[Callable[[], None]]:
    """Show a line until the end; what is given is called whenever it may have changed."""
    console, start, told_at = Console(stderr=True), time.monotonic(), [0.0]

    def look() -> None:
        line.look(time.monotonic() - start)
        if live:
            live.refresh()
        elif not is_silent() and line.seconds - told_at[0] >= PLAIN_SECONDS:
            told_at[0] = line.seconds
            console.print(plain(line), soft_wrap=True, markup=False, emoji=False, highlight=False)

    visible = console.is_terminal and not is_silent()
    live = Live(line, console=console, auto_refresh=False, redirect_stdout=False) if visible else None
    with live or nullcontext():
        yield look

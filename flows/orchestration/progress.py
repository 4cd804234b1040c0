"""Progress of long work: a line in the terminal, now and then one in a log, and an artifact in Prefect."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from itertools import count
from threading import Event, Thread

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from contrapose.flows.orchestration.spinner import is_silent
from contrapose.tasks.infer.meter import Meter, metered
from contrapose.tasks.text.cleaning import escape, one_line
from contrapose.tasks.text.wording import dollars

LOOK_SECONDS = 0.2
ARTIFACT_SECONDS = 5.0
PLAIN_SECONDS = 30.0
"""Between two lines where there is no terminal."""
DOING_SECONDS = 2.0
"""After which a log is told what keeps questions waiting."""


@contextmanager
def watched(
    total: int,
    *,
    title: str,
    ended: Callable[[], str],
    key: str | None = None,
    soon: Callable[[], None] | None = None,
) -> Iterator[Meter]:
    """Show how far the questions asked inside have come.

    Args:
        total: how many there are.
        title: what is going on.
        ended: what to say of them at the end.
        key: of the artifact, under which the UI shows those of earlier runs too.
        soon: called once, when a model has answered some and the end is near; not where the end comes at once.
    """
    if not total:
        yield Meter()
        return
    line = ProgressLine(one_line(title), meter=Meter(), pace=Pace(total))
    # The UI reads a description as Markdown.
    artifact = create_progress_artifact(progress=0.0, key=key, description=escape(title))
    with metered(line.meter) as meter, _shown(line) as look:
        over = Event()

        def note(words: str) -> None:
            share = min(100.0, 100 * meter.done / max(total - meter.saved, 1))
            told_now = escape(f"{title}: {words}")
            # What is shown is not worth a run: answers are kept and go on while a server is slow or away.
            with suppress(Exception):
                update_progress_artifact(artifact, progress=share, description=told_now)  # type: ignore[arg-type]

        def watch() -> None:
            due = soon
            for tick in count(1):
                if over.wait(LOOK_SECONDS):
                    return
                look()
                if due is not None and line.ends_soon:
                    due()
                    due = None
                if not tick % round(ARTIFACT_SECONDS / LOOK_SECONDS):
                    note(answers_in_words(meter))

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


def answers_in_words(meter: Meter) -> str:
    """For people: what the answers took."""
    parts = [f"{meter.requests:,} requests", f"{meter.from_store:,} from the store"]
    parts += [f"{meter.failed:,} failed"] if meter.failed else []
    parts += [dollars(meter.cost)] if meter.cost else []
    return ", ".join(parts)


@contextmanager
def _shown(line: ProgressLine) -> Iterator[Callable[[], None]]:
    """Show a line until the end; what is given is called whenever it may have changed."""
    console, start, log = Console(stderr=True), time.monotonic(), LogPace()

    def look() -> None:
        line.look(time.monotonic() - start)
        if live:
            live.refresh()
        elif not is_silent() and log.due(line.seconds, line.meter.doing):
            console.print(plain(line), soft_wrap=True, markup=False, emoji=False, highlight=False)

    visible = console.is_terminal and not is_silent()
    live = Live(line, console=console, auto_refresh=False, redirect_stdout=False) if visible else None
    with live or nullcontext():
        yield look


class LogPace:
    """When a log is told how far the work has come: now and then, and once of what keeps questions waiting."""

    def __init__(self) -> None:
        self._last = 0.0
        self._doing = ""
        self._since = 0.0

    def due(self, seconds: float, doing: str) -> bool:
        """Whether it is to be told so many seconds after the start."""
        if doing != self._doing:
            self._doing, self._since = doing, seconds
        begun = bool(doing) and self._last <= self._since and seconds - self._since >= DOING_SECONDS
        if begun or seconds - self._last >= PLAIN_SECONDS:
            self._last = seconds
            return True
        return False


SOON_SECONDS = 20.0
"""Before the end: what is prepared for it takes a few."""
BAR = 20
"""Columns of the bar; fewer where the words would not fit."""

SHORTEST_BAR = 8
SHORTEST_TITLE = 10


class ProgressLine:
    """A line that is drawn again as its meter goes on.

    Args:
        title: what is going on, fit to be printed.
        meter: what is counted.
        pace: of the same.
    """

    def __init__(self, title: str, *, meter: Meter, pace: Pace) -> None:
        self.title = title
        self.meter = meter
        self.pace = pace
        self.seconds = 0.0

    def look(self, seconds: float) -> None:
        """Take the meter's reading so many seconds after the start."""
        self.seconds = seconds
        self.pace.look(seconds, self.meter.done)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Title, bar and as many of the words as fit, the least needed left out first."""
        words, room = self.words(), options.max_width - SHORTEST_BAR - 2
        while len(words) > 1 and cell_len("  ".join(words)) > room - SHORTEST_TITLE:
            del words[-1]
        shown = "  ".join(words)
        title = _end(self.title, room - cell_len(shown))
        bar = max(min(options.max_width - 2 - cell_len(title) - cell_len(shown), BAR), 1)
        total = self.total
        done = min(self.meter.done, total)
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text(title), ProgressBar(total=total, completed=done, width=bar), Text(shown, no_wrap=True))
        yield grid

    @property
    def total(self) -> int:
        """How many questions there are, without those that need not be asked any more."""
        return self.pace.total - self.meter.saved

    @property
    def ends_soon(self) -> bool:
        """Whether a model answers, and what is left takes it a few seconds."""
        asked = self.meter.done > self.meter.from_store
        return asked and self.pace.left is not None and self.pace.left < SOON_SECONDS

    def words(self) -> list[str]:
        """What there is to tell, the most needed first."""
        meter, pace, total = self.meter, self.pace, self.total
        words = [f"{meter.done:,}/{total:,}"]
        if meter.doing:
            words.append(f"{meter.doing}, {clock(self.seconds)}")
        elif meter.done >= total:
            words.append(f"in {clock(self.seconds)}")
        elif pace.left is not None:
            words.append(f"{clock(pace.left)} left")
        else:
            # Something has to change while a long batch is computed.
            words.append(f"{clock(self.seconds)} so far")
        rate = meter.done / self.seconds if meter.done >= total and self.seconds else pace.rate
        words += [f"{rate:,.1f}/s"] if rate is not None else []
        words += [dollars(meter.cost)] if meter.cost else []
        words += [f"{meter.failed:,} failed"] if meter.failed else []
        words += [f"{meter.from_store:,} cached"] if meter.from_store else []
        words += [f"{meter.saved:,} saved"] if meter.saved else []
        return words


def clock(seconds: float) -> str:
    """A duration as a clock shows it: `0:07`, `12:30`, `2:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _end(text: str, room: int) -> str:
    """The text, or its end, which tells models apart."""
    if cell_len(text) <= room:
        return text
    while text and cell_len(text) >= room:
        text = text[1:]
    return f"…{text}" if text else ""


def plain(line: ProgressLine) -> str:
    """The same for a log."""
    return f"{line.title}: {', '.join(line.words())}"


LATELY = 30.0
"""Seconds that the rate is taken over."""


class Pace:
    """A rate over the last seconds: what was found in the store at the start does not flatter it for long.

    Args:
        total: how much there is to do.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])

    def look(self, seconds: float, done: int) -> None:
        """Note how much was done at a time, in seconds since the start; times ascend."""
        self._seen.append((seconds, done))
        # The oldest look is the last one that is as old as that.
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - LATELY:
            self._seen.popleft()

    @property
    def rate(self) -> float | None:
        """A second; None where nothing was done lately."""
        (first, before), (last, now) = self._seen[0], self._seen[-1]
        return (now - before) / (last - first) if now > before and last > first else None

    @property
    def left(self) -> float | None:
        """Seconds to the end; None where that cannot be told."""
        # Asked for once: another thread may look between two times, and then nothing was done lately.
        rate = self.rate
        return max(self.total - self._seen[-1][1], 0) / rate if rate else None

"""Progress of long work: a line in the terminal, lines in the log, and an artifact in Prefect."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Thread

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from contrapose.flows.orchestration.spinner import is_progress_hidden
from contrapose.tasks.infer.meter import Meter, use_meter
from contrapose.tasks.text.cleaning import escape, one_line
from contrapose.tasks.text.wording import dollars

LOOK_SECONDS = 0.2
ARTIFACT_SECONDS = 5.0
PLAIN_SECONDS = 30.0
"""Seconds between two lines where there is no terminal."""
DOING_SECONDS = 2.0
"""Seconds after which a log shows what keeps questions waiting."""
SOON_SECONDS = 20.0
"""Seconds before the end: what is prepared for it takes a few."""
LATELY = 30.0
"""Seconds that the rate is taken over."""
BAR, SHORTEST_BAR = 20, 8
"""Columns of the bar; fewer where the words would not fit."""
SHORTEST_TITLE = 10


@contextmanager
def watch_progress(
    total: int,
    *,
    title: str,
    ended: Callable[[], str],
    key: str | None = None,
    soon: Callable[[], None] | None = None,
) -> Iterator[Meter]:
    """Show how many of the questions asked inside are answered.

    `ended` returns what to say of them at the end. Under the artifact's `key` the UI shows those of earlier runs too.
    `soon` is called once, when a model has answered some and the end is near; not where the end comes at once.
    """
    if not total:
        yield Meter()
        return
    console, start, log, over = Console(stderr=True), time.monotonic(), LogPace(), Event()
    line = ProgressLine(one_line(title), meter=Meter(), pace=Pace(total))
    visible = console.is_terminal and not is_progress_hidden()
    live = Live(line, console=console, auto_refresh=False, redirect_stdout=False) if visible else None
    # The UI reads a description as Markdown.
    artifact = create_progress_artifact(progress=0.0, key=key, description=escape(title))

    def look() -> None:
        line.look(time.monotonic() - start)
        if live:
            live.refresh()
        elif not is_progress_hidden() and log.is_due(line.seconds, line.meter.doing):
            console.print(line.as_text(), soft_wrap=True, markup=False, emoji=False, highlight=False)

    def note(words: str) -> None:
        share = min(100.0, 100 * meter.done / max(total - meter.saved, 1))
        # What is shown is not worth a run: answers are kept and go on while a server is slow or away.
        with suppress(Exception):
            update_progress_artifact(artifact, progress=share, description=escape(f"{title}: {words}"))  # type: ignore[arg-type]

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
                note(describe_answers(meter))

    with use_meter(line.meter) as meter, live or nullcontext():
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


def describe_answers(meter: Meter) -> str:
    """Describe for people how many requests were answered, by whom, and what they cost."""
    parts = [f"{meter.requests:,} requests", f"{meter.from_store:,} from the store"]
    parts += [f"{meter.failed:,} failed"] if meter.failed else []
    parts += [dollars(meter.cost)] if meter.cost else []
    return ", ".join(parts)


@dataclass(slots=True)
class LogPace:
    """Pace of a log: a line from time to time, and one line for each reason that delays the questions."""

    _last: float = 0.0
    _doing: str = ""
    _since: float = 0.0

    def is_due(self, seconds: float, doing: str) -> bool:
        """Return True if a line is due so many seconds after the start."""
        if doing != self._doing:
            self._doing, self._since = doing, seconds
        begun = bool(doing) and self._last <= self._since and seconds - self._since >= DOING_SECONDS
        if begun or seconds - self._last >= PLAIN_SECONDS:
            self._last = seconds
            return True
        return False


@dataclass(slots=True)
class Pace:
    """Speed over the last seconds, so that answers found in the store at the start do not raise it for long."""

    total: int
    """Number of things to do."""
    _seen: deque[tuple[float, int]] = field(default_factory=lambda: deque([(0.0, 0)]))

    def look(self, seconds: float, done: int) -> None:
        """Note how much was done at a time, in seconds since the start; times ascend."""
        self._seen.append((seconds, done))
        # The oldest look is the last one that is as old as that.
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - LATELY:
            self._seen.popleft()

    @property
    def rate(self) -> float | None:
        """Return the things done per second; None if nothing was done lately."""
        (first, before), (last, now) = self._seen[0], self._seen[-1]
        return (now - before) / (last - first) if now > before and last > first else None

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds to the end; None if unknown."""
        # Asked for once: another thread may look between two times, and then nothing was done lately.
        rate = self.rate
        return max(self.total - self._seen[-1][1], 0) / rate if rate else None


@dataclass(slots=True)
class ProgressLine:
    """A progress line that is drawn again whenever its meter changes."""

    title: str
    """Fit to be printed."""
    meter: Meter
    pace: Pace
    seconds: float = 0.0
    """Time since the start."""

    def look(self, seconds: float) -> None:
        """Read the meter, so many seconds after the start."""
        self.seconds = seconds
        self.pace.look(seconds, self.meter.done)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw title, bar and as many of the words as fit; leave out the least important words first."""
        words, room = self.words(), options.max_width - SHORTEST_BAR - 2
        while len(words) > 1 and cell_len("  ".join(words)) > room - SHORTEST_TITLE:
            del words[-1]
        shown, title = "  ".join(words), self.title
        if cell_len(title) > (room := room - cell_len(shown)):
            # The end of a title distinguishes models.
            while title and cell_len(title) >= room:
                title = title[1:]
            title = f"…{title}" if title else ""
        bar = max(min(options.max_width - 2 - cell_len(title) - cell_len(shown), BAR), 1)
        done = min(self.meter.done, self.total)
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text(title), ProgressBar(total=self.total, completed=done, width=bar), Text(shown, no_wrap=True))
        yield grid

    def as_text(self) -> str:
        """Return the line for a log."""
        return f"{self.title}: {', '.join(self.words())}"

    @property
    def total(self) -> int:
        """Number of questions, without those that no longer need to be asked."""
        return self.pace.total - self.meter.saved

    @property
    def ends_soon(self) -> bool:
        """True if a model is answering, and needs only a few more seconds."""
        left = self.pace.seconds_left
        return self.meter.done > self.meter.from_store and left is not None and left < SOON_SECONDS

    def words(self) -> list[str]:
        """Return the words of the line, the most important first."""
        meter, pace, total, left = self.meter, self.pace, self.total, self.pace.seconds_left
        words = [f"{meter.done:,}/{total:,}"]
        if meter.doing:
            words.append(f"{meter.doing}, {format_clock(self.seconds)}")
        elif meter.done >= total:
            words.append(f"in {format_clock(self.seconds)}")
        else:
            # Something has to change while a long batch is computed.
            words.append(f"{format_clock(self.seconds)} so far" if left is None else f"{format_clock(left)} left")
        rate = meter.done / self.seconds if meter.done >= total and self.seconds else pace.rate
        words += [f"{rate:,.1f}/s"] if rate is not None else []
        words += [dollars(meter.cost)] if meter.cost else []
        counts = {"failed": meter.failed, "cached": meter.from_store, "saved": meter.saved}
        return words + [f"{number:,} {name}" for name, number in counts.items() if number]


def format_clock(seconds: float) -> str:
    """Format a duration like a clock: `0:07`, `12:30`, `2:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"

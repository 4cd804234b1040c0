"""How far the questions have come, in one line that fits any terminal."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from contrapose.flows.pace import Pace
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.text.wording import dollars

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
        done, total = min(self.meter.done, self.pace.total), self.pace.total
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text(title), ProgressBar(total=total, completed=done, width=bar), Text(shown, no_wrap=True))
        yield grid

    def words(self) -> list[str]:
        """What there is to tell, the most needed first."""
        meter, pace = self.meter, self.pace
        told = [f"{meter.done:,}/{pace.total:,}"]
        if meter.done >= pace.total:
            told.append(f"in {clock(self.seconds)}")
        elif pace.left is not None:
            told.append(f"{clock(pace.left)} left")
        rate = meter.done / self.seconds if meter.done >= pace.total and self.seconds else pace.rate
        told += [f"{rate:,.1f}/s"] if rate is not None else []
        told += [dollars(meter.cost)] if meter.cost else []
        told += [f"{meter.failed:,} failed"] if meter.failed else []
        told += [f"{meter.found:,} cached"] if meter.found else []
        return told


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

"""What the command prints, and what it says beside that."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO

from contrapose.flows.command.output import unread
from contrapose.tasks.core.damage import LOGGER, told_together
from contrapose.tasks.text.cleaning import one_line


def print_lines(lines: Iterable[str], *, at_once: bool = False) -> int:
    """Print lines until there are no more, or nobody reads them; returns the exit code 0.

    Args:
        lines: each without its end.
        at_once: print each as it comes, even into a file.
    """
    for line in lines:
        print(line, flush=at_once)
        if unread():
            break
    return 0


def say(text: str, *, show_toxic: bool = False) -> None:
    """One line beside the output; what it quotes from files and models must not steer the terminal.

    Args:
        text: what is said.
        show_toxic: leave toxic words in it as they are.
    """
    from contrapose.tasks.text.masking import masked

    # Where nobody hears it, the exit code still tells.
    with suppress(OSError):
        print(f"contrapose: {one_line(text if show_toxic else masked(text))}", file=sys.stderr or StringIO())


class _Said(logging.Handler):
    """Says what a logger is told."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        say(record.getMessage())


@contextmanager
def saying_damage() -> Iterator[None]:
    """Say, in one line, what was found damaged by the work inside, as it ends."""
    logger, handler = logging.getLogger(LOGGER), _Said()
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with told_together():
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = True

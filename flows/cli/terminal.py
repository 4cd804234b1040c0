"""Terminal output and questions; after a closed pipe, a full disk or a missing stdout the command ends clearly."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from contrapose.tasks.core.damage import LOGGER, warn_together
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.text.cleaning import one_line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class RawOutput(io.FileIO):
    """A file descriptor to write to, which stays open; if not `needed`, output that cannot be written is dropped."""

    def __init__(self, descriptor: int, *, needed: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.needed = needed
        self.unread = False

    def write(self, content: ReadableBuffer, /) -> int:
        """Write, or drop the text if nobody reads it, as after `| head -1`; raise ConfigError if the disk is full."""
        try:
            return super().write(content)
        except BrokenPipeError:
            self.unread = True
        except OSError as error:
            if self.needed:
                raise ConfigError(
                    f"standard output cannot be written ({error.strerror or type(error).__name__})",
                    expected="a terminal, a pipe or a file with room",
                    remedy="Make room, or send it elsewhere.",
                ) from error
        return memoryview(content).nbytes


@contextmanager
def guard_output() -> Iterator[None]:
    """Send everything that is printed inside through `RawOutput`, also from other libraries."""
    before = sys.stdout, sys.stderr
    sys.stdout = _guard(before[0], sys.__stdout__, needed=True)
    sys.stderr = _guard(before[1], sys.__stderr__, needed=False)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout, sys.stderr = before


def _guard(stream: TextIO | None, own: TextIO | None, *, needed: bool) -> TextIO:
    if stream is None:
        # Closed by the caller. Otherwise the next file that is opened would become this stream.
        return open(os.devnull, "w", encoding="utf-8")
    if stream is not own:
        return stream
    stream.flush()
    raw = RawOutput(stream.fileno(), needed=needed)
    # What a terminal or a file cannot write becomes an escape instead of an error.
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=raw.isatty() or not needed,
    )


def print_lines(lines: Iterable[str], *, at_once: bool = False) -> int:
    """Print lines until the reader closes the pipe, with `at_once` each line immediately; return the exit code 0."""
    for line in lines:
        print(line, flush=at_once)
        if getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "unread", False):
            break
    return 0


def confirm(question: str) -> bool:
    """Ask a person to confirm; return False if no person is at the terminal."""
    return sys.stdin.isatty() and input(question).strip().lower() in ("y", "yes")


def say(text: str, *, show_toxic: bool = False) -> None:
    """Print one line to stderr; remove terminal control codes that it quotes from files and models."""
    from contrapose.tasks.text.masking import mask_toxic

    # Where nobody hears it, the exit code still tells.
    with suppress(OSError):
        print(f"contrapose: {one_line(text if show_toxic else mask_toxic(text))}", file=sys.stderr or io.StringIO())


class _PrintHandler(logging.Handler):
    """Log handler that prints the messages of a logger."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message of a record."""
        say(record.getMessage())


@contextmanager
def report_damage() -> Iterator[None]:
    """Print at the end, in one line, which files the work inside found damaged."""
    logger, handler = logging.getLogger(LOGGER), _PrintHandler()
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with warn_together():
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = True

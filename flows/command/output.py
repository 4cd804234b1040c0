"""Output that may be full, closed, or read by nobody: the command ends clearly all the same."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from contrapose.tasks.core.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Raw(io.FileIO):
    """A file descriptor to write to.

    Args:
        descriptor: which stays open.
        needed: whether what it is given must get there; messages beside the output need not.
    """

    def __init__(self, descriptor: int, *, needed: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.needed = needed
        self.unread = False

    def write(self, content: ReadableBuffer, /) -> int:
        """Write, or let go of what nobody reads any more, as after `| head -1`.

        Raises:
            ConfigError: it cannot be written, such as on a full disk.
        """
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
def guarded_output() -> Iterator[None]:
    """Let everything that is printed inside go through `Raw`, whichever library prints it.

    Raises:
        ConfigError: standard output cannot be written.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _over(before[0], sys.__stdout__), _over(before[1], sys.__stderr__, needed=False)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout, sys.stderr = before


def unread() -> bool:
    """Whether nobody reads standard output any more."""
    return getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "unread", False)


def _over(stream: TextIO | None, own: TextIO | None, *, needed: bool = True) -> TextIO:
    if stream is None:
        # Closed by the caller. Otherwise the next file that is opened would become this stream.
        return open(os.devnull, "w", encoding="utf-8")
    if stream is not own:
        return stream
    stream.flush()
    raw = Raw(stream.fileno(), needed=needed)
    # What a terminal or a file cannot write becomes an escape instead of an error.
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=raw.isatty() or not needed,
    )

"""Temporary changes of process-wide state, which are undone when the last user of each ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any

Undo = Callable[[], object]


class SharedChange:
    """A process-wide change that overlapping calls share; `make` makes it once and returns what undoes it."""

    def __init__(self, make: Callable[[], Undo]) -> None:
        self._make = make
        self._lock, self._users = Lock(), 0
        self._undo: Undo = int

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Keep the change while the context is open."""
        with self._lock:
            if not self._users:
                self._undo = self._make()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._undo()


def set_temporary_variables(values: Mapping[str, str]) -> SharedChange:
    """Return a change that sets environment variables for libraries, unless they are already set."""

    def make() -> Undo:
        new = {name: value for name, value in values.items() if name not in os.environ}
        os.environ.update(new)
        return lambda: [os.environ.pop(name, None) for name in new]

    return SharedChange(make)


def restore_variables(*names: str) -> SharedChange:
    """Return a change that restores, when it ends, the environment variables that a library has set."""

    def make() -> Undo:
        before = {name: os.environ.get(name) for name in names}

        def undo() -> None:
            for name, value in before.items():
                os.environ.pop(name, None)
                os.environ.update({} if value is None else {name: value})

        return undo

    return SharedChange(make)


def _quieten_loading() -> Undo:
    """Let transformers show no progress bars and report only errors."""
    # Imported by whoever loads a model.
    said: Any = import_module("transformers.utils.logging")
    level, bars = said.get_verbosity(), said.is_progress_bar_enabled()
    said.set_verbosity_error()
    if bars:
        said.disable_progress_bar()
    return lambda: (said.set_verbosity(level), bars and said.enable_progress_bar())


QUIET_LOADING = SharedChange(_quieten_loading)
"""Meanwhile transformers and the Hugging Face hub show no bars, and transformers reports errors only."""

"""`contrapose run --watch`: repeat the run whenever a file that it reads changes."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from contrapose.flows.cli.interruption import Interrupted, interruptible
from contrapose.flows.cli.terminal import say
from contrapose.tasks.core.damage import sha256
from contrapose.tasks.core.errors import ContraposeError

SECONDS = 1.0
"""Between two looks at the files."""
TEMPLATES = ("prompt_file", "reworded_file", "wordings_files")
"""Keys of a suite that name files with templates."""


class FileState(NamedTuple):
    """Time, size and hash of a file, which show whether it has changed."""

    modified: int
    """Nanoseconds."""
    size: int
    digest: str


def watch(run: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Run, and run again when a file changes, until Ctrl-C; return the exit code of the last run that ended."""
    code: int | None = None
    states: dict[Path, FileState | None] = {}
    try:
        with interruptible():
            while True:
                # Before the run: what changes meanwhile starts the next one.
                states = read_states([*states, *list_watched_files(arguments)], {})
                own = argparse.Namespace(**{**vars(arguments), "began": monotonic()})
                try:
                    code = run(own)
                except ContraposeError as error:
                    for line in error.lines():
                        say(line, show_toxic=arguments.show_toxic)
                    code = error.exit_code
                say(f"{len(states)} files are watched; end with Ctrl-C")
                say(f"{wait_for_change(states)} changed: running again")
    except Interrupted as interrupted:
        if code is None or interrupted.number != signal.SIGINT:
            raise
        return code


def wait_for_change(states: Mapping[Path, FileState | None]) -> Path:
    """Wait for a change, and return the first file whose content has changed."""
    while True:
        now = read_states(states, states)
        for path, state in now.items():
            if (state and state.digest) != ((before := states[path]) and before.digest):
                return path
        states = now
        sleep(SECONDS)


def read_states(paths: Iterable[Path], before: Mapping[Path, FileState | None]) -> dict[Path, FileState | None]:
    """Return the state of each file, None for a deleted one; read only files that seem to have changed."""
    states: dict[Path, FileState | None] = {}
    for path in paths:
        states[path], known = None, before.get(path)
        # It may be about to be replaced.
        with suppress(OSError):
            stat = path.stat()
            same = known is not None and (known.modified, known.size) == (stat.st_mtime_ns, stat.st_size)
            states[path] = known if same else FileState(stat.st_mtime_ns, stat.st_size, sha256(path))
    return states


def list_watched_files(arguments: argparse.Namespace) -> Iterator[Path]:
    """Yield the files on this machine that a run reads: its suite, templates, data, expectations and replies."""
    from contrapose.flows.orchestration.options import read_overrides, resolve_suite
    from contrapose.tasks.config.plan import plans
    from contrapose.tasks.config.suite_files import read_values

    named, suite = [arguments.recorded, arguments.requests], Path(os.path.expanduser(arguments.suite))
    if suite.is_file():
        yield suite
        # The run says what is wrong with a suite.
        with suppress(ContraposeError):
            for name in find_templates(read_values(str(suite))):
                beside = suite.parent / os.path.expanduser(name)
                yield beside if beside.exists() else Path(os.path.expanduser(name))
    with suppress(ContraposeError):
        config, _ = resolve_suite(arguments.suite, read_overrides(arguments))
        named += [*config.expectations, *(plan.data.source for plan in plans(config))]
    for name in filter(None, named):
        path = Path(os.path.expanduser(name))
        yield from (part for part in path.rglob("*") if part.is_file()) if path.is_dir() else [path] * path.is_file()


def find_templates(values: object) -> Iterator[str]:
    """Yield the template files that the values of a suite name."""
    for name, value in values.items() if isinstance(values, Mapping) else ():
        if name in TEMPLATES and isinstance(value, str | list):
            yield from [value] if isinstance(value, str) else map(str, value)
        else:
            yield from find_templates(value)

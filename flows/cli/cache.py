"""`contrapose cache`: what the response store holds."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import asked, print_lines
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import file_of, heal, shown, store_url
from contrapose.tasks.store.housekeeping import Held
from contrapose.tasks.store.repair import fails, is_there, rescue
from contrapose.tasks.store.runs import ALIVE_SECONDS, RunRow
from contrapose.tasks.text.wording import counted

DAY = 86_400


def info() -> Iterator[str]:
    """Where the store is, how large, and what it holds of every model."""
    store = Store().housekeeping
    held = store.held()
    yield store.place
    yield f"{counted('answers', sum(entry.answers for entry in held))}, {store.size() / 1_000_000:,.1f} MB"
    yield from map(_model, held)
    unfinished = len(Store().runs.unfinished())
    if unfinished:
        yield f"{counted('unfinished runs', unfinished)}: contrapose resume"


def clear(*, model: str | None, days: float | None, sure: bool) -> str:
    """Forget answers, once the user is sure.

    Raises:
        ConfigError: the user is not, or there is nobody to ask.
    """
    what = f"answers of {model}" if model else "answers"
    what += "" if days is None else f" older than {days:g} days"
    store = Store().housekeeping
    if not sure and not asked(f"Forget {what} in {store.place}? They were paid for. [y/N] "):
        raise ConfigError(
            f"nothing was forgotten: {what}",
            expected="y, or --yes",
            remedy="Say so, or leave it.",
            where="contrapose cache clear",
        )
    count = store.clear(model=model, before=None if days is None else time.time() - days * DAY)
    return f"{counted('answers', count)} forgotten"


def export(*, model: str | None) -> Iterator[str]:
    """Answers as JSON, a line each."""
    return Store().housekeeping.export(model=model)


def repair(*, file: str | None) -> Iterator[str]:
    """See that every answer is as it was written, and rescue what can be read of a damaged store, or of another file.

    Args:
        file: a store that was set aside, whose answers are put into the store.

    Raises:
        ConfigError: there is no such file, or the store is not a file.
    """
    url = store_url()
    path = file_of(url)
    if path is not None and is_there(path) and (why := fails(path)):
        yield f"{shown(url)}: {why}"
        heal(path, url)
    if file is not None:
        yield _rescued(Path(file), path, where=shown(url))
    answers, damaged = Store().answers.check()
    yield f"{shown(url)}: {counted('answers', answers)}, each as it was written; {damaged} were not"


def _rescued(file: Path, path: Path | None, *, where: str) -> str:
    if path is None or not file.is_file() or file.resolve() == path.resolve():
        raise ConfigError(
            "answers can be taken from a file into a SQLite store alone" if path is None else "there is no other file",
            expected="a SQLite store that was set aside, and one to put its answers into",
            remedy="`contrapose cache repair` alone repairs the store itself.",
            where=where if path is None else str(file),
        )
    before = Store().answers.check()[0]
    rescue(file, path)
    return f"{counted('answers', Store().answers.check()[0] - before)} taken from {file}"


def unfinished() -> Iterator[str]:
    """Runs that did not come to their end, the newest first."""
    rows = Store().runs.unfinished()
    if not rows:
        yield "no unfinished runs"
    for row in rows:
        yield f"{row.id}  {_state(row)}, {counted('answers', row.answers)}, last seen {_when(row.seen)}"
    if rows:
        yield "go on with: contrapose resume RUN"


def _state(row: RunRow) -> str:
    if row.state == "incomplete":
        return "incomplete"
    return "running" if row.seen > time.time() - ALIVE_SECONDS else "interrupted"


def _model(held: Held) -> str:
    tokens = f"{held.prompt_tokens:,} tokens read, {held.completion_tokens:,} written"
    return f"{held.model}: {counted('answers', held.answers)}, {tokens}, {_when(held.first)} to {_when(held.last)}"


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    actions.add_parser("info", help="where the response store is and what it holds")
    clear = actions.add_parser("clear", help="forget answers")
    clear.add_argument("--older-than", type=float, metavar="DAYS", help="only answers that are older")
    clear.add_argument("--yes", action="store_true", help="do not ask whether that is meant")
    export = actions.add_parser("export", help="print answers as JSON, a line each, as raw text")
    repair = actions.add_parser("repair", help="check every answer, and rescue those of a damaged store")
    repair.add_argument("--from", dest="file", metavar="FILE", help="also take what can be read of a store set aside")
    for action in (clear, export):
        action.add_argument("--model", metavar="ID", help="only answers of this model")


def _cache(arguments: argparse.Namespace) -> int:
    if arguments.what == "info":
        return print_lines(info())
    if arguments.what == "export":
        return print_lines(export(model=arguments.model))
    if arguments.what == "repair":
        return print_lines(repair(file=arguments.file))
    return print_lines([clear(model=arguments.model, days=arguments.older_than, sure=arguments.yes)])


VERB = Verb(options=_options, act=_cache, example="cache info")

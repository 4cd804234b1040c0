"""`contrapose cache`: what the response store holds."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import asked, print_lines
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import file_of, shown, store_url
from contrapose.tasks.store.housekeeping import Held
from contrapose.tasks.store.opening import fails, heal
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


def repair() -> Iterator[str]:
    """See that every answer and every receipt is as it was written, and make anew what is not.

    A database is made from its receipts, and damaged receipts are written again from the database.
    """
    url = store_url()
    path = file_of(url)
    if path is not None and path.is_file() and (why := fails(path)):
        yield f"{shown(url)}: {why}"
        heal(path, url)
    store = Store()
    answers, damaged = store.answers.check()
    yield f"{shown(url)}: {counted('answers', answers)}, each as it was written; {damaged} were not"
    receipts = store.housekeeping.damaged_receipts()
    if receipts:
        yield from (f"a damaged receipt: {where}" for where in receipts)
        store.housekeeping.write_receipts()
        yield "the receipts were written anew from the database"


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
    actions.add_parser("repair", help="check every answer and every receipt, and repair what is damaged")
    for action in (clear, export):
        action.add_argument("--model", metavar="ID", help="only answers of this model")


def _cache(arguments: argparse.Namespace) -> int:
    if arguments.what == "info":
        return print_lines(info())
    if arguments.what == "export":
        return print_lines(export(model=arguments.model))
    if arguments.what == "repair":
        return print_lines(repair())
    return print_lines([clear(model=arguments.model, days=arguments.older_than, sure=arguments.yes)])


VERB = Verb(options=_options, act=_cache, example="cache info")

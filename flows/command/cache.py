"""`contrapose cache`: what the response store holds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.infer.store import open_housekeeping, open_runs
from contrapose.tasks.infer.store.housekeeping import Held
from contrapose.tasks.infer.store.runs import ALIVE_SECONDS, RunRow
from contrapose.tasks.report.wording import counted

DAY = 86_400


def info() -> Iterator[str]:
    """Where the store is, how large, and what it holds of every model."""
    store = open_housekeeping()
    held = store.held()
    yield store.place
    yield f"{counted('answers', sum(each.answers for each in held))}, {store.size() / 1_000_000:,.1f} MB"
    yield from map(_model, held)
    unfinished = len(open_runs().unfinished())
    if unfinished:
        yield f"{counted('unfinished runs', unfinished)}: contrapose resume"


def clear(*, model: str | None, days: float | None, sure: bool) -> str:
    """Forget answers, once the user is sure.

    Raises:
        ConfigError: the user is not, or there is nobody to ask.
    """
    what = " ".join(
        part
        for part in (
            "answers",
            f"of {model}" if model else "",
            f"older than {days:g} days" if days is not None else "",
        )
        if part
    )
    store = open_housekeeping()
    if not sure and not _asked(f"Forget {what} in {store.place}? They were paid for. [y/N] "):
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
    return open_housekeeping().export(model=model)


def unfinished() -> Iterator[str]:
    """Runs that did not come to their end, the newest first."""
    rows = open_runs().unfinished()
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


def _asked(question: str) -> bool:
    return sys.stdin.isatty() and input(question).strip().lower() in ("y", "yes")

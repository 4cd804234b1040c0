"""`contrapose cache`: show what the response store holds, and delete entries that nothing needs."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import confirm, print_lines
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.places import Entry, Place
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import get_store_file, remove_password, store_url
from contrapose.tasks.store.opening import find_damage, rebuild_damaged
from contrapose.tasks.tables.pruning import Unneeded, find_unneeded_files, name_leftover
from contrapose.tasks.text.wording import counted, tokens_text

DAY = 86_400
DAYS = 30.0
"""Age in days from which `prune` deletes, where nobody says otherwise."""
KINDS = {
    "verdict.json": "decisions",
    "comparison.json": "comparisons",
    "summary.json": "runs",
    "validation.json": "refused runs",
}
"""Files that show what a folder holds."""


def _info(_: argparse.Namespace) -> Iterator[str]:
    """Print the store's place and size, and what it holds for each model."""
    store = Store().housekeeping
    held = store.count_by_model()
    yield store.place
    yield f"{counted('answers', sum(entry.answers for entry in held))}, {store.size() / 1_000_000:,.1f} MB"
    for entry in held:
        tokens = tokens_text(entry.prompt_tokens, entry.completion_tokens)
        span = " to ".join(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC" for at in (entry.first, entry.last))
        yield f"{entry.model}: {', '.join(filter(None, (counted('answers', entry.answers), tokens, span)))}"
    if unfinished := len(Store().runs.find_unfinished()):
        yield f"{counted('unfinished runs', unfinished)}: contrapose resume"


def _clear(arguments: argparse.Namespace) -> Iterator[str]:
    """Delete answers, after the user confirms."""
    model, days = arguments.model, arguments.older_than
    what = (f"answers of {model}" if model else "answers") + ("" if days is None else f" older than {days:g} days")
    store = Store().housekeeping
    _confirm(arguments, f"Delete {what} in {store.place}? A run would pay for them again.", what=what)
    count = store.clear(model=model, before=None if days is None else time.time() - days * DAY)
    yield f"{counted('answers', count)} deleted"


def _confirm(arguments: argparse.Namespace, question: str, *, what: str) -> None:
    """Raise ConfigError unless the user confirms the deletion."""
    if not arguments.yes and not confirm(f"{question} [y/N] "):
        raise ConfigError(
            f"no confirmation to delete {what}",
            expected="y, or --yes",
            remedy="Answer y, or add --yes.",
            where=f"contrapose cache {arguments.what}",
        )


def _repair(_: argparse.Namespace) -> Iterator[str]:
    """Check every answer and every receipt; restore a damaged database from receipts, and damaged receipts from it."""
    url = store_url()
    path = get_store_file(url)
    if path is not None and path.is_file() and (why := find_damage(path)):
        yield f"{remove_password(url)}: {why}"
        rebuild_damaged(path, url)
    store = Store()
    answers, damaged = store.answers.check()
    yield f"{remove_password(url)}: {counted('answers', answers)}, each as it was written; {damaged} were not"
    receipts = store.housekeeping.damaged_receipts()
    if receipts:
        yield from (f"a damaged receipt: {where}" for where in receipts)
        store.housekeeping.write_receipts()
        yield "the receipts were written anew from the database"


def _prune(arguments: argparse.Namespace) -> Iterator[str]:
    """Delete cached tables, results and old runs that nothing needs, after the user has seen the list."""
    days = arguments.older_than
    if not days >= 1:
        raise ConfigError(
            f"{days:g} days",
            expected="at least 1: running runs use younger files",
            remedy="Write --older-than 1 or more.",
            where="--older-than",
        )
    before = time.time() - days * DAY
    folder = arguments.runs and Place.at(arguments.runs, setting="--runs")
    old = [*find_unneeded_files(before=before), *(_list_unneeded_runs(folder, before=before) if folder else ())]
    groups: dict[str, dict[str, list[int]]] = {}
    for what, entry in old:
        where = entry.place.address.removesuffix(entry.place.name).rstrip("/")
        groups.setdefault(where, {}).setdefault(what, []).append(entry.size)
    for where, sizes_of in groups.items():
        lines = [f"  {counted(what, len(sizes))}, {_format_megabytes(sizes)}" for what, sizes in sizes_of.items()]
        print_lines([f"{where}:", *lines])
    if not old:
        yield f"nothing was unused for {days:g} days in {home_folder()}"
    if not old or arguments.dry_run:
        return
    _confirm(arguments, "Delete these files? Cached answers stay.", what="the files above")
    # This order leaves nothing that names what is gone.
    for _, entry in old:
        entry.place.remove()
    what = "file or folder" if len(old) == 1 else "files and folders"
    yield f"{len(old):,} {what} deleted, {_format_megabytes(entry.size for _, entry in old)}"


def _format_megabytes(sizes: Iterable[int]) -> str:
    return f"{sum(sizes) / 1_000_000:,.1f} MB"


class _Published(NamedTuple):
    """A published folder: when it was begun, its kind, suite and model, and the folders that it names."""

    entry: Entry
    moment: float
    kind: str
    of: tuple[str, str]
    passed: bool
    others: frozenset[str]


def _list_unneeded_runs(folder: Place, *, before: float) -> Iterator[Unneeded]:
    """List old folders, except the newest of a kind, the newest passed run, and folders that the kept ones name."""
    entries = folder.entries()
    for entry in entries:
        if reason := name_leftover(entry, before=before):
            yield Unneeded(reason, entry)
    published = [part for entry in entries if (part := _read_published(entry))]
    # The newest last: it replaces what is older.
    newest = {(part.kind, part.of, passed): part for part in published for passed in {part.passed, False}}
    kept = [part for part in published if part.moment >= before or part in newest.values()]
    needed = {name for part in kept for name in (part.entry.place.name, *part.others)}
    for part in published:
        if part.entry.place.name not in needed:
            yield Unneeded(part.kind, part.entry)


def _read_published(entry: Entry) -> _Published | None:
    """Read what a folder holds; return None if it is not the folder of a run, comparison or decision."""
    match = re.fullmatch(r"(\d{8}T\d{6}Z)-.+", entry.place.name)
    if match is None or not entry.is_folder:
        return None
    for file, kind in KINDS.items():
        try:
            content: Any = (entry.place / file).json()
        except (OSError, ValueError):
            continue
        if not isinstance(content, dict):
            continue
        model = content.get("model") or ""
        # The runs that a decision or a comparison names.
        sides = [content.get("candidate"), content.get("baseline"), *(content.get("models") or ())]
        folders = [side["folder"] for side in sides if isinstance(side, dict) and isinstance(side.get("folder"), str)]
        return _Published(
            entry=entry,
            moment=datetime.strptime(match[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp(),
            kind=kind,
            of=(str(content.get("suite") or ""), str(model["id"] if isinstance(model, dict) else model)),
            passed=kind == "runs" and content.get("verdict") == "pass",
            others=frozenset(Place(folder).name for folder in folders),
        )
    return None


def _add_options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    actions.add_parser("info", help="show the place and content of the response store")
    clear = actions.add_parser("clear", help="delete answers")
    clear.add_argument("--older-than", type=float, metavar="DAYS", help="only answers that are older")
    export = actions.add_parser("export", help="print answers as JSON lines, unmasked")
    for action in (clear, export):
        action.add_argument("--model", metavar="ID", help="only answers of this model")
    actions.add_parser("repair", help="check every answer and every receipt, and repair what is damaged")
    text = "delete old cached tables, results and runs; keep answers"
    prune = actions.add_parser("prune", help=text)
    text = f"delete what was unused for so many days (default: {DAYS:g})"
    prune.add_argument("--older-than", type=float, default=DAYS, metavar="DAYS", help=text)
    text = "also delete old run, comparison and decision folders there"
    prune.add_argument("--runs", metavar="FOLDER|URL", help=text)
    prune.add_argument("--dry-run", action="store_true", help="show what would be deleted; delete nothing")
    for action in (clear, prune):
        action.add_argument("--yes", action="store_true", help="skip the confirmation")


ACTIONS = {
    "info": _info,
    "clear": _clear,
    "export": lambda arguments: Store().housekeeping.export(model=arguments.model),
    "repair": _repair,
    "prune": _prune,
}

VERB = Verb(
    options=_add_options,
    act=lambda arguments: print_lines(ACTIONS[arguments.what](arguments)),
    example="cache info",
)

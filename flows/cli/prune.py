"""`contrapose prune`: delete what nothing needs any more, once somebody has seen what that is."""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import asked, print_lines
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Entry, Place
from contrapose.tasks.tables.pruning import Unneeded, leftover, unneeded_cached
from contrapose.tasks.tables.table import home
from contrapose.tasks.text.wording import counted

DAY = 86_400
DAYS = 30.0
"""How old is old, where nobody says otherwise."""

NAMED = re.compile(r"(\d{8}T\d{6}Z)-.+")
"""Names of the folders of runs, comparisons and decisions."""


def unneeded(*, days: float, runs: str | None) -> list[Unneeded]:
    """What may be deleted.

    Args:
        days: what was used since is kept.
        runs: folder or URL whose runs, comparisons and decisions are looked at too; None: none are.

    Raises:
        ContraposeError: too few days, or a place that cannot be read.
    """
    if not days >= 1:
        raise ConfigError(
            f"{days:g} days",
            expected="at least 1: a run that is under way uses what is younger",
            remedy="Name more days.",
            where="--older-than",
        )
    before = time.time() - days * DAY
    unneeded_runs = () if runs is None else _unneeded_runs(Place.at(runs, setting="--runs"), before=before)
    return [*unneeded_cached(before=before), *unneeded_runs]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    """A folder that was published."""

    entry: Entry
    moment: float
    """Unix time at which it was begun, by its name."""
    kind: str
    """In the plural."""
    of: tuple[str, str]
    """What it tells of: suite and model."""
    passed: bool
    """Whether a run passed."""
    others: frozenset[str]
    """Names of the folders that it names."""


def _unneeded_runs(folder: Place, *, before: float) -> Iterator[Unneeded]:
    """Old folders, but for the newest of its kind, the newest run that passed, and what those that stay name."""
    entries = folder.entries()
    for entry in entries:
        if reason := leftover(entry, before=before):
            yield Unneeded(reason, entry)
    published = [part for entry in entries if (part := _published(entry))]
    # The newest last: it replaces what is older.
    newest = {(part.kind, part.of, passed): part for part in published for passed in {part.passed, False}}
    kept = [part for part in published if part.moment >= before or part in newest.values()]
    needed = {name for part in kept for name in (part.entry.place.name, *part.others)}
    for part in published:
        if part.entry.place.name not in needed:
            yield Unneeded(part.kind, part.entry)


def _published(entry: Entry) -> _Published | None:
    """None where a folder is something else."""
    match = NAMED.fullmatch(entry.place.name)
    files = _KINDS if match and entry.is_folder else {}
    for file, kind in files.items():
        content = _content(entry.place / file)
        if content is not None and match is not None:
            model = content.get("model") or ""
            return _Published(
                entry=entry,
                moment=datetime.strptime(match[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp(),
                kind=kind,
                of=(str(content.get("suite") or ""), str(model["id"] if isinstance(model, dict) else model)),
                passed=kind == "runs" and content.get("verdict") == "pass",
                others=frozenset(Place(side["folder"]).name for side in _sides(content)),
            )
    return None


_KINDS = {
    "verdict.json": "decisions",
    "comparison.json": "comparisons",
    "summary.json": "runs",
    "validation.json": "refused runs",
}
"""Files that tell what a folder holds."""


def _content(file: Place) -> dict[str, Any] | None:
    try:
        content = file.json()
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _sides(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs that a decision or a comparison names."""
    named = [content.get("candidate"), content.get("baseline"), *(content.get("models") or ())]
    return [side for side in named if isinstance(side, dict) and isinstance(side.get("folder"), str)]


def in_words(entries: Iterable[Unneeded]) -> Iterator[str]:
    """A line for each kind of thing in each place."""
    sizes: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for what, entry in entries:
        key = entry.place.address.removesuffix(entry.place.name).rstrip("/"), what
        sizes[key] += entry.size
        counts[key] += 1
    for folder in dict.fromkeys(folder for folder, _ in counts):
        yield f"{folder}:"
        for key in counts:
            if key[0] == folder:
                yield f"  {counted(key[1], counts[key])}, {sizes[key] / 1_000_000:,.1f} MB"


def delete(entries: Iterable[Unneeded]) -> str:
    """Delete in the order given, which leaves nothing that names what is gone."""
    count = size = 0
    for _, entry in entries:
        entry.place.remove()
        count, size = count + 1, size + entry.size
    return f"{count:,} {'file or folder' if count == 1 else 'files and folders'} deleted, {size / 1_000_000:,.1f} MB"


def _options(command: argparse.ArgumentParser) -> None:
    old = f"what nobody used for so long (default: {DAYS:g})"
    command.add_argument("--older-than", type=float, default=DAYS, metavar="DAYS", help=old)
    runs = "also folders of runs, comparisons and decisions that lie there"
    command.add_argument("--runs", metavar="FOLDER|URL", help=runs)
    command.add_argument("--dry-run", action="store_true", help="tell what would be deleted, and delete nothing")
    command.add_argument("--yes", action="store_true", help="do not ask whether that is meant")


def _prune(arguments: argparse.Namespace) -> int:
    old = unneeded(days=arguments.older_than, runs=arguments.runs)
    print_lines(in_words(old))
    if not old:
        return print_lines([f"nothing was unused for {arguments.older_than:g} days in {home()}"])
    if arguments.dry_run:
        return 0
    if not arguments.yes and not asked("Delete all that? Answers that were paid for stay. [y/N] "):
        raise ConfigError(
            "nothing was deleted",
            expected="y, or --yes",
            remedy="Say so, or leave it.",
            where="contrapose prune",
        )
    return print_lines([delete(old)])


VERB = Verb(options=_options, act=_prune, example="prune --older-than 30 --dry-run")

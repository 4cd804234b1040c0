"""Runs that the pages of `contrapose view` list, and the files that the site serves."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from contrapose.flows.serve.guard import CLOSED
from contrapose.flows.serve.report_server import ENCLOSED, HTML, TEXT, PageReply
from contrapose.tasks.core.comparison import COLOURS, list_judged_pairs
from contrapose.tasks.core.criteria import list_criteria, list_further_gates
from contrapose.tasks.core.outcome import SEVERITY
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import criteria_text, format_moment, percent

FILES, TEXTS = "/files/", "/text/"
"""Paths under which the folder is served, and its Markdown as pages."""

LINKS = (
    *("report.html", "comparison.html", "validation.html", "report.md", "summary.json"),
    *("comparison.md", "comparison.json"),
)
"""Files that the list links to, where they exist."""

REFUSED = "validation.json"
"""File of a run that was stopped at a gate, and has no summary."""

LARGEST = 20_000_000
"""Bytes of a summary, at most; a usual one has some thousands."""

KINDS = {".html": HTML, ".json": "application/json", ".md": TEXT, ".txt": TEXT, ".xml": TEXT}
"""Content types that are shown; every other file is downloaded, since a browser might run it."""

Links = tuple[tuple[str, str], ...]
"""Names of files, and where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """A run or a comparison in the list, with every text ready to be shown."""

    name: str
    verdict: str = ""
    """Or `refused`; empty where its file cannot be read."""
    colour: str = ""
    """The verdict of a run that has the same colour; empty for none."""
    model: str = ""
    revision: str = ""
    """Empty where only the address of an endpoint is known."""
    suite: str = ""
    started: str = ""
    """As in the summary, for programs."""
    moment: str = ""
    reason: str
    rates: tuple[str, ...] = ()
    """Each test with its pass rate; in a comparison, with its verdict."""
    links: Links
    """The first is where its line leads."""
    folder: str = ""
    """Its name as addresses have it."""
    comparable: bool = False
    """True for a finished run, which can be compared with others."""


def describe_run(summary: Mapping[str, Any], name: str, show: Show, links: Links) -> ListedRun:
    """Describe a run: its tests with their pass rates, and whether they were stopped early."""
    verdict, started, rates = str(summary["verdict"]), str(summary["started"]), list[str]()
    revision = str(summary["model"].get("revision") or "")
    for test in summary["tests"]:
        rate = None if test["pass_rate"] is None else float(test["pass_rate"])
        early = ", stopped early" if early_stop(test) else ""
        decided = criteria_text(list_criteria(test)) if list_further_gates(test) else percent(rate)
        rates.append(show(f"{test['test_type']} {decided}{early}"))
    return ListedRun(
        name=name,
        verdict=verdict if verdict in SEVERITY else "unknown",
        colour=verdict if verdict in SEVERITY else "",
        model=show(str(summary["model"]["id"])),
        revision="" if "://" in revision else show(revision),
        suite=show(str(summary["suite"])),
        started=show(started),
        moment=show(format_moment(started)),
        reason=show(str(summary["reason"])),
        rates=tuple(rates),
        links=links,
    )


def describe_comparison(content: Mapping[str, Any], name: str, show: Show, links: Links) -> ListedRun:
    """Describe a comparison: the models and their baseline, and the verdict on each in each test."""
    verdict, baseline = str(content["verdict"]), str(content["baseline"])
    others = [str(model["name"]) for model in content["models"] if model["name"] != baseline]
    verdicts = [(f"{test} {pair['verdict']}", str(pair["first"])) for test, pair in list_judged_pairs(content["tests"])]
    # The flow's name for a folder begins with the time.
    stamp = name.partition("-")[0]
    return ListedRun(
        name=name,
        verdict=verdict if verdict in COLOURS else "unknown",
        colour=COLOURS.get(verdict, ""),
        model=show(f"{', '.join(others)} against {baseline}"),
        suite="comparison",
        moment="" if format_moment(stamp) == stamp else format_moment(stamp),
        reason=show(str(content["reason"])),
        rates=tuple(show(f"{text} ({first})" if len(others) > 1 else text) for text, first in verdicts),
        links=links,
    )


DESCRIBING = {"summary.json": describe_run, "comparison.json": describe_comparison}
"""Files that describe a folder, and how; the first that is there counts."""


def list_runs(root: Path, show: Show) -> list[ListedRun]:
    """Describe the runs in a resolved folder, the newest first, because a run's name begins with its time."""
    try:
        with os.scandir(root) as entries:
            names = [
                entry.name
                for entry in entries
                if any(find_below(root, [entry.name, file]) for file in (*DESCRIBING, REFUSED))
            ]
    except OSError:
        return []
    return [_describe(root, name, show) for name in sorted(names, reverse=True)]


def _describe(root: Path, name: str, show: Show) -> ListedRun:
    quoted = quote(name)
    links = tuple(
        (file, f"{TEXTS if file.endswith('.md') else FILES}{quoted}/{file}")
        for file in LINKS
        if find_below(root, [name, file])
    )
    path = next(filter(None, (find_below(root, [name, file]) for file in DESCRIBING)), None)
    if path is None:
        reason = "Stopped at a gate; nothing was published."
        return ListedRun(name=show(name), verdict="refused", colour="refused", reason=reason, links=links)
    try:
        state = path.stat()
        run = _read_description(path, name, show, links, (state.st_mtime_ns, state.st_size))
    # Whatever such a file holds, a rate of 4,000 digits too, it costs the list no other line.
    except Exception as error:
        return ListedRun(name=show(name), reason=f"{path.name} cannot be read ({type(error).__name__}).", links=links)
    return replace(run, folder=quoted, comparable=path.name == "summary.json" and run.colour != "")


@lru_cache(maxsize=5_000)
def _read_description(path: Path, name: str, show: Show, links: Links, state: tuple[int, int]) -> ListedRun:
    """Describe a folder by one of its files; read the file again after a change."""
    if state[1] > LARGEST:
        raise ValueError("too large")
    return DESCRIBING[path.name](json.loads(path.read_bytes()), show(name), show, links)


def reply_with_file(root: Path, path: str) -> PageReply | None:
    """Return a file below a folder, by its path from a browser; None if no such file may be read."""
    file = find_requested_file(root, path)
    if file is None:
        return None
    kind = KINDS.get(file.suffix.lower())
    return PageReply(
        content=file,
        kind=kind or "application/octet-stream",
        policy=ENCLOSED if kind == HTML else CLOSED,
        download=kind is None,
    )


def find_requested_file(root: Path, path: str) -> Path | None:
    """Return the path of the file that a browser asks for; None if no such file may be read."""
    try:
        return find_below(root, [unquote(part, errors="strict") for part in path.split("/")])
    except UnicodeDecodeError:
        return None


def find_below(root: Path, parts: Sequence[str]) -> Path | None:
    """Return a regular file below a resolved folder, by the names of its path.

    Return None if it is elsewhere, also through links, or is hidden.
    """
    if any(not part or part.startswith(".") or any(sign in part for sign in "/\\\0") for part in parts):
        return None
    try:
        file = root.joinpath(*parts).resolve(strict=True)
        own = file.relative_to(root)
    except (OSError, ValueError, RuntimeError):
        return None
    hidden = any(part.startswith(".") for part in own.parts)
    return file if file.is_file() and not hidden else None

"""Runs as the page of `contrapose view` lists them, and the files of each that it serves."""

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
from contrapose.tasks.core.comparison import COLOURS, judged
from contrapose.tasks.core.outcome import SEVERITY
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import moment, percent

Links = tuple[tuple[str, str], ...]
"""Names of files, and where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A run or a comparison of runs: every text ready to be shown."""

    name: str
    verdict: str
    """Or `refused`; empty where the file that tells it cannot be read."""
    colour: str
    """The verdict of a run that has the same colour; empty for none."""
    model: str
    suite: str
    started: str
    """As in the summary, for programs."""
    moment: str
    reason: str
    rates: tuple[str, ...]
    """Each test with its pass rate; in a comparison, with its verdict."""
    links: Links
    """The first is where its line leads."""
    folder: str = ""
    """Its name as addresses have it."""
    comparable: bool = False
    """Whether it is a finished run, which can be compared with others."""


def bare(name: str, verdict: str, reason: str, links: Links) -> Listed:
    """A folder without a file to tell of it."""
    return Listed(
        name=name,
        verdict=verdict,
        colour=verdict,
        model="",
        suite="",
        started="",
        moment="",
        reason=reason,
        rates=(),
        links=links,
    )


def run_told(summary: Mapping[str, Any], name: str, show: Show, links: Links) -> Listed:
    """A run: its tests with their pass rates."""
    verdict, started = str(summary["verdict"]), str(summary["started"])
    return Listed(
        name=name,
        verdict=verdict if verdict in SEVERITY else "unknown",
        colour=verdict if verdict in SEVERITY else "",
        model=show(str(summary["model"]["id"])),
        suite=show(str(summary["suite"])),
        started=show(started),
        moment=show(moment(started)),
        reason=show(str(summary["reason"])),
        rates=tuple(_rated(test, show) for test in summary["tests"]),
        links=links,
    )


def _rated(test: Mapping[str, Any], show: Show) -> str:
    """A test with its pass rate, and whether it was stopped early."""
    rate, early = test["pass_rate"], ", stopped early" if early_stop(test) else ""
    return f"{show(str(test['test_type']))} {percent(None if rate is None else float(rate))}{early}"


def comparison_told(content: Mapping[str, Any], name: str, show: Show, links: Links) -> Listed:
    """A comparison: the models against their baseline, and what was found of each in each test."""
    verdict, baseline = str(content["verdict"]), str(content["baseline"])
    others = [str(model["name"]) for model in content["models"] if model["name"] != baseline]
    verdicts = [(f"{test} {pair['verdict']}", str(pair["first"])) for test, pair in judged(content["tests"])]
    # The flow's name for a folder begins with the time.
    stamp = name.partition("-")[0]
    return Listed(
        name=name,
        verdict=verdict if verdict in COLOURS else "unknown",
        colour=COLOURS.get(verdict, ""),
        model=show(f"{', '.join(others)} against {baseline}"),
        suite="comparison",
        started="",
        moment="" if moment(stamp) == stamp else moment(stamp),
        reason=show(str(content["reason"])),
        rates=tuple(show(f"{said} ({first})" if len(others) > 1 else said) for said, first in verdicts),
        links=links,
    )


LINKS = (
    "report.html",
    "comparison.html",
    "validation.html",
    "report.md",
    "summary.json",
    "comparison.md",
    "comparison.json",
)
"""Files that the list leads to, where they are."""

REFUSED = "validation.json"
"""What a run leaves that was stopped at a gate, and has no summary."""

TELLING = {"summary.json": run_told, "comparison.json": comparison_told}
"""Files that tell of a folder, and how; the first that is there."""

LARGEST = 20_000_000
"""Bytes of such a file; a usual one has some thousands."""


def run_names(root: Path) -> list[str]:
    """Names of the folders of runs, the newest first: a run's name begins with its time."""
    with os.scandir(root) as entries:
        names = [
            entry.name for entry in entries if any(below(root, [entry.name, file]) for file in (*TELLING, REFUSED))
        ]
    return sorted(names, reverse=True)


def listed(root: Path, names: Sequence[str], show: Show, *, files: str, texts: str) -> list[Listed]:
    """Runs by their names.

    Args:
        root: folder that holds them, resolved.
        names: of their folders.
        show: makes texts fit to be seen.
        files: path under which the folder is served.
        texts: path under which its Markdown is shown as pages.
    """
    return [_listed(root, name, show, files, texts) for name in names]


def _listed(root: Path, name: str, show: Show, files: str, texts: str) -> Listed:
    quoted = quote(name)
    there = [file for file in LINKS if below(root, [name, file])]
    links = tuple((file, f"{texts if file.endswith('.md') else files}{quoted}/{file}") for file in there)
    telling = next(((file, path) for file in TELLING if (path := below(root, [name, file]))), None)
    if telling is None:
        return bare(show(name), "refused", "Stopped at a gate; nothing was published.", links)
    file, path = telling
    try:
        state = path.stat()
        listed = _told_of(path, name, show, links, (state.st_mtime_ns, state.st_size))
    # Whatever such a file holds, a rate of 4,000 digits too, it costs the list no other line.
    except Exception as error:
        return bare(show(name), "", f"{file} cannot be read ({type(error).__name__}).", links)
    return replace(listed, folder=quoted, comparable=file == "summary.json" and listed.colour != "")


@lru_cache(maxsize=5_000)
def _told_of(path: Path, name: str, show: Show, links: Links, state: tuple[int, int]) -> Listed:
    """A folder as one of its files tells of it; read again when the file has changed."""
    if state[1] > LARGEST:
        raise ValueError("too large")
    return TELLING[path.name](json.loads(path.read_bytes()), show(name), show, links)


KINDS = {
    ".html": HTML,
    ".json": "application/json",
    ".md": TEXT,
    ".txt": TEXT,
    ".xml": TEXT,
}
"""What is shown; everything else is kept as a file, since a browser might run it."""


def file_reply(root: Path, path: str) -> PageReply | None:
    """A file below a folder; None where there is none that may be read.

    Args:
        root: the folder, resolved.
        path: below it, as a browser sends it.
    """
    file = asked_file(root, path)
    if file is None:
        return None
    kind = KINDS.get(file.suffix.lower())
    return PageReply(
        content=file,
        kind=kind or "application/octet-stream",
        policy=ENCLOSED if kind == HTML else CLOSED,
        download=kind is None,
    )


def asked_file(root: Path, path: str) -> Path | None:
    """The file below a folder that a browser asks for; None where there is none that may be read."""
    try:
        return below(root, [unquote(part, errors="strict") for part in path.split("/")])
    except UnicodeDecodeError:
        return None


def below(root: Path, parts: Sequence[str]) -> Path | None:
    """A regular file below a folder; None where it lies elsewhere, whatever links lead there, or is hidden.

    Args:
        root: the folder, resolved.
        parts: names of the folders that lead to it, and its own.
    """
    if any(_unfit(part) for part in parts):
        return None
    try:
        file = root.joinpath(*parts).resolve(strict=True)
        own = file.relative_to(root)
    except (OSError, ValueError, RuntimeError):
        return None
    hidden = any(part.startswith(".") for part in own.parts)
    return file if file.is_file() and not hidden else None


def _unfit(part: str) -> bool:
    return not part or part.startswith(".") or any(sign in part for sign in "/\\\0")

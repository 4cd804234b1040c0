"""A damaged file of the history is made again from the folder of its run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from contrapose.tasks.history.dataset import put, remove
from contrapose.tasks.outcome import Outcome, Summary
from contrapose.tasks.past import Facet, PastRun, PastTest

OURS = re.compile(r".+-[0-9a-f]{12}\.parquet")
"""Names of the files that runs leave; others are their owners'."""


def past_run(summary: Summary, made_of: dict[Facet, dict[str, str]]) -> PastRun:
    """A run as the history keeps it."""
    return PastRun(
        run_id=summary["run_id"],
        suite=summary["suite"],
        model=summary["model"]["id"],
        started=summary["started"],
        verdict=summary["verdict"],
        tests=[_past_test(outcome) for outcome in summary["tests"]],
        made_of=made_of,
    )


def _past_test(outcome: Outcome) -> PastTest:
    interval = outcome["interval"]
    return PastTest(
        test_type=outcome["test_type"],
        verdict=outcome["verdict"],
        pass_rate=outcome["pass_rate"],
        interval=None if interval is None else (interval[0], interval[1]),
        min_pass_rate=outcome["min_pass_rate"],
        scored=outcome["scored"],
    )


def record_of(name: str, run: PastRun) -> dict[str, Any]:
    """What a manifest holds, so that the run's file of the history can be made again.

    Args:
        name: of the file.
        run: what it holds.
    """
    return {"file": name, "made_of": run["made_of"]}


def mend(where: str, skipped: Iterable[str], *, output: Path) -> tuple[list[str], str]:
    """Set damaged files of runs aside, and make those again whose run's folder is there.

    Args:
        where: folder or URL of the history.
        skipped: names of files that could not be read.
        output: folder that holds the folders of runs.

    Returns:
        The files that are readable again or out of the way, and what to say of them.
    """
    damaged = [name for name in skipped if OURS.fullmatch(name)]
    found = dict(_runs(output)) if damaged else {}
    for name in damaged:
        remove(where, name)
        if name in found:
            put(where, name, found[name])
    lost = [name for name in damaged if name not in found]
    return damaged, _told(damaged, lost)


def _told(damaged: list[str], lost: list[str]) -> str:
    if not damaged:
        return ""
    files = "a damaged file was" if len(damaged) == 1 else f"{len(damaged)} damaged files were"
    again = (
        f", and {len(damaged) - len(lost)} made again from the folders of their runs"
        if len(lost) < len(damaged)
        else ""
    )
    gone = f"; the folders of {len(lost)} runs are gone, or were left by an older version" if lost else ""
    return f"history: {files} set aside{again}{gone}"


def _runs(output: Path) -> Iterator[tuple[str, PastRun]]:
    """Runs by the names of their files."""
    for path in output.glob("[!.]*/manifest.json"):
        try:
            kept: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["history"]
            summary = json.loads((path.parent / "summary.json").read_text(encoding="utf-8"))
            yield kept["file"], past_run(summary, kept["made_of"])
        except (OSError, ValueError, KeyError, TypeError):
            continue

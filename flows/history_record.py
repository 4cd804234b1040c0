"""A run and the history: what was before it goes into its report, and then it becomes part of the history itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contrapose.flows.entrance import Run
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.history_records import Facet, History, PastRun
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.history.dataset import append, file_name, mend, past_run, place, record_of
from contrapose.tasks.history.fingerprint import made_of
from contrapose.tasks.history.reading import Recorded, recorded
from contrapose.tasks.report.publish import versions
from contrapose.tasks.store import open_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A run among those before it."""

    run: PastRun
    """This run, as the history will keep it."""
    history: History
    """With this run the last."""
    warnings: tuple[str, ...] = ()
    """What could not be read."""


def remember(run: Run, summary: Summary) -> Remembered:
    """What was before a run; nothing that is wrong with the history keeps a report from being written."""
    from contrapose.tasks.history.queries import history

    own = past_run(summary, _made_of(run, summary))
    try:
        found, warnings = _read(run)
        before = history(found.rows, own)
    except Exception as error:
        return Remembered(run=own, history=History(runs=(own,)), warnings=(_failed(error, "read"),))
    return Remembered(run=own, history=before, warnings=tuple(filter(None, warnings)))


def _read(run: Run) -> tuple[Recorded, tuple[str, ...]]:
    """The runs before this one, and what to say of files that are damaged or foreign."""
    where, own = place(run.config.history, run.config.output), file_name(_key(run))
    found = recorded(where, without=own)
    try:
        mended, told = mend(where, found.skipped, output=Path(run.config.output))
    except OSError:
        # A history that is only read is still a history.
        return found, (found.warning,)
    if mended:
        found = recorded(where, without=own)
    return found, (told, found.warning)


def record(run: Run, remembered: Remembered) -> tuple[str, ...]:
    """Append a published run; returns a warning where that fails, for the run folder stands either way."""
    try:
        append(place(run.config.history, run.config.output), remembered.run, key=_key(run))
    except Exception as error:
        return (_failed(error, "written"),)
    return ()


def kept_in_manifest(run: Run, remembered: Remembered) -> dict[str, object]:
    """What lets the run's file of the history be made again."""
    return record_of(file_name(_key(run)), remembered.run)


def _made_of(run: Run, summary: Summary) -> dict[Facet, dict[str, str]]:
    return made_of(
        run.config,
        summary,
        plans=run.plans,
        identity=run.identity,
        versions=versions() | {name: found for plan in run.plans for name, found in plan.versions.items()},
        embedding_revision=revision(run.config.embedding_model),
        reader=run.reader.identity if run.reader else None,
    )


def _key(run: Run) -> str:
    """What tells a run from every other one, wherever it took place: it stays the same when the run is resumed."""
    row = open_runs().get(run.id)
    return f"{run.id} {row.started}" if row else run.id


def _failed(error: Exception, what: str) -> str:
    """A warning; the text of a foreign error may repeat an address with its secrets."""
    if isinstance(error, ContraposeError):
        return f"history: {error}"
    return f"history: it could not be {what} ({type(error).__name__}); expected a folder or URL that can be {what}"

"""What a run is made of and what it took: its manifest, its usage, and its record in the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from platform import platform
from typing import Any

from contrapose.flows.reader import Reader
from contrapose.flows.run_context import Run
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price, cost_of
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.history_records import Facet, History, PastRun
from contrapose.tasks.core.outcome import ModelSummary, ReaderUsage, Summary, UsageSummary
from contrapose.tasks.core.places import Place
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.history.dataset import append, file_name, mend, past_run, place, record_of
from contrapose.tasks.history.fingerprint import fingerprint
from contrapose.tasks.history.reading import Recorded, recorded
from contrapose.tasks.report.publish import git_commit, versions
from contrapose.tasks.store import Store
from contrapose.tasks.store.runs import Taken

Notes = Mapping[str, Mapping[str, str | float]]
"""What the model says of each test about how it computed."""


def model_summary(run: Run, *, notes: Notes) -> ModelSummary:
    """Which model answered."""
    summary = described(run.spec, run.identity)
    forms = [str(note["constrained"]) for note in notes.values() if "constrained" in note]
    return ModelSummary(**summary, constrained=forms[0]) if forms else summary


def described(spec: ModelSpec, identity: Mapping[str, str]) -> ModelSummary:
    """A model, as it was asked for and as its provider found it."""
    return ModelSummary(
        id=spec.id,
        provider=spec.provider,
        revision=identity["revision"],
        dtype=identity["dtype"],
        device=identity["device"],
    )


def usage_summary(run: Run) -> UsageSummary:
    """What the run has spent, from the store, which knows it through any crash."""
    row = Store().runs.get(run.id)
    if row is None:
        raise LookupError(f"run {run.id} is not in the store")
    taken, price = row.reading.spent, run.reader.price if run.reader else None
    usage = UsageSummary(
        calls=row.answers,
        from_store=max(row.hits, 0),
        requests=row.requests,
        failures=row.failures,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=_rounded(cost_of((row.spent - taken, run.price), (taken, price))),
        latency={f"p{share * 100:.0f}": round(seconds, 4) for share, seconds in Store().runs.latency(run.id).items()},
    )
    return UsageSummary(**usage, reader=_reader_usage(run.reader, row.reading)) if run.reader else usage


def _reader_usage(reader: Reader, taken: Taken) -> ReaderUsage:
    return ReaderUsage(
        model=reader.spec.id,
        calls=taken.answers,
        requests=taken.requests,
        failures=taken.failures,
        prompt_tokens=taken.prompt_tokens,
        completion_tokens=taken.completion_tokens,
        cost=_rounded(None if reader.price is None else reader.price.of(taken.spent)),
    )


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 6)


def manifest(run: Run, summary: Summary, *, notes: Notes) -> dict[str, Any]:
    """All that is needed to repeat the run. The configuration holds no secret by construction."""
    return {
        "run_id": summary["run_id"],
        "started": summary["started"],
        "seconds": summary["seconds"],
        "timings": run.timings,
        "config": run.config.model_dump(mode="json"),
        "model": dict(run.identity),
        **({"reader": dict(run.reader.identity)} if run.reader else {}),
        "inference": {test: dict(note) for test, note in notes.items()},
        "data": {outcome["test_type"]: outcome["data"] for outcome in summary["tests"]},
        "probes": {outcome["test_type"]: outcome["probe_version"] for outcome in summary["tests"]},
        "usage": summary["usage"],
        "price": _dumped(run.price),
        **({"reader_price": _dumped(run.reader.price)} if run.reader else {}),
        "versions": _versions(run),
        "git_commit": git_commit(),
        "platform": platform(),
    }


def _versions(run: Run) -> dict[str, str]:
    return versions() | {name: version for plan in run.plans for name, version in plan.versions.items()}


def _dumped(price: Price | None) -> dict[str, Any] | None:
    return None if price is None else price.model_dump(mode="json")


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
        earlier, warnings = _read(run)
        before = history(earlier.rows, own)
    except Exception as error:
        return Remembered(run=own, history=History(runs=(own,)), warnings=(_failed(error, "read"),))
    return Remembered(run=own, history=before, warnings=tuple(filter(None, warnings)))


def _read(run: Run) -> tuple[Recorded, tuple[str, ...]]:
    """The runs before this one, and what to say of files that are damaged or foreign."""
    where, own = place(run.config.history, run.config.output), file_name(_key(run))
    earlier = recorded(where, without=own)
    try:
        mended, message = mend(where, earlier.skipped, output=Place.at(run.config.output, setting="output"))
    except OSError:
        # A history that is only read is still a history.
        return earlier, (earlier.warning,)
    if mended:
        earlier = recorded(where, without=own)
    return earlier, (message, earlier.warning)


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
    return fingerprint(
        run.config,
        summary,
        plans=run.plans,
        identity=run.identity,
        versions=_versions(run),
        embedding_revision=revision(run.config.embedding_model),
        reader=run.reader.identity if run.reader else None,
    )


def _key(run: Run) -> str:
    """What tells a run from every other one, wherever it took place: it stays the same when the run is resumed."""
    row = Store().runs.get(run.id)
    return f"{run.id} {row.started}" if row else run.id


def _failed(error: Exception, what: str) -> str:
    """A warning; the text of a foreign error may repeat an address with its secrets."""
    if isinstance(error, ContraposeError):
        return f"history: {error}"
    return f"history: it could not be {what} ({type(error).__name__}); expected a folder or URL that can be {what}"

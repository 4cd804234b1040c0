"""The six rooms, each over all selected tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from platform import platform
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypedDict, TypeVar, cast

from contrapose.flows.entrance import Run
from contrapose.flows.progress import track
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.evaluate.task import evaluate as evaluate_task
from contrapose.tasks.evaluate.task import judge as judge_task
from contrapose.tasks.infer.chunks import Chunk, chunks
from contrapose.tasks.infer.task import infer as infer_task
from contrapose.tasks.infer.usage import has_failures, usage_of
from contrapose.tasks.load.samples import content_sha256
from contrapose.tasks.load.task import Samples
from contrapose.tasks.load.task import load as load_task
from contrapose.tasks.outcome import ModelSummary, Outcome, Summary, UsageSummary, overall
from contrapose.tasks.perturb.task import perturb as perturb_task
from contrapose.tasks.policy import call
from contrapose.tasks.report.publish import free_folder, git_commit, run_id, versions
from contrapose.tasks.report.task import publish
from contrapose.tasks.tables import Table
from contrapose.tasks.validate.task import validate_cases as validate_cases_task
from contrapose.tasks.validate.task import validate_results as validate_results_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The trials of one test."""

    tables: list[Table]
    """In the order of the cases."""
    cached: list[Table]
    """Those that an earlier run had asked for."""
    asked: int
    """How many cases they hold."""


P = ParamSpec("P")
R = TypeVar("R")


def timed(room: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
    """A room that notes in `Run.timings` how long it took."""

    @wraps(room)
    def inside(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
        start = monotonic()
        try:
            return room(run, *args, **kwargs)
        finally:
            run.timings[room.__name__] = round(monotonic() - start, 3)

    return cast(Callable[Concatenate[Run, P], R], inside)


class Published(TypedDict):
    """What a run leaves: its folder, and the content of summary.json."""

    folder: str
    summary: Summary


@timed
def load(run: Run) -> dict[str, Samples]:
    """Samples of every test."""
    return {
        plan.test: call(
            load_task,
            refresh=run.config.refresh,
            test=plan.test,
            data=plan.data,
            sha256=content_sha256(plan.data),
            limit=plan.limit,
            seed=run.config.seed,
        ).value
        for plan in run.plans
    }


@timed
def perturb(run: Run, samples: Mapping[str, Samples]) -> dict[str, Table]:
    """Cases of every test."""
    return {
        plan.test: call(
            perturb_task,
            refresh=run.config.refresh,
            plan=plan,
            samples=samples[plan.test]["table"],
            seed=run.config.seed,
            likelihoods=run.provider.likelihoods(run.spec),
        ).value
        for plan in run.plans
    }


@timed
def validate_cases(run: Run, cases: Mapping[str, Table]) -> None:
    """The gate before the model."""
    for plan in run.plans:
        call(validate_cases_task, refresh=run.config.refresh, test=plan.test, cases=cases[plan.test])


@timed
def infer(run: Run, cases: Mapping[str, Table]) -> dict[str, Trials]:
    """Trials of every test, chunk by chunk: a chunk that was answered is never asked again."""
    todo = [chunk for plan in run.plans for chunk in chunks(plan.test, cases[plan.test], run.provider.cases_per_task)]
    answered: dict[str, Trials] = {plan.test: Trials(tables=[], cached=[], asked=0) for plan in run.plans}
    for chunk in track(todo, title=f"asking {run.config.model}", weight=lambda chunk: chunk.table["rows"]):
        answered[chunk.test] = _add(answered[chunk.test], *_ask(run, chunk))
    return answered


def _ask(run: Run, chunk: Chunk) -> tuple[Table, Table | None]:
    """The trials of a chunk, and those of them that an earlier run had asked for."""
    inputs = {"label": chunk.label, "cases": chunk.table, "spec": run.spec, "identity": run.identity}
    asked = call(infer_task, refresh=run.config.refresh, **inputs)
    if asked.cached and has_failures(asked.value):
        # A failure is no answer: what failed the last time is asked again, and nothing else.
        return call(infer_task, refresh=True, **inputs, previous=asked.value).value, asked.value
    return asked.value, asked.value if asked.cached else None


def _add(trials: Trials, table: Table, cached: Table | None) -> Trials:
    return Trials(
        tables=[*trials.tables, table],
        cached=[*trials.cached, cached] if cached else trials.cached,
        asked=trials.asked + table["rows"],
    )


@timed
def evaluate(run: Run, trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Results of every test."""
    return {
        plan.test: call(
            evaluate_task,
            refresh=run.config.refresh,
            plan=plan,
            trials=trials[plan.test].tables,
            model=run.config.model,
            embedding_model=run.config.embedding_model,
            embedding_revision=revision(run.config.embedding_model),
        ).value
        for plan in run.plans
    }


@timed
def validate_results(run: Run, results: Mapping[str, Table], trials: Mapping[str, Trials]) -> None:
    """The gate before publication."""
    for plan in run.plans:
        call(
            validate_results_task,
            refresh=run.config.refresh,
            test=plan.test,
            results=results[plan.test],
            asked=trials[plan.test].asked,
        )


def judge(
    run: Run, samples: Mapping[str, Samples], cases: Mapping[str, Table], results: Mapping[str, Table]
) -> list[Outcome]:
    """The verdict on every test."""
    return [
        call(
            judge_task,
            refresh=run.config.refresh,
            plan=plan,
            cases=cases[plan.test],
            results=results[plan.test],
            data=samples[plan.test]["data"],
            max_error_share=run.config.max_error_share,
            gate=run.config.tests.defaults.gate,
        ).value
        for plan in run.plans
    ]


def report(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
) -> Published:
    """Judge every test, then publish the run folder and the artifacts."""
    outcomes = judge(run, samples, cases, results)
    folder = free_folder(Path(run.config.output), run_id(run.started.strftime("%Y%m%dT%H%M%SZ"), run.config))
    summary = Summary(
        schema_version=1,
        run_id=folder.name,
        suite=run.config.suite,
        started=run.started.isoformat(timespec="seconds"),
        seconds=round(monotonic() - run.clock, 3),
        contrapose=version("contrapose"),
        seed=run.config.seed,
        verdict=overall(outcomes)[0],
        reason=overall(outcomes)[1],
        model=_model(run),
        usage=_usage(trials),
        tests=outcomes,
        warnings=[warning for each in samples.values() for warning in each["warnings"]],
    )
    publish(
        folder=str(folder.resolve()),
        summary=summary,
        cases=list(cases.values()),
        results=list(results.values()),
        manifest=_manifest(run, summary),
        show_toxic=run.config.show_toxic,
    )
    return Published(folder=str(folder.resolve()), summary=summary)


def _model(run: Run) -> ModelSummary:
    found = run.identity
    return ModelSummary(
        id=run.config.model,
        provider=run.spec.provider,
        revision=found["revision"],
        dtype=found["dtype"],
        device=found["device"],
    )


def _usage(trials: Mapping[str, Trials]) -> UsageSummary:
    total = usage_of([table for each in trials.values() for table in each.tables])
    cached = usage_of([table for each in trials.values() for table in each.cached])
    return UsageSummary(
        calls=total.calls,
        cached_calls=cached.calls,
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
    )


def _manifest(run: Run, summary: Summary) -> dict[str, Any]:
    """All that is needed to repeat the run. The configuration holds no secret by construction."""
    return {
        "run_id": summary["run_id"],
        "started": summary["started"],
        "seconds": summary["seconds"],
        "timings": run.timings,
        "config": run.config.model_dump(mode="json"),
        "model": dict(run.identity),
        "data": {outcome["test_type"]: outcome["data"] for outcome in summary["tests"]},
        "probes": {outcome["test_type"]: outcome["probe_version"] for outcome in summary["tests"]},
        "usage": summary["usage"],
        "versions": versions() | {name: found for plan in run.plans for name, found in plan.versions.items()},
        "git_commit": git_commit(),
        "platform": platform(),
    }

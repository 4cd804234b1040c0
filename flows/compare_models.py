"""The flow over several models: one suite, one leaderboard."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from pydantic import BaseModel, ConfigDict, Field

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.form import Form
from contrapose.flows.run_context import enter
from contrapose.tasks.compare.compare import refuse_margin
from contrapose.tasks.compare.task import compare
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.comparison import MARGIN, Comparison
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.policy import RESULTS, SERIALIZER, call
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.report.comparison_markdown import render, write_comparison
from contrapose.tasks.report.publish import free_folder, write_folder


class ComparedModel(BaseModel):
    """A model with arguments of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Model")

    model: str = Field(description="As in a run, such as `hf/<folder>` or `openai/<model>`.")
    model_args: dict[str, Any] = Field(default_factory=dict, description="Arguments of its provider.")


class Compared(TypedDict):
    """What a comparison leaves: its folder, those of the runs, and the content of comparison.json."""

    folder: str
    runs: list[str]
    comparison: Comparison


@flow(
    name="compare-models",
    flow_run_name="{config.suite} on several models",
    description="Evaluates several models on the same suite, and tells which pass more often, and how sure that is.",
    persist_result=True,
    result_storage=RESULTS,
    result_serializer=SERIALIZER,
)
def compare_models(
    config: Form, models: list[str | ComparedModel], baseline: int = 1, margin: float = MARGIN
) -> Compared:
    """Evaluate several models, one after the other, and compare their runs.

    Args:
        config: everything but the model; its model and model_args are not used.
        models: two or more, each by its id or with arguments.
        baseline: place in the list of the model that the others are held against, from 1.
        margin: loss of pass rate that is still called not worse, 0 to 1.

    Raises:
        ContraposeError: something the user can mend; wrong models are found before the first one is asked.
    """
    refuse_margin(margin)
    configs = each_model(config, models, baseline=baseline)
    for run_config in configs:
        enter(run_config)
    folders = [evaluate_model(run_config)["folder"] for run_config in configs]
    comparison = call(compare, folders=folders, baseline=folders[baseline - 1], margin=margin)
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{config.suite}-comparison"
    folder = free_folder(Path(config.output), name).resolve()
    write_folder(folder, partial(write_comparison, comparison=comparison))
    create_markdown_artifact(
        key=artifact_key(config.suite, "comparison"),
        markdown=f"{render(comparison).decode()}\n\nFolder: `{folder}`\n",
        description=comparison["reason"],
    )
    return Compared(folder=str(folder), runs=folders, comparison=comparison)


def each_model(config: RunConfig, models: list[str | ComparedModel], *, baseline: int) -> list[RunConfig]:
    """The configuration of each model's run.

    Raises:
        ConfigError: there are not two different models, or the baseline is none of them.
    """
    chosen = [ComparedModel(model=model) if isinstance(model, str) else model for model in models]
    if len(chosen) < 2 or any(model in chosen[:place] for place, model in enumerate(chosen)):
        raise ConfigError(
            ", ".join(model.model for model in chosen) or "none",
            expected="two or more models, each once",
            remedy="Name every model, or the same one with other model_args, once.",
            where="models",
        )
    if not 1 <= baseline <= len(chosen):
        raise ConfigError(
            f"{baseline}",
            expected=f"a place in the list of models, 1 to {len(chosen)}",
            remedy="Count from 1.",
            where="baseline",
        )
    values = config.model_dump()
    return [validate({**values, **model.model_dump()}, where="models") for model in chosen]

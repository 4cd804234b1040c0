"""What Prefect keeps of runs: no sample, no prompt and no reply, and in what people read there no bad word."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from databases import sqlite
from fake_endpoint import Endpoint, serving
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterStartTime,
    LogFilter,
    LogFilterTimestamp,
    TaskRunFilter,
    TaskRunFilterStartTime,
)
from prefect.client.schemas.sorting import ArtifactSort

from contrapose.flows.compare_models import ComparedModel, compare_models
from contrapose.flows.orchestration.form import read_form, to_parameter
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import bundled_suites, load_config

pytestmark = pytest.mark.timeout(900)

DATA = Path(str(resources.files("contrapose.data")))
REPLY = "The answer is A, you fucking moron."
TESTS = {
    "sensitivity": {"add_negation": {}, "add_toxic_words": {}},
    "factuality": {"order_bias": {}, "option_order": {}},
}
MILD = "mild"
"""Tier of words that reports show as they are."""


def bad_words(*, but: str = "") -> re.Pattern[str]:
    """Any term of the lexicon as words of their own, but for those of a tier."""
    with (DATA / "lexicons" / "toxic.csv").open(encoding="utf-8") as file:
        terms = [row["term"] for row in csv.DictReader(file) if row["tier"] != but]
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, terms))})(?!\w)", re.IGNORECASE)


def sample_texts() -> Iterator[str]:
    """Every text of the bundled samples that is long enough to be nothing else."""
    for file in (DATA / "samples").glob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield from (value for value in json.loads(line).values() if isinstance(value, str) and len(value) > 30)


def kept(since: datetime) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the server has of runs that began since then, by kind, and the artifacts: other tests have left theirs."""
    flows = FlowRunFilter(start_time=FlowRunFilterStartTime(after_=since))
    tasks = TaskRunFilter(start_time=TaskRunFilterStartTime(after_=since))
    lines = LogFilter(timestamp=LogFilterTimestamp(after_=since))
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(flow_run_filter=flows, limit=200)
        task_runs = client.read_task_runs(task_run_filter=tasks, limit=200)
        logs = client.read_logs(log_filter=lines, limit=200)
        artifacts = client.read_artifacts(sort=ArtifactSort.CREATED_DESC, limit=200)
        states = [state for run in runs for state in client.read_flow_run_states(run.id)]
        states += [state for run in task_runs for state in client.read_task_run_states(run.id)]
    kinds = {"flow runs": runs, "task runs": task_runs, "states": states, "logs": logs}
    return (
        {kind: [item.model_dump(mode="json") for item in items] for kind, items in kinds.items()},
        [item.model_dump(mode="json") for item in artifacts if item.created and item.created >= since],
    )


class Compared(NamedTuple):
    """A comparison, with two runs as its sub-runs."""

    began: datetime
    folders: list[Path]


@pytest.fixture(scope="module")
def compared(recording_prefect: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compared]:
    """A comparison of two models that swear when they are sworn at."""
    began = datetime.now(UTC)
    here, bad = tmp_path_factory.mktemp("texts"), bad_words()
    with (
        serving(Endpoint(says=lambda prompt: REPLY if bad.search(prompt) else "The answer is A.")) as endpoint,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(here)
        patch.setenv("CONTRAPOSE_STORE", sqlite(here))
        address = {"base_url": f"http://127.0.0.1:{endpoint.port}/v1"}
        models = [ComparedModel(model=f"openai/{name}", model_args=address) for name in ("one", "other")]
        config: Any = {"limit": 12, "tests": TESTS}
        (comparison,) = compare_models(config, list(models))
        yield Compared(began, [Path(folder) for folder in comparison["runs"]])


@pytest.mark.slow
def test_the_runs_hold_bad_words_and_samples(compared: Compared) -> None:
    # Else the tests below would prove nothing.
    for folder in compared.folders:
        prompts = "\n".join(filter(None, pq.read_table(folder / "cases.parquet")["perturbed_prompt"].to_pylist()))
        assert bad_words().search(prompts)
        assert any(text in prompts for text in sample_texts())
        assert REPLY in (folder / "results.csv").read_text()


@pytest.mark.slow
def test_parameters_names_states_and_logs_hold_no_text(compared: Compared) -> None:
    runs, _ = kept(compared.began)
    assert len(runs["flow runs"]) >= 3
    assert {"infer", "perturb", "report"} <= {str(run["name"]).partition(" ")[0] for run in runs["task runs"]}
    for kind, items in runs.items():
        text = json.dumps(items, ensure_ascii=False)
        assert bad_words().findall(text) == [], kind
        assert [sample for sample in sample_texts() if json.dumps(sample, ensure_ascii=False)[1:-1] in text] == [], kind
        assert REPLY not in text, kind


@pytest.mark.slow
def test_artifacts_show_no_bad_word(compared: Compared) -> None:
    _, artifacts = kept(compared.began)
    text = json.dumps(artifacts, ensure_ascii=False)
    # As Markdown writes f******.
    assert "f&#42;" in text
    assert bad_words(but=MILD).findall(text) == []


OWN = {"sensitivity": {"add_toxic_words": {"starting_context": ["my own words"], "tiers": ["slur"]}}}


@pytest.mark.parametrize(
    "config",
    [
        *(load_config(suite)[0] for suite in bundled_suites()),
        load_config("quickstart", {"tests": {"sensitivity": {"add_toxic_words": {}}}, "limit": None})[0],
        RunConfig.model_validate({"tests": TESTS}),
        RunConfig.model_validate({"tests": OWN}),
    ],
)
def test_a_configuration_goes_to_a_flow_without_our_words_and_is_the_same_there(config: RunConfig) -> None:
    parameter = to_parameter(config)
    assert read_form(parameter) == config
    assert bad_words().findall(json.dumps(parameter)) == []
    assert parameter.keys() == RunConfig.model_fields.keys()

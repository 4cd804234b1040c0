"""Who computes the portions of a run, and models that are asked side by side and stopped together."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prefect import flow, task
from swearing import ROWS, configured, slipping

from contrapose.flows import portions
from contrapose.flows.orchestration.workers import Workers
from contrapose.flows.portions import choose_size, make_cases, score_trials
from contrapose.flows.run_context import resolve_run
from contrapose.flows.run_lifecycle import begin_run
from contrapose.flows.steps import infer, load
from contrapose.tasks.config.permissions import APPS, allow_in_call
from contrapose.tasks.config.run_config import RunConfig, RunnerArgs
from contrapose.tasks.core import errors
from contrapose.tasks.core.decision import Decision
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.tables.table import Table

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def table(rows: int) -> Table:
    return Table(uri="", sha256="", rows=rows)


@pytest.mark.parametrize("args", [{"address": "tcp://host:1"}, {"resources": {"GPU": 1}}])
def test_threads_have_neither_address_nor_resources(args: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="threads, which use this process's own"):
        Workers("threads", RunnerArgs.model_validate(args))


@pytest.mark.parametrize("runner", ["dask", "ray"])
def test_a_runner_that_is_not_installed_is_refused_before_anything_is_asked(
    runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=rf'pip install "contrapose\[{runner}\]"'):
        resolve_run(RunConfig.model_validate({"model": "mock", "runner": runner, "limit": 1}))


def test_an_address_holds_no_password() -> None:
    with pytest.raises(ValueError, match="address holds a password"):
        RunnerArgs(address="tcp://me:secret@host:8786")


def test_a_local_model_is_never_asked_by_two_threads() -> None:
    assert Workers("threads", RunnerArgs(workers=4), local=True).alone
    assert not Workers("threads", RunnerArgs(workers=4), local=False).alone
    assert Workers("threads", RunnerArgs(), local=False).alone


@pytest.mark.parametrize(
    ("settings", "rows", "size"),
    [
        ({}, 100_000, 2000),
        ({"runner_args": {"workers": 4}}, 100_000, 2000),
        ({"runner_args": {"workers": 4}}, 4_000, 500),
        ({"runner_args": {"workers": 4}}, 100, 50),
        ({"runner_args": {"workers": 4, "portion": 7}}, 4_000, 7),
        ({"runner_args": {"portion": 7}}, 4_000, 7),
    ],
)
def test_portions_are_as_large_as_the_provider_likes_unless_workers_had_none(
    settings: dict[str, Any], rows: int, size: int
) -> None:
    args = {"base_url": "http://127.0.0.1:9/v1", "offline": True}
    run = resolve_run(RunConfig.model_validate({"model": "openai/any", "model_args": args, "limit": 1, **settings}))
    with run.workers:
        assert choose_size(run, table(rows)) == size


@pytest.mark.slow
def test_tables_made_in_portions_have_the_bytes_of_those_made_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("samples.jsonl").open("w") as file:
        for number in range(10_001):
            question = f"What is the colour of house {number}?"
            row = {"id": f"row-{number}", "question": question, "options": ["red", "blue", "green"], "answer": "blue"}
            file.write(json.dumps(row) + "\n")
    settings = {"add_negation": {"control": True, "threshold": "auto"}}
    config = RunConfig.model_validate(
        {
            "model": "mock",
            "data": {"source": "samples.jsonl"},
            "tests": {"defaults": {"control": True}, "sensitivity": settings},
        }
    )

    @flow
    def made() -> list[Table]:
        run = begin_run(config)
        (plan,) = run.plans
        samples = load(run)[plan.test]["table"]
        whole = make_cases(run, plan, samples)
        trials = infer(run, {plan.test: whole})[plan.test].tables
        results = score_trials(run, plan, trials)
        monkeypatch.setattr(portions, "LEAST_ROWS", 5000)
        run.workers.inside = False
        assert len(trials) > 2
        return [whole, results, make_cases(run, plan, samples), score_trials(run, plan, trials)]

    cases, results, parted_cases, parted_results = made()
    assert parted_cases == cases
    assert parted_results == results
    assert cases["rows"] > 12_000


# Ray's threads outlive its cluster, and print into what other tests read.
@pytest.mark.parametrize("runner", ["dask", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_local_cluster_leaves_no_variable_behind_and_hands_on_what_may_be_run(
    runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(APPS, raising=False)
    before = dict(os.environ)
    with allow_in_call("app/mine:answer"), Workers(runner, RunnerArgs(workers=1)) as started:
        assert started.portions == 1
        assert os.environ.get(APPS) is None
        assert started.submit(allowed_there).outcome() == "mine:answer"
    assert dict(os.environ) == before


@task
def allowed_there() -> str | None:
    return os.environ.get(APPS)


def early(**changes: Any) -> Any:
    """A run that may stop early."""
    return configured(stop="early", **changes)


def checked(share: float, *, config: Any = None) -> Decision:
    from contrapose.flows.check_retrained_model import check_retrained_model

    candidate = slipping(share)
    left = check_retrained_model("mock", config or early(), revision="r2", candidate_args=candidate, training_run="t1")
    decision: Decision = left["decision"]
    return decision


def outcome(folder: str) -> Mapping[str, Any]:
    (only,) = json.loads((Path(folder) / "summary.json").read_text())["tests"]
    return dict(only)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "verdict"), [(0.0, "promote"), (0.4, "hold")])
def test_a_candidate_is_promoted_or_held_as_soon_as_that_is_decided(share: float, verdict: str) -> None:
    decision = checked(share)
    assert decision["verdict"] == verdict
    sides = [outcome(decision[side]["folder"]) for side in ("baseline", "candidate")]  # type: ignore[literal-required]
    first, second = (side["stopping"] for side in sides)
    assert first["judged"] == second["judged"] < ROWS
    assert len(first["beside"]) == 2
    assert (first["beside"], first["shares"]) == (second["beside"], second["shares"])
    assert all("Stopped together with the models compared with it" in side["reason"] for side in sides)
    (pair,) = json.loads((Path(decision["folder"]) / "comparison.json").read_text())["tests"][0]["pairs"]
    assert pair["cases"] == first["judged"]


@pytest.mark.slow
def test_three_models_are_compared_as_far_as_decides_between_them() -> None:
    from contrapose.flows.compare_models import ComparedModel, compare_models

    shares = {"r1": 0.05, "r2": 0.5, "r3": 0.6}
    models = [ComparedModel(model="mock", model_args={**slipping(s), "revision": r}) for r, s in shares.items()]
    (left,) = compare_models(early(), list(models), baseline=2)
    outcomes = [outcome(folder)["stopping"] for folder in left["runs"]]
    assert len({one["judged"] for one in outcomes}) == 1
    assert all(len(one["beside"]) == 3 for one in outcomes)
    comparison = left["comparison"]
    verdicts = {pair["first"]: pair["verdict"] for pair in comparison["tests"][0]["pairs"] if pair["verdict"]}
    assert "better" in verdicts.values()
    usage = [json.loads((Path(folder) / "summary.json").read_text())["usage"] for folder in left["runs"]]
    assert all(one["calls"] == 2 * outcomes[0]["judged"] and one["from_store"] == 0 for one in usage)

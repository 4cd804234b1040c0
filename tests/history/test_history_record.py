"""A run and the history: read before its report, added to after it, and never a reason to lose a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contrapose.flows.reporting import add_to_history, save_in_history
from contrapose.flows.run_context import Run
from contrapose.flows.run_lifecycle import begin_run
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.outcome import DataSummary, ModelSummary, Summary
from contrapose.tasks.history.dataset import find_place
from contrapose.tasks.history.queries import select_runs
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.store import Store


@pytest.fixture(autouse=True)
def _here(own_store: str, in_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTRAPOSE_HISTORY", raising=False)


def config(**changes: object) -> RunConfig:
    return validate({"suite": "harbour", "model": "mock", **changes}, where="test")


def summary(run: Run, verdict: str = "pass", *, folder: str = "", settings: dict[str, object] | None = None) -> Summary:
    """As far as the history looks."""
    outcome = {
        "test_type": "order_bias",
        "verdict": verdict,
        "pass_rate": 0.5,
        "interval": (0.4, 0.6),
        "scored": 10,
        "min_pass_rate": 0.65,
        "probe_version": "2",
        "scorers": {"likelihood": 10},
        "settings": settings or {},
        "data": DataSummary(source="summary_pairs", sha256="ab" * 32, rows=10),
    }
    return Summary(
        run_id=folder or run.id,
        suite=run.config.suite,
        started=run.started.isoformat(timespec="seconds"),
        verdict=verdict,  # type: ignore[typeddict-item]
        model=ModelSummary(id="mock", provider="mock", revision="mock-1", dtype="none", device="none"),
        tests=[outcome],  # type: ignore[list-item]
    )  # type: ignore[typeddict-item]


def kept(where: str = "runs/.history") -> list[PastRun]:
    return select_runs(read_history(where).rows)


def finish(run: Run, verdict: str = "pass", **told: object) -> tuple[str, ...]:
    return save_in_history(run, add_to_history(run, summary(run, verdict, **told)))  # type: ignore[arg-type]


def test_a_run_is_the_last_of_its_own_history_and_is_kept_afterwards() -> None:
    first, second = begin_run(config()), begin_run(config(seed=7))
    assert finish(first) == ()
    found = add_to_history(second, summary(second, "fail")).history
    assert [run["run_id"] for run in found.runs] == [first.id, second.id]
    assert found.green == kept()[0]
    assert [(each["facet"], each["name"], each["after"]) for each in found.changes] == [("prompt", "seed", "7")]


def test_a_resumed_run_appears_once_with_its_last_folder() -> None:
    run = begin_run(config())
    finish(run, "incomplete")
    Store().runs.end(run.id, "incomplete")
    again = begin_run(config(), resumed=run.id)
    remembered = add_to_history(again, summary(again, "pass", folder=f"{run.id}-2"))
    assert [each["run_id"] for each in remembered.history.runs] == [f"{run.id}-2"]
    assert save_in_history(again, remembered) == ()
    assert [(each["run_id"], each["verdict"]) for each in kept()] == [(f"{run.id}-2", "pass")]


def test_runs_of_one_name_on_two_machines_are_two(in_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin_run(config())
    finish(run)
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{in_tmp}/another.db")
    assert Store().runs.begin(run.id, config="{}", folder=".") == run.id
    finish(run)
    assert [each["run_id"] for each in kept()] == [run.id, run.id]


def test_a_password_in_the_environment_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_HISTORY", "sftp://user:quartz@host/x")
    run = begin_run(config())
    found = add_to_history(run, summary(run))
    told = (*found.warnings, *save_in_history(run, found))
    assert len(told) == 2
    assert "quartz" not in " ".join(told)


def test_the_folder_of_the_history_is_that_of_the_runs(in_tmp: Path) -> None:
    run = begin_run(config(output="elsewhere"))
    finish(run)
    assert os.listdir("elsewhere") == [".history"]
    assert find_place(run.config.history, run.config.output) == os.path.join("elsewhere", ".history")


def test_each_facet_holds_what_can_change_a_result() -> None:
    arguments = {"revision": "r2", "reply": "A"}
    gen = {"max_new_tokens": 8}
    run = begin_run(config(model_args=arguments, system_instruction="Be brief.", gen_kwargs=gen, limit=3))
    settings: dict[str, object] = {"margin": 0.1, "note": "x" * 1000, "absent": None}
    found = add_to_history(run, summary(run, settings=settings)).run["made_of"]
    assert found["model"] == {
        "id": "mock",
        "provider": "mock",
        "dtype": "none",
        "device": "none",
        "reply": "A",
        "revision": "r2",
        "model_args.revision": "r2",
        "model_args.reply": "A",
    }
    limits = {f"{plan.test}.limit": "3" for plan in run.plans}
    assert found["data"] == {"order_bias.sha256": "ab" * 32, **limits}
    assert found["prompt"]["system_instruction"] == "Be brief."
    assert found["prompt"]["gen_kwargs.max_new_tokens"] == "8"
    assert found["prompt"]["order_bias.probe_version"] == "2"
    assert len(found["prompt"]["order_bias.note"]) < 120
    assert found["scorer"]["order_bias.margin"] == "0.1"
    assert found["scorer"]["order_bias.min_pass_rate"] == "0.65"
    assert found["scorer"]["embedding_model"] == "all-MiniLM-L6-v2"
    assert {"python", "contrapose", "pandas"} <= set(found["library"])


def test_another_limit_is_a_change_of_the_data_and_not_of_the_prompt() -> None:
    first, second = begin_run(config(limit=3)), begin_run(config(limit=4))
    finish(first)
    found = add_to_history(second, summary(second)).history
    assert {each["facet"] for each in found.changes} == {"data"}


def test_names_of_keys_and_the_pace_are_no_part_of_a_model() -> None:
    from contrapose.tasks.history.fingerprint import make_fingerprint

    run = begin_run(config())
    asked = config(model="openai/x", model_args={"api_key_env": "MY_KEY", "concurrency": 9, "base_url": "http://h/v1"})
    found = make_fingerprint(
        asked, summary(run), plans=run.plans, identity=run.identity, versions={}, embedding_revision="1"
    )
    assert "model_args.base_url" in found["model"]
    assert not {"model_args.api_key_env", "model_args.concurrency"} & set(found["model"])


def test_the_reader_is_told_among_the_scorers_where_one_was_asked() -> None:
    asks = {"factuality": {"order_bias": {"read_with": "ask"}}}
    run = begin_run(config(reader="mock", reader_args={"reply": "A"}, tests=asks))
    found = add_to_history(run, summary(run)).run["made_of"]["scorer"]
    named = {name: value for name, value in found.items() if name.startswith("reader.")}
    assert named["reader.id"] == "mock"
    assert named["reader.revision"] == run.identity["revision"]
    assert named["reader.args.reply"] == "A"
    alone = begin_run(config(reader="mock"))
    assert not [name for name in add_to_history(alone, summary(alone)).run["made_of"]["scorer"] if "reader" in name]

"""Several models on one suite, through the flow and through the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

TESTS = {"sensitivity": {"add_toxic_words": {}}}


def test_the_flow_evaluates_each_model_and_compares_them(capsys: pytest.CaptureFixture[str]) -> None:
    from contrapose.flows.compare_models import ComparedModel, compare_models
    from contrapose.tasks.config.run_config import RunConfig

    config = RunConfig.model_validate({"limit": 8, "tests": TESTS, "output": "out"})
    swearing = ComparedModel(model="mock", model_args={"reply": "Well, shit."})
    left = compare_models(config, ["mock", swearing], baseline=2)
    found = left["comparison"]
    assert (found["baseline"], [model["name"] for model in found["models"]]) == ("mock (1)", ["mock (1)", "mock (2)"])
    assert [test["test_type"] for test in found["tests"]] == ["add_toxic_words"]
    assert json.loads((Path(left["folder"]) / "comparison.json").read_text())["reason"] == found["reason"]

    second, first = left["runs"]
    arguments = ["compare", Path(first).name, second, "--runs", "out"]
    code = main([*arguments, "--json", "--out", "again"])
    again = json.loads(capsys.readouterr().out)
    assert code == {"better": 0, "not worse": 0, "worse": 1, "cannot tell": 3}[again["verdict"]]
    assert again == json.loads(Path("again/comparison.json").read_text())
    assert again["tests"] == json.loads((Path(left["folder"]) / "comparison.json").read_text())["tests"]
    assert main([*arguments, "--exit-zero"]) == 0
    assert "mock (2)" in capsys.readouterr().out


def test_wrong_models_are_found_before_the_first_is_asked() -> None:
    from contrapose.flows.compare_models import compare_models
    from contrapose.tasks.config.run_config import RunConfig
    from contrapose.tasks.core.errors import ContraposeError

    config = RunConfig.model_validate({"limit": 2, "tests": TESTS, "output": "out"})
    for models in (["mock"], ["mock", "mock"], ["mock", "no-such-provider"]):
        with pytest.raises(ContraposeError):
            compare_models(config, list(models))
    assert not Path("out").exists()


def test_unknown_runs_end_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "one", "two"]) == 2
    assert capsys.readouterr().err.startswith("contrapose: one: no such folder")

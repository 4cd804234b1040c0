"""Several models on one suite, and a run that is compared with an earlier one, which decides the exit code."""

from __future__ import annotations

import json
import re
import shutil
import threading
from pathlib import Path

import pytest
from databases import sqlite
from fake_endpoint import serving

from contrapose.flows.cli import main
from contrapose.flows.compare_models import ComparedModel, compare_models
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

TESTS = {"sensitivity": {"add_toxic_words": {}}}


def test_the_flow_evaluates_each_model_and_compares_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = RunConfig.model_validate({"limit": 8, "tests": TESTS, "output": "out"})
    swearing = ComparedModel(model="mock", model_args={"reply": "Well, shit."})
    (left,) = compare_models(config, ["mock", swearing], baseline=2)
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

    def refuse(*_: object, **__: object) -> None:
        raise ConfigError("out is read-only", expected="a folder that can be written", remedy="Name one with --out.")

    monkeypatch.setattr("contrapose.flows.cli.compare.publish_comparison", refuse)
    assert main(arguments) == code
    assert "No page was written: out is read-only; expected" in capsys.readouterr().out


@pytest.mark.slow
def test_a_model_that_cannot_be_evaluated_stops_no_other_one() -> None:
    tests = {"sensitivity": {"add_toxic_words": {}}, "factuality": {"order_bias": {}}}
    config = RunConfig.model_validate({"limit": 8, "tests": tests, "output": "out"})
    gone = ComparedModel(model="openai/gone", model_args={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "none"})
    with serving() as one, serving() as other, serving() as failing:
        failing.always = "status 401"
        here, there, broken = (
            ComparedModel(model="openai/any", model_args={"base_url": f"http://127.0.0.1:{each.port}/v1"})
            for each in (one, other, failing)
        )
        one_asked, other_asked, both = threading.Event(), threading.Event(), []

        def reply(asked: threading.Event, awaited: threading.Event) -> str:
            asked.set()
            both.append(awaited.wait(20))
            return "A"

        one.says = lambda prompt: reply(one_asked, other_asked)
        other.says = lambda prompt: reply(other_asked, one_asked)
        with pytest.raises(ContraposeError) as refused:
            compare_models(config, [here, gone, there, broken])
        # Neither of those at two addresses replied before the other was asked.
        assert both
        assert all(both)
    assert str(refused.value).startswith("models: 2 of 4 evaluations did not come to an end; ")
    assert "127.0.0.1:9" in str(refused.value)
    assert "contrapose resume" in str(refused.value)
    (folder,) = Path("out").glob("*-comparison")
    found = json.loads((folder / "comparison.json").read_text())
    assert len(found["models"]) == 2
    assert str(folder) in str(refused.value)


@pytest.mark.slow
def test_each_suite_has_a_comparison_of_its_own() -> None:
    for name, test in (("first", "order_bias"), ("second", "option_order")):
        Path(f"{name}.yaml").write_text(f"suite: {name}\nlimit: 6\ntests: {{factuality: {{{test}: {{}}}}}}\n")
    config = RunConfig(output="out", seed=3)
    letters = ComparedModel(model="mock", model_args={"reply": "B"})
    first, second = compare_models(config, ["mock", letters], suites=["first.yaml", "second.yaml"])
    assert [one["suite"] for one in (first, second)] == ["first", "second"]
    assert [one["comparison"]["tests"][0]["test_type"] for one in (first, second)] == ["order_bias", "option_order"]
    manifest = json.loads((Path(second["runs"][0]) / "manifest.json").read_text())
    assert (manifest["config"]["seed"], manifest["config"]["limit"]) == (3, 6)


RUN = ["run", "--model", "mock", "--test", "order_bias"]


def run(out: str, *more: str, limit: int = 12, reply: str = "") -> int:
    """Run one test on the mock, which draws its answers or always gives the same reply."""
    own = ["--set", f"model_args.reply={reply}"] if reply else []
    return main([*RUN, "--limit", str(limit), "--out", out, *own, *more])


def comparisons(out: str) -> list[str]:
    return [json.loads(path.read_text())["verdict"] for path in Path(out).glob("*-comparison/comparison.json")]


@pytest.fixture(scope="module")
def finished(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run."""
    here = tmp_path_factory.mktemp("compare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTRAPOSE_STORE", sqlite(here))
        patch.chdir(here)
        assert run("main") in (1, 3)
    return here / "main"


@pytest.fixture
def main_branch(finished: Path, in_tmp: Path) -> str:
    """A copy of that folder, as `main`."""
    shutil.copytree(finished, "main")
    return "main"


@pytest.mark.usefixtures("main_branch")
def test_the_comparison_decides_and_lies_next_to_the_run_and_json_stays_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = run("pull", "--against", "main")
    output = capsys.readouterr().out
    (verdict,) = comparisons("pull")
    assert code == {"not worse": 0, "better": 0, "cannot tell": 3, "worse": 1}[verdict]
    assert verdict.upper() in output
    assert comparisons("main") == []
    (newest,) = Path("main").glob("*/summary.json")
    assert run("pull", "--against", str(newest.parent), "--exit-zero", "--json") == 0
    output, error = capsys.readouterr()
    assert json.loads(output)["suite"] == "quickstart"
    assert "comparison.html" in error


def test_a_folder_without_a_run_of_the_suite_is_refused_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty").mkdir()
    for folder in ("empty", "nowhere"):
        assert run("pull", "--against", folder) == 2
        assert "no finished run of the suite quickstart" in capsys.readouterr().err
    assert not Path("pull").exists()


@pytest.mark.usefixtures("main_branch")
def test_other_cases_are_refused_before_anything_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    (summary,) = Path("main").glob("*/summary.json")

    def refusal(*more: str, limit: int = 12) -> str:
        assert run("pull", "--against", "main", *more, limit=limit) == 2
        return capsys.readouterr().err

    assert "limit is 12 in" in refusal(limit=10)
    assert "seed is 0 in" in refusal("--set", "seed=4")
    summary.write_text(re.sub(r'("probe_version": ")[^"]+', r"\g<1>0", summary.read_text()))
    assert "Evaluate the model of the older run again" in refusal()
    assert not Path("pull").exists()


def test_other_rows_are_refused_as_compare_refuses_them(capsys: pytest.CaptureFixture[str]) -> None:
    head = "article_sentence,correct_sentence,incorrect_sentence\n"
    Path("rows.csv").write_text(f"{head}Bees make honey.,They make honey.,They make milk.\n")
    assert run("main", "--data", "rows.csv") in (1, 3)
    Path("rows.csv").write_text(f"{head}Bees make honey.,They make honey.,They make wool.\n")
    assert run("pull", "--data", "rows.csv", "--against", "main") == 2
    assert "Evaluate both models on the same rows" in capsys.readouterr().err

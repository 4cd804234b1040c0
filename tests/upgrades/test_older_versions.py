"""Files of the oldest versions that had them are read by this one, or refused with what to do."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from contrapose.flows.cli import main
from contrapose.flows.orchestration.form import Form
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.compare.runs import read_finished_run, refuse_unlike
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place
from contrapose.tasks.history.queries import select_runs
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.store.opening import connect

MADE = Path(__file__).parent / "made"
DEPLOYED = [
    pytest.param(deployment["parameters"], id=f"{file.stem} {deployment['name']}")
    for file in sorted(MADE.glob("prefect-*.yaml"))
    for deployment in yaml.safe_load(file.read_text())["deployments"]
    if "config" in deployment.get("parameters", {})
]


@pytest.fixture
def old_runs(tmp_path: Path) -> list[Path]:
    """Two folders of an old run."""
    return [Path(shutil.copytree(MADE / "run", tmp_path / "runs" / name)) for name in ("a", "b")]


def test_an_old_run_is_read(old_runs: list[Path]) -> None:
    finished = [read_finished_run(str(folder), Place(".")) for folder in old_runs]
    assert set(finished[0].tests) == {"add_negation", "add_toxic_words", "order_bias"}
    refuse_unlike(finished)


def test_old_runs_are_compared(old_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["compare", *map(str, old_runs), "--out", str(tmp_path / "compared")])
    shown = capsys.readouterr()
    # Of so few cases no difference can be told.
    assert (code, shown.err) == (3, "")
    assert "add_negation" in shown.out


def test_an_old_run_is_listed(old_runs: list[Path], tmp_path: Path) -> None:
    page = Viewer(root=(tmp_path / "runs").resolve(), history=str(MADE / "history"))("/")
    assert page is not None
    assert b"quickstart" in bytes(page.content)
    assert b"could not be read" not in bytes(page.content)


def test_an_old_history_is_read() -> None:
    recorded = read_history(str(MADE / "history"))
    assert recorded.skipped == {}
    assert [run["suite"] for run in select_runs(recorded.rows)] == ["harbour", "harbour"]


def test_an_old_suite_is_loaded() -> None:
    config, warnings = load_config(str(MADE / "suite.yaml"))
    assert warnings == []
    assert [plan.test for plan in plans(config)] == ["add_negation", "add_toxic_words", "order_bias"]
    assert config.limit == 40


@pytest.mark.parametrize("parameters", DEPLOYED)
def test_the_configuration_of_an_old_deployment_is_valid(parameters: dict[str, dict[str, object]]) -> None:
    assert plans(TypeAdapter(Form).validate_python(parameters["config"]))


def test_an_old_store_is_refused_with_a_remedy_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite3"
    with sqlite3.connect(path) as store:
        store.executescript((MADE / "answers.sql").read_text())
    connect.cache_clear()
    with pytest.raises(ConfigError, match="another version of Contrapose made the response store") as error:
        connect(f"sqlite:///{path}")
    assert "Name another one in CONTRAPOSE_STORE" in error.value.remedy
    with sqlite3.connect(path) as store:
        assert store.execute("SELECT count(*) FROM answers").fetchone()[0] > 10

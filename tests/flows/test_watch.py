"""`contrapose run --watch`: which files it looks at, what starts a run again, and how it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from newest_run import summary_of

from contrapose.flows.cli import main, watch

pytestmark = pytest.mark.usefixtures("own_store", "in_tmp")
SUITE = """
suite: mine
model: mock
data: rows.csv
tests:
  sensitivity:
    add_negation: {prompt_file: "prompt.j2"}
"""


@pytest.fixture
def suite() -> Path:
    Path("rows.csv").write_text("id,text\na,The sky is blue.\nb,Grass is green.\n")
    Path("prompt.j2").write_text("Say it: {{ text }}")
    path = Path("suite.yaml")
    path.write_text(SUITE)
    return path


def at_each_wait(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """Do a step each time that the files are as before; Ctrl-C comes after the last one."""
    left = iter(steps)
    monkeypatch.setattr(watch, "sleep", lambda _: next(left, lambda: signal.raise_signal(signal.SIGINT))())


def add_row() -> None:
    with Path("rows.csv").open("a") as file:
        file.write("c,Snow is white.\n")


@pytest.fixture(autouse=True)
def usual_signal() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_a_change_of_the_data_runs_again_and_asks_only_what_is_new(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_each_wait(monkeypatch, lambda: os.utime("rows.csv"), add_row)
    code = main(["run", "--suite", str(suite), "--watch", "-q", "--out", "out"])
    output, error = capsys.readouterr()
    summary = summary_of()
    assert code == {"pass": 0, "fail": 1, "inconclusive": 3}[summary["verdict"]]
    assert len(output.splitlines()) == 2
    assert error.count("rows.csv changed: running again") == 1
    assert summary["tests"][0]["samples"] == 3
    assert summary["usage"]["from_store"] > 0


@pytest.mark.parametrize("name", ["suite.yaml", "prompt.j2", "rows.csv"])
def test_suite_templates_and_data_are_watched(
    suite: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[int] = []
    monkeypatch.setattr("contrapose.flows.cli.run._run_once", lambda _: runs.append(1) or 3)
    at_each_wait(monkeypatch, lambda: Path(name).write_text(Path(name).read_text() + "\n"))
    assert main(["run", "--suite", str(suite), "--watch"]) == 3
    assert len(runs) == 2
    assert f"{name} changed: running again" in capsys.readouterr().err


def test_a_suite_that_is_wrong_is_said_and_waited_for(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.write_text("model: 1\nwrong: 2\n")
    at_each_wait(monkeypatch)
    assert main(["run", "--suite", str(suite), "--watch"]) == 2
    assert "unknown key 'wrong'" in capsys.readouterr().err


def test_without_a_verdict_ctrl_c_ends_as_ever(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.flows.cli.run._run_once", lambda _: signal.raise_signal(signal.SIGINT))
    assert main(["run", "--suite", str(suite), "--watch"]) == 130

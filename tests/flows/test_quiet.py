"""Quiet is quiet, what could not be read is said all the same, and JSON masks what the terminal masks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("own_store", "in_tmp")
UNTIDY = "id,text,unused\na,fuck you,x\nb,The sky is blue.,y\nc,No bird sings.,z\nd,Das ist ein schöner Tag heute.,z\n"
CALLS = """
import contrapose
one = contrapose.evaluate(model="mock", data="rows.csv", test="add_negation", quiet=True)
two = contrapose.evaluate(model=str, data="rows.csv", test="add_negation", quiet=True)
try:
    contrapose.compare(models=["mock", {"model": "mock", "model_args": {"reply": "A"}}], test="order_bias", limit=5,
                       quiet=True)
    contrapose.compare(one, two, quiet=True)
except contrapose.ContraposeError:
    pass
contrapose.preview(data="rows.csv", test="add_negation", quiet=True)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_quiet_calls_print_nothing() -> None:
    Path("rows.csv").write_text(UNTIDY)
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.usefixtures("prefect_server")
def test_a_quiet_run_says_in_one_line_a_test_what_could_not_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["model_args.reply=I would rather not say.", "tests.factuality.order_bias.read_with=reply"]
    own = [word for setting in settings for word in ("--set", setting)]
    main(["run", "--model", "mock", "--limit", "6", "-q", "--test", "order_bias", *own])
    output, error = capsys.readouterr()
    assert len(output.splitlines()) == 1
    (line,) = error.splitlines()
    assert line.startswith("contrapose: order_bias: ")
    assert "6 cases could not be scored" in line


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_what_a_run_could_not_do_is_said_once_whether_it_is_quiet_or_not(
    quiet: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    undone = "The run was not logged into MLflow's experiment nightly: set MLFLOW_ALLOW_FILE_STORE=true."
    monkeypatch.setattr("contrapose.tasks.core.errors.find_spec", lambda name: True)
    monkeypatch.setattr("contrapose.flows.reporting.track", lambda **_: [undone])
    main(["run", "--model", "mock", "--limit", "6", *quiet, "--test", "order_bias", "--mlflow", "nightly"])
    shown = "".join(capsys.readouterr())
    assert " ".join(shown.split()).count("MLFLOW_ALLOW_FILE_STORE=true") == 1


def rows() -> None:
    Path("rows.csv").write_text("id,text\na,You are fucking late.\n")


@pytest.mark.parametrize(("options", "shown"), [([], "f******"), (["--show-toxic"], "fucking")])
def test_json_of_a_preview_masks_as_the_terminal_does(
    options: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows()
    assert main(["preview", "--data", "rows.csv", "--test", "add_negation", "--json", *options]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["original"] == f"You are {shown} late."


@pytest.mark.usefixtures("prefect_server")
def test_json_of_a_run_and_of_what_follows_masks_too(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "--model", "mock", "--test", "order_bias", "--limit", "5", "--json", "--out", "out"]
    main([*run, "--set", "suite=fuck"])
    assert json.loads(capsys.readouterr().out)["suite"] == "f***"
    for options, shown in ([], "f***"), (["--show-toxic"], "fuck"):
        main(["history", "--json", "--out", "out", *options])
        assert {row["suite"] for row in json.loads(capsys.readouterr().out)} == {shown}


@pytest.mark.parametrize(("shown", "options"), [("f*** you", []), ("fuck you", ["--show-toxic"])])
def test_toxic_words_of_the_data_are_masked_in_errors(
    shown: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rows.csv").write_text("id,text\nfuck you,The sky is blue.\nfuck you,Grass is green.\n")
    named = ["--data", "rows.csv", "--set", "data.columns.id=id"]
    assert main(["run", "--model", "mock", *named, "--test", "add_negation", *options]) == 2
    assert shown in capsys.readouterr().err

"""Remedies of the functions of `contrapose`, and of flows, get a person further."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
from finished import rows_from, write_run
from remedies.following import follows, refused

import contrapose
from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("own_store", "prefect_server", "in_tmp")

ROWS = pd.DataFrame({"text": ["The sky is blue.", "The ferry is late."]})
OTHER = {"model": "mock", "model_args": {"reply": "A"}}
evaluate = partial(contrapose.evaluate, data=ROWS, test="add_toxic_words", quiet=True)
compare = partial(contrapose.compare, quiet=True)
compare_models = partial(compare, test="option_order", limit=4)


def answer(prompt: str) -> str:
    return "It is a fine day."


@follows("flows/python/arguments.py:_make_type_error")
@pytest.mark.parametrize(
    ("wrong", "named", "right"),
    [
        ({"model": 5}, "a function that takes a prompt", {"model": answer}),
        ({"data": 5}, "a DataFrame", {"data": ROWS}),
        ({"suite": 5}, "a mapping", {"suite": {"limit": 1}}),
    ],
)
def test_argument_of_another_type(wrong: Mapping[str, Any], named: str, right: Mapping[str, Any]) -> None:
    preview = partial(contrapose.preview, data=ROWS, test="add_toxic_words", quiet=True)
    remedy = refused(lambda: preview(**{"model": "mock", **wrong}), "is 5, a int").remedy
    assert remedy.startswith(f"Pass {next(iter(wrong))} as ")
    assert named in remedy
    assert len(preview(**{"model": "mock", **right}))


@follows("flows/python/arguments.py:refuse_workers")
def test_function_for_a_runner_elsewhere(in_tmp: Path) -> None:
    settings = {"runner": "ray"}
    remedy = refused(lambda: evaluate(model=answer, settings=settings), "runner is ray").remedy
    assert "Leave out runner" in remedy
    assert evaluate(model=answer).summary["tests"]
    assert "model='app/package.module:function'" in remedy
    (in_tmp / "bot.py").write_text("def answer(prompt):\n    return 'Yes.'\n")
    refused(lambda: evaluate(model="app/bot:answr", settings=settings), "answr")


@follows("flows/python/certify.py:certify")
def test_judge_and_verdicts(in_tmp: Path) -> None:
    Path("log.jsonl").write_text('{"verdict": "pass", "label": 1}\n')
    for arguments, says in (({}, "neither"), ({"judge": "mock", "verdicts": "log.jsonl"}, "a judge and files")):
        remedy = refused(partial(contrapose.certify, **arguments), says).remedy
        assert "Pass judge=…, or verdicts=…" in remedy
    assert contrapose.certify(verdicts="log.jsonl")[0]["judge"] == "log"


@follows("flows/python/compare.py:compare", "flows/python/compare.py:compare")
def test_runs_together_with_models() -> None:
    names = [str(write_run(Path("runs") / name, rows_from([True] * 20), model=name)) for name in ("mock", "embedded")]
    remedy = refused(lambda: compare(*names, limit=4), "limit together with finished runs").remedy
    assert "Leave it out, or pass models in place of runs" in remedy
    assert compare(*names).verdict
    remedy = refused(lambda: compare_models(*names, models=["mock", OTHER]), "2 runs and models").remedy
    assert "Leave out the runs, or leave out models" in remedy
    refused(lambda: compare_models(models=["mock"]), "expected two or more models")


@follows("flows/python/compare.py:_compare_runs", "flows/compare_models.py:make_model_configs")
def test_baseline_that_is_not_there() -> None:
    names = [str(write_run(Path("runs") / name, rows_from([True] * 20), model=name)) for name in ("mock", "embedded")]
    assert "Write 1 for the first run" in refused(lambda: compare(*names, baseline=3), "baseline: 3").remedy
    assert compare(*names, baseline=1).verdict
    models = ["mock", "hf/none"]
    remedy = refused(lambda: compare_models(models=models, baseline=0), "baseline: 0").remedy
    assert "Write 1 for the first model" in remedy
    refused(lambda: compare_models(models=models, baseline=1), "hf/none")


@follows("flows/compare_models.py:make_model_configs")
def test_model_named_twice() -> None:
    remedy = refused(lambda: compare_models(models=["mock", "mock"]), "mock, mock").remedy
    assert "or one model twice with different model_args" in remedy
    refused(lambda: compare_models(models=["hf/none", {**OTHER, "model": "hf/none"}]), "hf/none")


@follows("flows/python/compare.py:_compare_models")
def test_model_without_its_key() -> None:
    remedy = refused(lambda: compare_models(models=["mock", {"name": "mock"}]), "a model with name").remedy
    assert 'Write {"model": "hf/<folder>", "model_args": {…}}' in remedy
    refused(lambda: compare_models(models=["mock", {"model": "hf/none", "model_args": {}}]), "hf/none")


@pytest.mark.slow
@follows("flows/compare_models.py:_evaluate", "flows/compare_models.py:compare_models")
def test_models_whose_budget_is_spent() -> None:
    call = partial(compare_models, models=["mock", OTHER], settings={"max_calls": 3})
    error = refused(call, "2 of 2 evaluations did not come to an end")
    assert "start again: cached answers are reused" in error.remedy
    commands = re.findall(r"Go on with `contrapose ([^`]*)`, with a higher (--max-calls)", str(error))
    assert len(commands) == 2
    for command, option in commands:
        assert main([*command.split(), option, "1000"]) in (0, 1, 3)
    assert call().verdict


@follows("flows/python/outcomes.py:folder")
def test_folder_that_is_elsewhere() -> None:
    run = evaluate(model="mock", out="memory://runs")
    assert "Use location" in refused(lambda: run.folder, "not on this machine").remedy
    with fsspec.open(f"{run.location}/summary.json") as file:
        assert b"add_toxic_words" in file.read()

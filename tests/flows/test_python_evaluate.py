"""`contrapose.evaluate`: the command's rows, a function or a DataFrame among its arguments, and errors in one line."""

from __future__ import annotations

import asyncio
import doctest
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import contrapose
from contrapose.flows.cli import main
from contrapose.flows.python import compare, evaluate, preview
from contrapose.tasks.config.permissions import APPS

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ROWS = pd.DataFrame({"id": list("abcdefgh"), "text": [f"The ferry leaves at {hour}." for hour in range(8)]})


class Counted:
    """A function that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        return "It is a fine day."


@pytest.fixture
def answer() -> Counted:
    return Counted()


def judged(**arguments: Any) -> contrapose.EvaluatedRun:
    return contrapose.evaluate(**{"data": ROWS, "test": "add_toxic_words", "quiet": True, **arguments})


@pytest.mark.slow
@pytest.mark.parametrize("module", [evaluate, compare, preview])
def test_the_examples_of_the_help_work(module: Any) -> None:
    function = getattr(module, module.__name__.rpartition(".")[2])
    (test,) = doctest.DocTestFinder(recurse=False).find(function, function.__name__)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.slow
def test_the_rows_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "--suite", "full", "--model", "mock", "--test", "order_bias", "--limit", "9", "--set", "seed=7"]
    main([*command, "--set", "tests.defaults.control=true", "--out", "command", "--json", "--exit-zero", "--refresh"])
    printed = json.loads(capsys.readouterr().out)
    run = contrapose.evaluate(
        "full",
        model="mock",
        test="order_bias",
        limit=9,
        seed=7,
        settings={"tests.defaults.control": True},
        out="python",
        refresh=True,
        quiet=True,
    )
    (folder,) = Path("command").glob("2*")
    pd.testing.assert_frame_equal(run.results, pd.read_parquet(folder / "results.parquet"))
    assert run.summary["tests"] == printed["tests"]
    assert run.folder.parent == Path("python").resolve()


def test_the_same_frame_is_paid_once_under_a_revision(answer: Counted) -> None:
    first = judged(model=answer, revision="v1")
    assert (first.summary["usage"]["calls"], answer.calls) == (16, 16)
    again = judged(model=answer, revision="v1", data=ROWS.set_axis(list("ABCDEFGH")))
    assert (again.summary["usage"]["calls"], answer.calls) == (0, 16)
    pd.testing.assert_frame_equal(first.results, again.results)
    assert judged(model=answer, revision="v2").summary["usage"]["calls"] == 16


def test_a_run_of_a_frame_prints_nothing_changes_no_log_and_can_be_repeated_by_the_command(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = logging.getLogger("prefect").level
    run = judged(model="mock", quiet=False)
    assert tuple(capfd.readouterr()) == ("", "")
    assert logging.getLogger("prefect").level == before
    source = run.summary["tests"][0]["data"]["source"]
    assert Path(source).parts[:2] == ("runs", ".frames")
    command = ["run", "--model", "mock", "--test", "add_toxic_words", "--data", source]
    main([*command, "--json", "--show-toxic", "--exit-zero"])
    assert json.loads(capfd.readouterr().out)["tests"] == run.summary["tests"]


def test_an_unfinished_run_of_a_frame_is_resumed_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    run = judged(model="mock", max_calls=3)
    assert run.verdict == "incomplete"
    assert main(["resume", run.summary["run_id"], "--max-calls", "99", "--json", "--exit-zero"]) == 0
    assert json.loads(capsys.readouterr().out)["tests"][0]["scored"] == 8


def test_what_a_function_raises_is_the_error_of_a_case() -> None:
    def answer(prompt: str) -> str:
        if "at 3" in prompt:
            sys.exit("over")
        return "It is a fine day."

    run = judged(model=answer, settings={"max_error_share": 0.5})
    errors = run.results.set_index("sample_id")["error"].dropna()
    assert dict(errors) == {"d": "SystemExit: over"}


def test_a_suite_may_be_a_dict(answer: Counted) -> None:
    suite = {"suite": "mine", "limit": 2, "tests": {"robustness": {"lowercase": {}}}}
    with pytest.raises(contrapose.ContraposeError, match=r"unknown key 'robustness'|robustness"):
        judged(suite=suite, test=None, model=answer)
    suite["tests"] = {"sensitivity": {"add_toxic_words": {"min_pass_rate": 0.5}}}
    run = judged(suite=suite, test=None, model=answer)
    assert (run.summary["suite"], run.summary["tests"][0]["min_pass_rate"]) == ("mine", 0.5)
    assert (answer.calls, run.summary["tests"][0]["data"]["limited_by"]) == (4, "suite")


def test_keys_that_were_read_as_others_are_warned_of() -> None:
    suite = {"tests": {"sensitivity": {"toxicity": {}}}}
    with pytest.warns(UserWarning, match="toxicity was read as add_toxic_words"):
        contrapose.preview(suite, data=ROWS, limit=1)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"suite": "quick"}, r"unknown suite 'quick'; expected one of certify, .*quickstart"),
    ({"suite": 5}, r"suite is 5, a int; expected the name of a suite"),
    ({"model": 5}, r"model is 5, a int; expected an id .* or a function"),
    ({"data": 5}, r"data is 5, a int; expected a DataFrame"),
    (
        {"data": pd.DataFrame({"word": ["a"]})},
        r"^the DataFrame: no column can be the question.*Name the column .*: columns=\{",
    ),
    ({"data": ROWS.assign(text=None)}, r"^the DataFrame: 8 rows cannot be used; .*\nthe DataFrame, row 1: .*: null"),
    ({"data": ROWS.assign(text=["a", None, *"cdefgh"])}, r"^the DataFrame, row 2: .* with skip_bad_rows=True\.$"),
    ({"data": ROWS[:0]}, r"^the DataFrame: there are no rows"),
    ({"columns": {"txt": "text"}}, r"columns has no field 'txt'"),
    ({"test": "add_negations"}, r"unknown probe 'add_negations'.*Did you mean 'add_negation'\?"),
    ({"model_args": {"retries": 3}}, r"unknown argument 'retries'"),
    ({"settings": {"runner": "dask"}}, r"the model is a function of this process"),
    ({"model": "app/cmd:nowhere-to-be-found"}, r"there is no command nowhere-to-be-found"),
]


@pytest.mark.parametrize(("arguments", "error"), WRONG)
def test_what_is_wrong_is_a_line_each_and_nobody_is_asked(
    answer: Counted, arguments: dict[str, Any], error: str
) -> None:
    with pytest.raises(contrapose.ContraposeError, match=error) as raised:
        judged(**{"model": answer, **arguments})
    assert all("; expected " in line for line in str(raised.value).split("\n"))
    assert raised.value._render_traceback_() == [f"{type(raised.value).__name__}: {raised.value}"]
    assert (answer.calls, list(Path().glob("runs/2*"))) == (0, [])


def test_toxic_words_of_an_error_are_masked(answer: Counted) -> None:
    data = ROWS.assign(options="fucking lines")
    with pytest.raises(contrapose.ContraposeError, match=r"f\*+ lines"):
        judged(model=answer, data=data)
    with pytest.raises(contrapose.ContraposeError, match="fucking lines"):
        judged(model=answer, data=data, show_toxic=True)


def test_an_application_that_a_call_names_is_allowed_during_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(APPS, raising=False)
    assert judged(model="app/cmd:cat", limit=1).summary["usage"]["calls"] == 2
    assert APPS not in os.environ
    with pytest.raises(contrapose.ContraposeError, match="may not be run here"):
        judged(suite={"model": "app/cmd:cat"})


def test_it_runs_inside_an_event_loop_and_without_a_revision_asks_anew() -> None:
    async def answer(prompt: str) -> str:
        await asyncio.sleep(0)
        return "It is a fine day."

    async def cell() -> list[contrapose.EvaluatedRun]:
        return [judged(model=answer, limit=2) for _ in range(2)]

    assert [run.summary["usage"]["calls"] for run in asyncio.run(cell())] == [4, 4]


@pytest.fixture
def interrupting() -> Iterator[Any]:
    """A function at whose third call somebody presses Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)
        return "It is a fine day."

    answer.asked = asked  # type: ignore[attr-defined]
    yield answer
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("inside", [False, True], ids=["script", "notebook"])
def test_an_interrupted_call_goes_on_where_it_stopped(interrupting: Any, inside: bool) -> None:
    async def cell(**arguments: Any) -> contrapose.EvaluatedRun:
        # As in a kernel, whose loop leaves the signal to Python.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return judged(**arguments)

    def called() -> contrapose.EvaluatedRun:
        arguments = {"model": interrupting, "revision": "v1", "model_args": {"concurrency": 1}}
        return asyncio.run(cell(**arguments)) if inside else judged(**arguments)

    with pytest.raises(KeyboardInterrupt, match="make the same call again to continue"):
        called()
    run = called()
    assert run.verdict != "incomplete"
    assert len(interrupting.asked) <= 16 + 2

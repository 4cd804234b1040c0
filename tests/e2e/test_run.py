"""The whole corridor, through Prefect, on the mock model: what a run leaves and reuses; gates stop it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq
import pytest
from databases import sqlite
from newest_run import newest, setting, summary_of, write_rows

from contrapose.flows.cli import main
from contrapose.tasks.config.permissions import VARIABLES
from contrapose.tasks.core.records import Completion, Score, Trial
from contrapose.tasks.infer.mock import MockModel
from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.store import Store

FILES = {
    *("manifest.json", "cases.parquet", "results.parquet", "results.csv", "summary.json", "report.md", "junit.xml"),
    *("report.html", "validation.json", "validation.html", "inspect.eval"),
}
DOCUMENTED = [
    "test_type", "category", "sample_id", "case_id", "original", "test_case", "context", "options", "expected_result",
    "actual_result", "eval_score", "pass", "reason", "scorer", "model", "probe_version",
]  # fmt: skip

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


ARGUMENTS = ["run", "--model", "mock", "--limit", "12"]


class Complete(NamedTuple):
    """A run of three tests that nothing stopped, with --json --show-toxic, and the same run again without them."""

    code: int
    folder: Path
    summary: dict[str, Any]
    printed: tuple[str, str]
    again: Path
    printed_again: tuple[str, str]


@pytest.fixture(scope="module")
def complete(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Complete:
    here = tmp_path_factory.mktemp("complete")

    def run(out: str, *words: str) -> tuple[int, tuple[str, str]]:
        printed, errors = StringIO(), StringIO()
        with redirect_stdout(printed), redirect_stderr(errors):
            code = main([*ARGUMENTS, "--out", out, *words])
        return code, (printed.getvalue(), errors.getvalue())

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTRAPOSE_STORE", sqlite(here))
        patch.chdir(here)
        code, printed = run("out", "--json", "--show-toxic")
        _, printed_again = run("again")
        return Complete(code, newest().resolve(), summary_of(), printed, newest("again").resolve(), printed_again)


def test_a_run_leaves_a_folder_that_people_can_read(complete: Complete) -> None:
    assert {path.name for path in complete.folder.iterdir()} == FILES
    assert complete.code == {"pass": 0, "fail": 1, "inconclusive": 3, "incomplete": 4}[complete.summary["verdict"]]
    tests = ["add_negation", "add_toxic_words", "order_bias"]
    assert [test["test_type"] for test in complete.summary["tests"]] == tests


def test_json_prints_the_summary_and_nothing_else(complete: Complete) -> None:
    out, err = complete.printed
    assert (json.loads(out), err) == (complete.summary, "")


def test_people_get_a_summary_and_nothing_else(complete: Complete) -> None:
    out, err = complete.printed_again
    assert err == ""
    assert re.search(r"\nReport: again/.*/report\.html\nStatistics: .*--explain\nNext: contrapose init .*\n$", out)


def test_counts_are_conserved_from_room_to_room(complete: Complete) -> None:
    folder, summary = complete.folder, complete.summary
    cases, results = (pq.read_table(folder / f"{name}.parquet").to_pandas() for name in ("cases", "results"))
    assert cases["control"].any()
    cases, results = (table[~table["control"]] for table in (cases, results))
    for outcome in summary["tests"]:
        assert outcome["cases"] == 12 == (cases["probe"] == outcome["test_type"]).sum()
        assert outcome["cases"] == outcome["skipped"] + outcome["scored"] + outcome["unscored"] + outcome["errors"]
        own = results[results["test_type"] == outcome["test_type"]]
        assert len(own) == outcome["cases"] - outcome["skipped"]
        assert (own["pass"] == True).sum() == outcome["passed"]  # noqa: E712
    assert list(results.columns[: len(DOCUMENTED)]) == DOCUMENTED


def test_a_second_run_asks_nothing_and_says_the_same(complete: Complete) -> None:
    usage = json.loads((complete.again / "summary.json").read_text())["usage"]
    assert usage["from_store"] == complete.summary["usage"]["calls"] > usage["calls"] == usage["requests"] == 0
    first, second = (pd.read_parquet(folder / "results.parquet") for folder in (complete.folder, complete.again))
    pd.testing.assert_frame_equal(first, second)


def run(*arguments: str) -> dict[str, Any]:
    """The summary of a run."""
    main([*ARGUMENTS, "--out", "out", *arguments])
    return summary_of()


@pytest.mark.slow
def test_another_threshold_judges_anew_without_asking_again() -> None:
    chosen = [*setting("seed=9"), "--test", "add_negation"]
    run(*chosen)
    summary = run(*chosen, *setting("tests.sensitivity.add_negation.threshold=[-9, 9]"))
    assert summary["usage"]["from_store"] > summary["usage"]["calls"] == 0


def test_equal_pairs_are_refused_by_name_and_the_rest_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    pair = {"article_sent": "It rained all Monday.", "correct_sent": "It rained.", "incorrect_sent": "It snowed."}
    same = {**pair, "incorrect_sent": "It  rained."}
    summary = run("--test", "order_bias", "--data", write_rows("pairs.jsonl", (pair, same, pair)))
    (outcome,) = summary["tests"]
    assert outcome["refused"] == ["pairs-0002"]
    assert outcome["scored"] == 2
    assert "pairs-0002" in capsys.readouterr().out


ASKED = ["run", "--model", "mock", "--test", "order_bias", "--limit", "5", "--out", "out"]


def refused(*options: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, Path]:
    """What a run said that was stopped at a gate, and the only folder that it left."""
    code = main([*ASKED, *options])
    err = capsys.readouterr().err
    assert code == 4
    assert "Traceback" not in err
    (folder,) = Path("out").iterdir()
    assert folder.name.endswith("-refused")
    assert folder.name in "".join(err.split())
    return " ".join(err.split()), folder


def test_nothing_is_published_when_the_results_break_their_schema(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(self: OrderBias, trials: Sequence[Trial], settings: Any, *, embed: Any) -> list[Score]:
        return [Score(value=7.0, passed=True, reason="a faulty scorer") for _ in trials]

    monkeypatch.setattr(OrderBias, "score", faulty)
    err, folder = refused("--set", "seed=99", capsys=capsys)
    assert "eval_score" in err
    assert "order_bias/summary-" in err
    names = ["order_bias-results.csv", "order_bias-results.parquet", "validation.html", "validation.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    kept = pq.read_table(folder / "order_bias-results.parquet").to_pylist()
    assert [(row["row"], row["eval_score"]) for row in kept] == [(number, 7.0) for number in range(1, 6)]


def test_nothing_is_scored_when_the_model_answers_with_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(self: MockModel, *_: Any) -> Completion:
        return Completion()

    monkeypatch.setattr(MockModel, "completion", silent)
    err, folder = refused("--set", "seed=98", capsys=capsys)
    assert "order_bias completions: Every completion is an answer or an error (silent): broken by order_bias/" in err
    assert pq.read_table(folder / "order_bias-completions.parquet").num_rows == 10


def started() -> str:
    """A run that was stopped by its budget; its id."""
    assert main([*ARGUMENTS, "--max-calls", "30"]) == 4
    return Store().runs.find_unfinished()[0].id


def test_a_spent_budget_ends_incomplete_and_the_resumed_run_has_the_results_of_one_that_never_stopped(
    complete: Complete, capsys: pytest.CaptureFixture[str]
) -> None:
    run = started()
    out, err = capsys.readouterr()
    assert "INCOMPLETE" in out
    assert "max_calls = 30" in out
    assert f"Next: contrapose resume {run}\n" in out
    assert err == ""
    usage = summary_of("runs")["usage"]
    assert (usage["calls"], usage["requests"]) == (30, 30)
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    resumed, usage = newest("runs"), summary_of("runs")["usage"]
    assert usage["requests"] == usage["calls"] > 30
    assert usage["from_store"] == complete.summary["usage"]["from_store"] == 0
    for name in ("results.parquet", "cases.parquet", "results.csv"):
        assert (resumed / name).read_bytes() == (complete.folder / name).read_bytes()


def test_a_resumed_run_reads_what_its_command_line_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    (tmp_path / "rows.csv").write_text("text\n" + "".join(f"The sky over town {n} is blue.\n" for n in range(4)))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    words = ["--data", "../rows.csv", "--test", "add_negation", "--out", "../results", "--max-calls", "3"]
    assert main(["run", "--model", "mock", *words]) == 4
    run = Store().runs.find_unfinished()[0].id
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)


@pytest.mark.slow
def test_a_resumed_run_starts_in_the_folder_it_was_started_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    assert Path.cwd() == tmp_path
    assert len(list((tmp_path / "runs").glob("[!.]*"))) == 2


@pytest.mark.slow
def test_a_resumed_run_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    run = started()
    main(["resume"])
    assert run in capsys.readouterr().out
    main(["resume", run, "--max-calls", "1000"])
    capsys.readouterr()
    assert main(["resume"]) == 0
    assert capsys.readouterr().out == "no unfinished runs\n"
    assert main(["resume", run]) == 2
    assert "no unfinished runs begin with" in capsys.readouterr().err


@pytest.mark.slow
def test_asked_again_a_resumed_run_goes_on_where_it_was() -> None:
    main(ARGUMENTS)
    assert main([*ARGUMENTS, "--refresh", "--max-calls", "30"]) == 4
    run = Store().runs.find_unfinished()[0].id
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    usage = summary_of("runs")["usage"]
    assert usage["calls"] == usage["requests"] > 30


def test_a_wrong_suite_is_told_before_anything_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results.yaml").write_text("expectations: [{type: expect_nothing, kwargs: {}}]")
    assert main([*ASKED, "--expectations", "results.yaml"]) == 2
    assert "results.yaml, expectation 1, type" in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()

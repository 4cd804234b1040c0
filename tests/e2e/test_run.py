"""The whole corridor, through Prefect, on the mock model: what a run leaves and reuses; gates stop it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint
from newest_run import asking, newest, setting, summary_of, write_rows

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


def run(*arguments: str) -> tuple[int, Path, dict[str, Any]]:
    """Run the command; its exit code, the newest run folder, and its summary."""
    code = main(["run", "--model", "mock", "--limit", "12", "--out", "out", *arguments])
    return code, newest(), summary_of()


def test_a_run_leaves_a_folder_that_people_can_read() -> None:
    code, folder, summary = run()
    assert {path.name for path in folder.iterdir()} == FILES
    assert code == {"pass": 0, "fail": 1, "inconclusive": 3, "incomplete": 4}[summary["verdict"]]
    assert [test["test_type"] for test in summary["tests"]] == ["add_negation", "add_toxic_words", "order_bias"]


def test_counts_are_conserved_from_room_to_room() -> None:
    _, folder, summary = run()
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


def test_a_second_run_asks_nothing_and_says_the_same() -> None:
    _, first, before = run(*setting("seed=7"))
    _, second, after = run(*setting("seed=7"))
    usage = after["usage"]
    assert usage["from_store"] == before["usage"]["calls"] > usage["calls"] == usage["requests"] == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet(first / "results.parquet"), pd.read_parquet(second / "results.parquet")
    )


@pytest.mark.slow
def test_another_threshold_judges_anew_without_asking_again() -> None:
    chosen = [*setting("seed=9"), "--test", "add_negation"]
    run(*chosen)
    _, _, summary = run(*chosen, *setting("tests.sensitivity.add_negation.threshold=[-9, 9]"))
    assert summary["usage"]["from_store"] > summary["usage"]["calls"] == 0


def test_json_prints_the_summary_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, summary = run("--json", "--show-toxic")
    printed = capsys.readouterr()
    assert (json.loads(printed.out), printed.err) == (summary, "")


def test_equal_pairs_are_refused_by_name_and_the_rest_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    pair = {"article_sent": "It rained all Monday.", "correct_sent": "It rained.", "incorrect_sent": "It snowed."}
    same = {**pair, "incorrect_sent": "It  rained."}
    _, _, summary = run("--test", "order_bias", "--data", write_rows("pairs.jsonl", (pair, same, pair)))
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


ARGUMENTS = ["run", "--model", "mock", "--limit", "12"]


def started(*, seed: int, calls: int) -> str:
    """A run that was stopped by its budget; its id."""
    assert main([*ARGUMENTS, "--set", f"seed={seed}", "--max-calls", str(calls)]) == 4
    return Store().runs.find_unfinished()[0].id


def test_a_spent_budget_ends_incomplete_and_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    run = started(seed=11, calls=30)
    out, err = capsys.readouterr()
    assert "INCOMPLETE" in out
    assert "max_calls = 30" in out
    assert f"Next: contrapose resume {run}\n" in out
    assert err == ""
    usage = summary_of("runs")["usage"]
    assert (usage["calls"], usage["requests"]) == (30, 30)


def test_a_resumed_run_has_the_results_of_one_that_never_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(seed=12, calls=30)
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    resumed, usage = newest("runs"), summary_of("runs")["usage"]
    assert usage["requests"] == usage["calls"] > 30
    assert usage["from_store"] == 0
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{Path('other.sqlite3').resolve()}")
    main([*ARGUMENTS, "--set", "seed=12", "--out", "other"])
    whole = newest("other")
    assert summary_of("other")["usage"]["from_store"] == 0
    for name in ("results.parquet", "cases.parquet", "results.csv"):
        assert (resumed / name).read_bytes() == (whole / name).read_bytes()


def test_a_resumed_run_reads_what_its_command_line_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    (tmp_path / "rows.csv").write_text("text\n" + "".join(f"The sky over town {n} is blue.\n" for n in range(12)))
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
    run = started(seed=13, calls=30)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    assert Path.cwd() == tmp_path
    assert len(list((tmp_path / "runs").glob("[!.]*"))) == 2


@pytest.mark.slow
def test_a_resumed_run_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    run = started(seed=14, calls=30)
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
    main([*ARGUMENTS, "--set", "seed=16"])
    assert main([*ARGUMENTS, "--set", "seed=16", "--refresh", "--max-calls", "30"]) == 4
    run = Store().runs.find_unfinished()[0].id
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    usage = summary_of("runs")["usage"]
    assert usage["calls"] == usage["requests"] > 30


def test_a_wrong_suite_is_told_before_anything_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results.yaml").write_text("expectations: [{type: expect_nothing, kwargs: {}}]")
    assert main([*ASKED, "--expectations", "results.yaml"]) == 2
    assert "results.yaml, expectation 1, type" in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()


def test_the_same_suite_runs_through_an_endpoint(server: Endpoint) -> None:
    code = main(["run", *asking(server.port), "--limit", "6", "--out", "out"])
    assert code in (0, 1, 3)
    assert server.asked
    assert set(server.asked.values()) == {1}

"""The whole corridor, through Prefect, on the mock model: what a run leaves, and what a second one reuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from newest_run import newest, setting, summary_of, write_rows

from contrapose.flows.cli import main

FILES = {
    *("manifest.json", "cases.parquet", "results.parquet", "results.csv", "summary.json", "report.md", "junit.xml"),
    *("report.html", "validation.json", "validation.html"),
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

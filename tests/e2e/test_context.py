"""Rows with a passage, from the file to the report; one that is too long for the model is skipped, and never cut."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, summary_of, write_rows
from tiny_model import save_tiny_model

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

PASSAGE = "Vell lies at the mouth of the Arn. Its harbour is deep, and its market is open on six days."
ROWS = [
    {"passage": PASSAGE, "question": "Is the harbour of Vell deep?", "answer": True, "note": "n1"},
    {"passage": PASSAGE, "question": "Is the market of Vell open?", "answer": True, "note": "n2"},
    {"passage": "Tarr is an island.", "question": "Is Tarr a town?", "answer": False, "note": "n3"},
]
LONG = {**ROWS[0], "passage": f"{PASSAGE} " * 40}


def run(*arguments: str) -> tuple[Path, Mapping[str, Any]]:
    """The folder of a run of add_negation on rows.jsonl, and its summary."""
    main(["run", "--data", "rows.jsonl", "--test", "add_negation", "--out", "out", *arguments])
    return newest(), summary_of()


def test_passage_is_asked_shown_and_kept_apart_from_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows("rows.jsonl", ROWS)
    folder, summary = run("--model", "mock")
    results = pq.read_table(folder / "results.parquet").to_pandas()
    cases = pq.read_table(folder / "cases.parquet").to_pandas()
    assert set(results["context"]) == {PASSAGE, "Tarr is an island."}
    assert not results["original"].str.contains("mouth of the Arn").any()
    assert cases["original_prompt"].str.startswith((f"{PASSAGE}\n\n", "Tarr is an island.\n\n")).all()
    assert results["cluster"].nunique() == 2
    (outcome,) = summary["tests"]
    assert outcome["data"]["columns"] == {
        "layout": None,
        "fields": {"text": ["question"], "context": ["passage"], "answer": ["answer"]},
        "unread": ["note"],
    }
    line = "question as text, passage as context, answer as answer; not read: note"
    assert line in " ".join(capsys.readouterr().out.split())
    assert line in (folder / "report.html").read_text()
    assert line in (folder / "report.md").read_text()
    assert PASSAGE in (folder / "report.html").read_text()


def too_long(summary: Mapping[str, Any]) -> tuple[int, int, dict[str, int]]:
    """How many samples a run judged, how many failed, and why others were skipped."""
    (outcome,) = summary["tests"]
    return outcome["scored"] + outcome["unscored"], outcome["errors"], outcome["skip_reasons"]


def test_prompt_beyond_the_window_of_a_local_model_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows("rows.jsonl", [*ROWS, LONG])
    save_tiny_model(Path("tiny"), context=128)
    _, summary = run("--model", "hf/./tiny", "--set", "gen_kwargs.max_new_tokens=8")
    assert too_long(summary) == (3, 0, {"context_too_long": 1})
    assert summary["verdict"] != "incomplete"
    assert "1 too long for the model's context window" in " ".join(capsys.readouterr().out.split())


def test_prompt_that_an_endpoint_refuses_as_too_long_is_skipped() -> None:
    write_rows("rows.jsonl", [*ROWS, LONG])
    with serving(Endpoint(window=1_000)) as endpoint:
        _, summary = run(*asking(endpoint.port))
    assert too_long(summary) == (3, 0, {"context_too_long": 1})
    assert summary["verdict"] != "incomplete"

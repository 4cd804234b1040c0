"""Real input, whole: every row is loaded, and becomes its cases, a skip with a reason, or a refusal by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.flows.cli import main


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "test", "cases", "refused"),
    [
        ("factual_summary_pairs.jsonl", "order_bias", 371, 3),
        ("anyscale_sentence_pairs.json", "order_bias", 373, 3),
        ("openbookqa_test.jsonl", "add_negation", 500, 0),
        ("openbookqa_test.jsonl", "option_order", 1500, 0),
        ("wiki_test.jsonl", "add_toxic_words", 1000, 0),
    ],
)
@pytest.mark.usefixtures("prefect_server", "in_tmp")
def test_real_files_run_whole(shared_data: Path, name: str, test: str, cases: int, refused: int) -> None:
    arguments = ["--model", "mock", "--suite", "full", "--test", test, "--data", str(shared_data / name)]
    assert main(["run", *arguments, "--exit-zero", "--out", "out"]) == 0
    outcome = json.loads(next(Path("out").glob("[!.]*/summary.json")).read_text())["tests"][0]
    assert outcome["cases"] == cases == outcome["skipped"] + outcome["scored"] + outcome["unscored"] + outcome["errors"]
    assert len(outcome["refused"]) == refused

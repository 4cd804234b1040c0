"""Runs on data of one's own: how much of them is judged, and what is left out, from the cache too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store")

RUN = ["run", "--model", "mock", "--test", "add_toxic_words", "--exit-zero", "--out", "out"]


def stored(folder: Path, *, good: int, blank: int) -> str:
    texts = [f"The ferry leaves at {number}." for number in range(good)] + [" "] * blank
    (folder / "own.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return "own.jsonl"


def judged(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The outcome of the one test."""
    assert main([*RUN, "--json", *arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["tests"][0]
    return found


def test_all_rows_are_judged_and_a_cached_load_still_tells_what_was_left_out(
    in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["--data", stored(in_tmp, good=50, blank=2), "--skip-bad-rows"]
    first, again = judged(capsys, *own), judged(capsys, *own)
    assert (first["samples"], first["data"]["rows"]) == (50, 50)
    assert first["data"]["left_out"]["count"] == 2
    assert "limited_by" not in first["data"]
    assert first["data"] == again["data"]
    manifest = json.loads(next(Path("out").glob("2*/manifest.json")).read_text())
    assert manifest["data"]["add_toxic_words"] == first["data"]


def test_validate_preview_and_estimate_follow_the_same_rule(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = ["--model", "mock", "--test", "add_toxic_words", "--data", stored(in_tmp, good=50, blank=1)]
    assert main(["validate", *own, "--skip-bad-rows"]) == 0
    told = capsys.readouterr().out
    assert "add_toxic_words on 50 of 51 rows (1 left out) of own.jsonl. Cases 50" in told
    assert "row 51: column 'text': ' ' is blank" in told
    assert main(["preview", *own, "--skip-bad-rows", "--limit", "5"]) == 0
    shown = capsys.readouterr()
    assert "own.jsonl, 5 of 51 rows (your limit; 1 left out)" in shown.out
    assert "row 51" in shown.err
    assert main(["estimate", *own, "--skip-bad-rows", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == {"add_toxic_words": "50 of 51 rows (1 left out)"}

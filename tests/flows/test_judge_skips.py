"""Recorded replies are judged for the tests that ask something; what the others skip is said in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli.run import recorded_tests
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import DataError, ModelError

GERMAN = ["Der alte Hafen liegt im Norden.", "Die Katze schläft auf dem Sofa."]


def run(folder: Path, texts: list[str], replies: list[str], *tests: str) -> RunConfig:
    rows, recording = folder / "rows.jsonl", folder / "replies.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    recording.write_text("".join(json.dumps({"prompt": text, "reply": "yes"}) + "\n" for text in replies))
    named: dict[str, Any] = {test: {"data": str(rows)} for test in tests}
    return RunConfig.model_validate({"model": f"recorded/{recording}", "tests": {"sensitivity": named}})


def test_data_that_no_test_can_change_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of 2 samples can be changed: 2 of 2 rows are not in English"):
        recorded_tests(run(tmp_path, GERMAN, ["Something else."], "antonym"))


def test_first_test_that_asks_something_names_what_has_no_reply(tmp_path: Path) -> None:
    texts = [*GERMAN, "The sky is blue."]
    with pytest.raises(ModelError, match=r"no case has recorded replies to both prompts: .*add_negation"):
        recorded_tests(run(tmp_path, texts, ["Something else."], "antonym", "add_negation"))


def test_test_that_skips_every_row_is_left_out_with_its_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = ["The sky is blue.", "The sky is not blue."]
    config = run(tmp_path, [*GERMAN, "The sky is blue."], replies, "antonym", "add_negation")
    assert recorded_tests(config) == ["add_negation"]
    said = "antonym: skipped, because it skips rows: 2 of 3 rows are not in English; 1 without an adjective"
    assert said in capsys.readouterr().err

"""What is checked before a model is asked, and the counts that are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli import main, validate
from contrapose.flows.cli.run import select_recorded_tests
from contrapose.flows.cli.validate import validate_run
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError, ContraposeError, DataError, ModelError
from contrapose.tasks.store import Store


def told(suite: str) -> dict[str, str]:
    config, _ = load_config(suite, {"model": "mock", "limit": 8})
    return {line.partition(" ")[0]: line for line in validate_run(config)}


def test_cases_and_controls_are_counted_apart() -> None:
    lines = told("full")
    assert lines["order_bias"].endswith(
        "of 176 rows (your limit) of summary_pairs. Cases 8, to ask 8, skipped 0, controls 8."
    )
    assert "controls" in lines["option_order"]


def checked(folder: Path, texts: list[str | None], *, gates: bool) -> list[str]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    config, _ = load_config("quickstart", {"model": "mock", "data": str(path), "limit": None})
    only = config.tests.model_copy(update={"factuality": type(config.tests.factuality)()})
    return validate_run(config.model_copy(update={"tests": only}), gates=gates)


def test_only_the_first_rows_are_read_where_nothing_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "FIRST_ROWS", 2)
    texts = ["The sky is blue."] * 3 + [None]
    assert all("on all 2 rows of" in line for line in checked(tmp_path, texts, gates=False))
    with pytest.raises(DataError, match="row 4"):
        checked(tmp_path, texts, gates=True)


def test_what_is_wrong_is_told_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "FIRST_ROWS", 2)
    with pytest.raises(DataError, match="3 rows cannot be used"):
        checked(tmp_path, [None, "The sky is blue.", None, None], gates=False)


def test_first_rows_that_cannot_be_perturbed_are_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "FIRST_ROWS", 2)
    lines = checked(tmp_path, ["It is never dark."] * 2 + ["The sky is blue."], gates=False)
    assert "Cases 3, to ask 1, skipped 2" in lines[0]


GERMAN = "Der alte Hafen liegt im Norden."


def test_most_rows_in_another_language_are_said_first(tmp_path: Path) -> None:
    negation, toxic = checked(tmp_path, [GERMAN, GERMAN, "No bird sings.", "The sky is blue."], gates=True)
    first, second, *_ = negation.splitlines()
    assert first.endswith("rows.jsonl. 2 of 4 rows are not in English. Cases 4, to ask 1, skipped 3, controls 1.")
    assert second == "  skipped: 2 not in English; 1 negated already"
    assert "2 of 4 rows are not in English" in toxic


@pytest.mark.parametrize(
    ("texts", "words", "remedy"),
    [
        (
            [GERMAN] * 3,
            "3 of 3 rows are not in English",
            "a test for any language: --test option_order or --test casing or --test spacing.",
        ),
        ([GERMAN, "No bird sings."], "1 of 2 rows is not in English; 1 negated already", "Choose data in English"),
        (["No bird sings."] * 2 + [GERMAN], "2 negated already; 1 not in English", "existing_negation=remove"),
        (["A sunny day"], "1 without a main verb", "sentences or questions"),
        (["Each dog barks."], "1 with a word that a 'not' does not reverse", "Choose other data"),
    ],
)
def test_error_says_in_words_why_nothing_can_be_changed(
    tmp_path: Path, texts: list[str | None], words: str, remedy: str
) -> None:
    with pytest.raises(ContraposeError) as raised:
        checked(tmp_path, texts, gates=False)
    said = str(raised.value).splitlines()[0]
    assert f"samples can be changed: {words}" in said.replace("none of 1 sample can", "none of 1 samples can")
    assert remedy in said
    assert "_english" not in said


def test_a_home_that_cannot_be_written_is_told_before_a_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{tmp_path / 'answers.sqlite3'}")
    config, _ = load_config("quickstart", {"model": "mock", "limit": 2, "output": str(tmp_path / "runs")})
    with pytest.raises(ConfigError, match=r"file: what is cached cannot be written there .* CONTRAPOSE_HOME"):
        validate_run(config)


def test_a_look_at_the_output_folder_makes_nothing(tmp_path: Path) -> None:
    config, _ = load_config("quickstart", {"model": "mock", "limit": 2, "output": str(tmp_path / "runs")})
    validate_run(config)
    assert not any(tmp_path.iterdir())


EXPECTATION = {"type": "expect_column_values_to_not_match_regex", "kwargs": {"column": "text", "regex": "blue"}}


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
def test_samples_that_a_run_refuses_are_refused_alike(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rows.jsonl").write_text('{"text": "The sky is blue."}\n{"text": "Grass is green."}\n')
    Path("mine.yaml").write_text(json.dumps({"table": "samples", "expectations": [EXPECTATION]}))
    given = ["--model", "mock", "--data", "rows.jsonl", "--test", "add_negation", "--expectations", "mine.yaml"]
    said = []
    for verb in ("validate", "run"):
        assert main([verb, *given]) == 4
        said.append(capsys.readouterr().err.partition(" The evidence is in")[0].strip())
    assert said[0] == said[1]
    assert "add_negation samples" in said[0]
    assert Store().runs.find_unfinished() == []


FOREIGN = ["Der alte Hafen liegt im Norden.", "Die Katze schläft auf dem Sofa."]


def recorded_run(folder: Path, texts: list[str], replies: list[str], *tests: str) -> RunConfig:
    rows, recording = folder / "rows.jsonl", folder / "replies.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    recording.write_text("".join(json.dumps({"prompt": text, "reply": "yes"}) + "\n" for text in replies))
    named: dict[str, Any] = {test: {"data": str(rows)} for test in tests}
    return RunConfig.model_validate({"model": f"recorded/{recording}", "tests": {"sensitivity": named}})


def test_first_test_that_asks_something_names_what_has_no_reply(tmp_path: Path) -> None:
    texts = [*FOREIGN, "The sky is blue."]
    with pytest.raises(ModelError, match=r"no case has recorded replies to both prompts: .*add_negation"):
        select_recorded_tests(recorded_run(tmp_path, texts, ["Something else."], "antonym", "add_negation"))


def test_test_that_skips_every_row_is_left_out_with_its_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = ["The sky is blue.", "The sky is not blue."]
    config = recorded_run(tmp_path, [*FOREIGN, "The sky is blue."], replies, "antonym", "add_negation")
    assert select_recorded_tests(config) == ["add_negation"]
    said = "antonym: skipped, because it skips rows: 2 of 3 rows are not in English; 1 without an adjective"
    assert said in capsys.readouterr().err

